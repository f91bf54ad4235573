import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { ask } from '../src/ask.ts'
import type { Exchange, Reader, Upstream } from '../src/upstream.ts'

/** A server that answers as the script says and then leaves the answer open. */
function openEnded(answer: (reader: Reader) => void) {
  let aborts = 0
  const exchange: Exchange = {
    sent: Promise.resolve(),
    done: new Promise(() => {}),
    wasWritten: () => true,
    abort() {
      aborts += 1
    },
  }
  const upstream = {
    url: new URL('http://127.0.0.1/mcp'),
    post(_fields: unknown, _body: unknown, reader: Reader) {
      answer(reader)
      return exchange
    },
  } as unknown as Upstream
  return { upstream, aborts: () => aborts }
}

verifies(
  'bridge:session:restart',
  'a message of the handshake that is never answered is given up',
  async (t) => {
    for (const head of [false, true]) {
      const { upstream, aborts } = openEnded((reader) => {
        if (head) reader.head(200, { 'content-type': 'text/event-stream' })
      })
      await t.rejects(ask(upstream, {}, Buffer.from('{}'), 1), { code: 'SERVER_UNREACHABLE' })
      t.equal(aborts(), 1)
    }
  },
)

t.test('ask: the first response of a stream is the answer, and the stream is given up', async (t) => {
  const { upstream, aborts } = openEnded((reader) => {
    reader.head(200, { 'content-type': 'text/event-stream' })
    reader.data(Buffer.from('data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n'))
    reader.data(Buffer.from('data: {"jsonrpc":"2.0","id":1,"result":{"n":1}}\n\n'))
    reader.data(Buffer.from('data: {"jsonrpc":"2.0","id":2,"result":{"n":2}}\n\n'))
  })
  const { reply, response } = await ask(upstream, {}, Buffer.from('{}'))
  t.match(reply, { status: 200, type: 'events' })
  t.match(response, { id: 1, result: { n: 1 } })
  t.equal(aborts(), 1)
})
