import t from 'tap'
import { eventLog } from '../../src/http/event-log.ts'

const message = (text = '') => ({ jsonrpc: '2.0' as const, method: 'm', params: { text } })

t.test('event log: replays what came after on the same stream, in order', async (t) => {
  const log = eventLog('x')
  const first = await log.storeEvent('a', message())
  await log.storeEvent('b', message())
  const third = await log.storeEvent('a', message('third'))
  const sent: unknown[] = []
  const stream = await log.replayEventsAfter(first, {
    send: async (id, event) => void sent.push([id, event]),
  })
  t.equal(stream, 'a')
  t.same(sent, [[third, message('third')]])
  t.equal(await log.getStreamIdForEventId?.(third), 'a')
  t.equal(await log.getStreamIdForEventId?.('y-1'), undefined)
})

t.test('event log: the oldest make room, by number and by length', async (t) => {
  const log = eventLog('x', { maxEvents: 3, maxLength: 1000 })
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.push(await log.storeEvent('a', message()))
  t.same(ids.map(log.knows), [false, false, true, true, true])
  ids.push(await log.storeEvent('a', message('x'.repeat(890))))
  t.same(ids.map(log.knows), [false, false, false, false, true, true])
})

t.test('event log: an event too long to keep takes all before it along', async (t) => {
  const log = eventLog('x', { maxLength: 1000 })
  const before = await log.storeEvent('a', message())
  const long = await log.storeEvent('a', message('x'.repeat(1000)))
  const after = await log.storeEvent('a', message())
  t.same([before, long, after].map(log.knows), [false, false, true])
})
