import { PassThrough } from 'node:stream'
import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { createOutput } from '../src/output.ts'
import { startBackend } from './backend.ts'
import { startBridge } from './client.ts'

t.test('createOutput: a reader that is behind blocks, and opens when it has caught up', async (t) => {
  const stream = new PassThrough({ highWaterMark: 10 })
  const output = createOutput(stream, () => {})
  let isOpen = 0
  output.whenOpen(() => {
    isOpen += 1
  })
  t.equal(isOpen, 1, 'at once')
  output.write(Buffer.from('0123456789'))
  t.equal(output.isBlocked(), true)
  output.whenOpen(() => {
    isOpen += 1
  })
  t.equal(isOpen, 1)
  const drained = new Promise((resolve) => stream.once('drain', resolve))
  stream.resume()
  await drained
  t.equal(output.isBlocked(), false)
  t.equal(isOpen, 2)
})

t.test('createOutput: after the client closed its end nothing waits and nothing is written', async (t) => {
  const stream = new PassThrough({ highWaterMark: 1 })
  const closed = new Promise<void>((resolve) => {
    const output = createOutput(stream, resolve)
    output.write(Buffer.from('text'))
    output.whenOpen(() => t.pass('released'))
    stream.destroy(new Error('EPIPE'))
    stream.once('close', () => {
      output.write(Buffer.from('more'))
      void output.flushed().then(() => t.pass('flushed'))
    })
  })
  t.plan(2)
  await closed
})

verifies('bridge:backpressure', async (t) => {
  const backend = await startBackend(t)
  const piece = `${'x'.repeat(65_000)}`
  const total = 500
  let sent = 0
  backend.on('flood', (got) => {
    const stream = got.stream()
    const pump = (): void => {
      while (sent < total) {
        sent += 1
        const text = `data: {"jsonrpc":"2.0","method":"notifications/x","params":{"n":${sent},"x":"${piece}"}}\n\n`
        if (!got.response.write(text)) return void got.response.once('drain', pump)
      }
      stream.send({ jsonrpc: '2.0', id: got.message.id, result: {} })
      stream.end()
    }
    pump()
  })
  const bridge = startBridge(t, { url: backend.url })
  await bridge.call(0, 'ping')
  bridge.process.stdout?.pause()
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'flood' })
  await backend.saw('flood')
  // Everything that buffers on the way fills up, then the server gets no further: no 250 ms with progress are left.
  let before = -1
  while (before !== sent) {
    before = sent
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  t.ok(sent < total / 2, `the server was held after ${sent} of ${total} messages`)
  bridge.process.stdout?.resume()
  t.match(await bridge.answer(1), { result: {} })
  const numbers = bridge.messages.all.flatMap(({ params }) => params?.n ?? [])
  t.same(
    numbers,
    Array.from({ length: total }, (_, at) => at + 1),
    'nothing is lost or out of order',
  )
})
