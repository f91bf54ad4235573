import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { EventParser } from '../src/sse.ts'

const noLimit = Number.POSITIVE_INFINITY

/** What a parser makes of a stream that arrives in pieces of this many bytes. */
function parse(text: string, { pieceBytes = 1, limit = noLimit } = {}) {
  const bytes = Buffer.from(text)
  const parser = new EventParser(limit)
  const events = []
  for (let at = 0; at < bytes.length; at += pieceBytes)
    for (const event of parser.push(bytes.subarray(at, at + pieceBytes))) events.push(event)
  return {
    parser,
    events: events.map(({ type, id, data, size }) => ({ type, id, data: data?.toString(), size })),
  }
}

const event = (data: string, { type = 'message', id = '' } = {}) => ({
  type,
  id,
  data,
  size: Buffer.byteLength(data),
})

verifies('bridge:sse:parse', async (t) => {
  const stream = [
    '\uFEFF: a comment',
    'id: 1',
    'retry: 250',
    'data: ',
    '',
    'event: message',
    'data: {"a":',
    'data:"é"}',
    'unknown: field',
    'data',
    '',
    'event: other',
    'id: 2',
    'data:  two spaces',
    '',
    'id',
    'data: x',
    '',
    'data: never completed',
  ]
  for (const end of ['\n', '\r', '\r\n'])
    for (const pieceBytes of [1, 2, 3, 7, 1000]) {
      const { events, parser } = parse(stream.join(end), { pieceBytes })
      t.same(
        events,
        [event('{"a":\n"é"}\n', { id: '1' }), event(' two spaces', { type: 'other', id: '2' }), event('x')],
        `${JSON.stringify(end)} in pieces of ${pieceBytes}`,
      )
      t.equal(parser.retryMs, 250)
      t.equal(parser.lastEventId, '')
    }
})

t.test('EventParser: an event without data leaves its id behind and is not given out', async (t) => {
  const { events, parser } = parse('id: 7\ndata:\n\n')
  t.same(events, [])
  t.equal(parser.lastEventId, '7')
})

t.test('EventParser: the id of an event counts once the event is complete', async (t) => {
  const { events, parser } = parse('id: 4\ndata: whole\n\nid: 5\ndata: {"par')
  t.same(events, [event('whole', { id: '4' })])
  t.equal(parser.lastEventId, '4', 'what is half received is asked for again')
  parser.push(Buffer.from('t": 1}\n\n'))
  t.equal(parser.lastEventId, '5')
})

t.test('EventParser: an id with NUL and a retry that is no number are ignored', async (t) => {
  const { parser } = parse('id: a\nid: b\0\nretry: soon\n\n')
  t.equal(parser.lastEventId, 'a')
  t.equal(parser.retryMs, undefined)
})

t.test('EventParser: data beyond the limit is counted and not kept, the next event is whole', async (t) => {
  const { events } = parse(`data: ${'x'.repeat(500)}\n\ndata: short\n\n`, { pieceBytes: 50, limit: 100 })
  t.same(events, [{ type: 'message', id: '', data: undefined, size: 500 }, event('short')])
})

t.test('EventParser: many small lines in one chunk cost no search over the rest of it', async (t) => {
  // Without a carriage return in it, a search from each line would read the chunk 400,000 times: minutes.
  const { events } = parse('data: 1\n\n'.repeat(200_000), { pieceBytes: 2_000_000 })
  t.equal(events.length, 200_000)
})

t.test('EventParser: a data line of 10 MB in small chunks comes whole', async (t) => {
  const text = 'y'.repeat(10_000_000)
  const { events } = parse(`data: ${text}\r\n\r\n`, { pieceBytes: 4096 })
  t.equal(events[0]?.data, text)
})
