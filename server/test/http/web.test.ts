/** What is written to a caller that does not read. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { FastifyReply } from 'fastify'
import t, { type Test } from 'tap'
import { mostUnread, sendMessages, sendWeb } from '../../src/http/web.ts'

const mebibyte = 2 ** 20

/** Sends the answer to a client that opens a connection and reads nothing of it. */
async function toDeafClient(t: Test, answer: (reply: FastifyReply) => Promise<void>) {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
  socket.on('error', () => {})
  t.teardown(() => {
    socket.destroy()
    server.close()
  })
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const [, raw] = (await once(server, 'request')) as [unknown, ServerResponse]
  const sent = answer({ raw, hijack: () => {}, getHeaders: () => ({}) } as unknown as FastifyReply)
  sent.catch(() => {})
  return { raw, sent }
}

t.test(
  'messages: one that does not read is cut off, and the source of them told, before memory fills',
  async (t) => {
    let tell = (): void => {}
    const told = new Promise<void>((resolve) => {
      tell = resolve
    })
    const { raw } = await toDeafClient(t, (reply) => {
      const events = new ReadableStream<Uint8Array>({
        start(out) {
          for (let filled = 0; filled < 64; filled++) out.enqueue(new Uint8Array(mebibyte))
        },
        cancel: tell,
      })
      return sendMessages(reply, new Response(events, { headers: { 'content-type': 'text/event-stream' } }))
    })
    await told
    t.ok(raw.destroyed)
  },
)

t.test('messages: a single one may be larger than what may wait', async (t) => {
  const { raw, sent } = await toDeafClient(t, (reply) =>
    sendMessages(reply, new Response(new Uint8Array(mostUnread + 8 * mebibyte))),
  )
  await sent
  t.notOk(raw.destroyed)
  t.ok(raw.writableLength > mostUnread, 'it waits to be read')
})

t.test('other answers: the source waits for the reader', async (t) => {
  const source = { pulled: 0 }
  let begun = (): void => {}
  const first = new Promise<void>((resolve) => {
    begun = resolve
  })
  await toDeafClient(t, (reply) => {
    const bytes = new ReadableStream<Uint8Array>({
      pull(out) {
        source.pulled += 1
        out.enqueue(new Uint8Array(mebibyte))
        begun()
      },
    })
    return sendWeb(reply, new Response(bytes))
  })
  await first
  // What the kernel takes of a megabyte at a time is bounded by its buffers, of a few megabytes.
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate)
  t.ok(source.pulled < 32, `${source.pulled} of endless megabytes were taken`)
})

for (const [name, send] of Object.entries({ sendWeb, sendMessages }))
  t.test(`${name}: one who hung up before the answer is let go, and its source told`, async (t) => {
    let tell = (): void => {}
    const told = new Promise<void>((resolve) => {
      tell = resolve
    })
    const { sent } = await toDeafClient(t, async (reply) => {
      reply.raw.destroy()
      const bytes = new ReadableStream<Uint8Array>({
        pull: (out) => out.enqueue(new Uint8Array(mebibyte)),
        cancel: tell,
      })
      await send(reply, new Response(bytes))
    })
    await Promise.all([sent, told])
  })
