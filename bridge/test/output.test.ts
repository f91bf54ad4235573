import { PassThrough, Writable } from 'node:stream'
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
  const taken: Buffer[] = []
  let makeRoom = () => {}
  const room = new Promise<void>((resolve) => {
    makeRoom = resolve
  })
  const stream = new Writable({
    highWaterMark: 1,
    write(bytes: Buffer, _encoding, done) {
      taken.push(bytes)
      void room.then(() => done())
    },
  })
  let closed = 0
  const output = createOutput(stream, () => {
    closed += 1
  })
  output.write(Buffer.from('text'))
  let isReleased = false
  output.whenOpen(() => {
    isReleased = true
  })
  t.equal(isReleased, false)
  // The stream itself would still take bytes: only the output keeps them off.
  stream.emit('error', new Error('EPIPE'))
  stream.emit('error', new Error('EPIPE'))
  t.equal(isReleased, true)
  t.equal(closed, 1, 'told once')
  output.write(Buffer.from('more'))
  await output.flushed()
  makeRoom()
  await new Promise<void>((resolve) => stream.end(resolve))
  t.equal(String(Buffer.concat(taken)), 'text\n')
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
