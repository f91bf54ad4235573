import { existsSync, readFileSync } from 'node:fs'
import { PassThrough, Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { inCI } from '../../test/tier.ts'
import { verifies } from '../../test/verifies.ts'
import { Backpressure, type Source } from '../src/http/backpressure.ts'
import { LineSplitter, replaceLineBreaks } from '../src/stdio/lines.ts'
import { Output } from '../src/stdio/output.ts'
import { type Backend, type Got, handshake, startBackend } from './backend.ts'
import { type Client, startBridge } from './client.ts'

t.setTimeout(300_000)

/** Splits a text that arrives in pieces of `pieceBytes`. */
function split(text: string | Buffer, pieceBytes: number): string[] {
  const bytes = Buffer.from(text)
  const splitter = new LineSplitter()
  const lines: Buffer[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes)
    lines.push(...splitter.push(bytes.subarray(at, at + pieceBytes)))
  return [...lines, ...splitter.end()].map(String)
}

verifies('bridge:lines:framing', 'LineSplitter returns the same lines for every chunk size', async (t) => {
  const text = '{"a":"é漢😀"}\r\n\n  \r\n{"b":1}\n{"c":2}'
  for (const size of [1, 2, 3, 5, 8, 100]) t.same(split(text, size), ['{"a":"é漢😀"}', '{"b":1}', '{"c":2}'])
})

t.test('LineSplitter.end returns no line if no bytes are pending', async (t) => {
  t.same(split('1\n', 1), ['1'])
  t.same(split('', 1), [])
})

t.test('LineSplitter joins a line of 12 MB that arrives in small chunks', async (t) => {
  const [line, ...others] = split(`"${'x'.repeat(12_000_000)}"\n`, 65_536)
  t.equal(line?.length, 12_000_002)
  t.same(others, [])
})

verifies('bridge:lines:stdout', 'replaceLineBreaks preserves the value of pretty-printed text', async (t) => {
  const value = { text: 'line\nend\r\n', list: [1, { a: null }] }
  for (const pretty of [
    JSON.stringify(value, null, 2),
    JSON.stringify(value, null, 2).replace(/\n/g, '\r\n'),
  ]) {
    const line = replaceLineBreaks(Buffer.from(pretty)).toString()
    t.notMatch(line, /[\r\n]/)
    t.same(JSON.parse(line), value)
  }
})

t.test('Output is blocked until a slow reader has caught up', async (t) => {
  const stream = new PassThrough({ highWaterMark: 10 })
  const output = new Output(stream)
  let isOpen = 0
  output.whenWritable(() => {
    isOpen += 1
  })
  t.equal(isOpen, 1, 'immediately')
  output.write(Buffer.from('0123456789'))
  t.equal(output.isBlocked, true)
  output.whenWritable(() => {
    isOpen += 1
  })
  t.equal(isOpen, 1)
  const drained = new Promise((resolve) => stream.once('drain', resolve))
  stream.resume()
  await drained
  t.equal(output.isBlocked, false)
  t.equal(isOpen, 2)
})

t.test('Output does not block or write after the client has closed its end', async (t) => {
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
  const output = new Output(stream)
  output.write(Buffer.from('text'))
  let isReleased = false
  output.whenWritable(() => {
    isReleased = true
  })
  t.equal(isReleased, false)
  // The stream still accepts bytes, so only `Output` can discard them.
  stream.emit('error', new Error('EPIPE'))
  stream.emit('error', new Error('EPIPE'))
  t.equal(isReleased, true)
  await output.closed
  output.write(Buffer.from('more'))
  await output.flush()
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
  // Waits until all buffers are full, so that the server sends nothing for 250 ms.
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

/** A response that counts how often it is resumed. */
class FakeSource implements Source {
  isPaused = false
  resumes = 0

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
    this.resumes += 1
  }
}

/** An output that a test blocks and unblocks. */
class FakeOutput {
  isBlocked = false
  readonly waiting: (() => void)[] = []

  whenWritable(then: () => void): void {
    if (this.isBlocked) this.waiting.push(then)
    else then()
  }

  open(): void {
    this.isBlocked = false
    for (const then of this.waiting.splice(0)) then()
  }
}

const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

t.test('Backpressure pauses every response while the client does not read', async (t) => {
  const output = new FakeOutput()
  const backpressure = new Backpressure({ output, maxBytes: 100, stallMs: 60_000 })
  const [one, two] = [new FakeSource(), new FakeSource()]
  backpressure.update(one, 10)
  t.equal(one.isPaused, false)
  output.isBlocked = true
  backpressure.update(one, 20)
  backpressure.update(two, 0)
  await settled()
  t.same([one.isPaused, two.isPaused], [true, true])
  output.open()
  await settled()
  t.same([one.isPaused, two.isPaused], [false, false])
})

t.test('Backpressure above maxBytes continues only the largest response, then the next one', async (t) => {
  const backpressure = new Backpressure({ output: new FakeOutput(), maxBytes: 100, stallMs: 60_000 })
  const [one, two, three] = [new FakeSource(), new FakeSource(), new FakeSource()]
  backpressure.update(one, 50)
  backpressure.update(two, 40)
  backpressure.update(three, 30)
  backpressure.update(two, 41)
  backpressure.update(one, 60)
  await settled()
  t.same([one.isPaused, two.isPaused, three.isPaused], [false, true, true])
  backpressure.update(one, 70)
  backpressure.end(one)
  await settled()
  t.same([two.isPaused, three.isPaused], [false, false], 'there is room for both')
  backpressure.update(two, 90)
  backpressure.update(three, 31)
  await settled()
  t.same([two.isPaused, three.isPaused], [false, true])
})

t.test('Backpressure resumes the largest response if the blocked output had paused it', async (t) => {
  const output = new FakeOutput()
  const backpressure = new Backpressure({ output, maxBytes: 10, stallMs: 60_000 })
  const [one, two] = [new FakeSource(), new FakeSource()]
  output.isBlocked = true
  backpressure.update(one, 20)
  backpressure.update(two, 9)
  output.open()
  await settled()
  t.same([one.isPaused, two.isPaused], [false, true])
})

t.test('Backpressure resumes the other responses if the running one stalls', async (t) => {
  const backpressure = new Backpressure({ output: new FakeOutput(), maxBytes: 10, stallMs: 5 })
  const [stalled, other] = [new FakeSource(), new FakeSource()]
  backpressure.update(stalled, 20)
  backpressure.update(other, 5)
  t.equal(other.isPaused, true)
  for (const end = Date.now() + 5000; other.isPaused && Date.now() < end; ) await wait(5)
  t.equal(other.isPaused, false)
  backpressure.end(stalled)
  backpressure.end(other)
})

/** Returns the resident memory in MB; `undefined` if the system does not report it. */
function readMemoryMb({ process }: Client): number | undefined {
  const file = `/proc/${process.pid}/status`
  const found = existsSync(file) && /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(file, 'utf8'))
  return found ? Number(found[1]) / 1024 : undefined
}

verifies(
  'bridge:backpressure',
  'if the client does not read, sixteen responses of 10 MB are not buffered, and none is lost',
  inCI(async (t) => {
    const backend = await startBackend(t)
    const text = 'x'.repeat(10_000_000)
    backend.on('big', (got) => got.result({ text }))
    const bridge = startBridge(t, { url: backend.url })
    await bridge.call('warm', 'ping')
    const idle = readMemoryMb(bridge)
    bridge.process.stdout?.pause()
    const ids = Array.from({ length: 16 }, (_, id) => id)
    bridge.send(...ids.map((id) => ({ jsonrpc: '2.0', id, method: 'big' })))
    await backend.got.first('all calls', () => backend.got.all.length === 17)
    // Waits until the memory does not grow for half a second.
    let before = -100
    for (let now = readMemoryMb(bridge) ?? 0; Math.abs(now - before) > 1; now = readMemoryMb(bridge) ?? 0) {
      before = now
      await wait(500)
    }
    if (idle !== undefined) t.ok(before - idle < 100, `${Math.round(before - idle)} MB more than idle`)
    bridge.process.stdout?.resume()
    for (const id of ids) t.equal((await bridge.answer(id)).result.text.length, text.length)
  }),
)

verifies('bridge:backpressure', 'paused responses survive the end of their connections', async (t) => {
  const backend = await startBackend(t)
  const text = 'x'.repeat(40_000)
  const ids = Array.from({ length: 64 }, (_, id) => id)
  const bridge = startBridge(t, { url: backend.url })
  await bridge.call('warm', 'ping')
  for (const framing of ['a length', 'chunks', 'the end of the connection']) {
    backend.on('closing', ({ message: { id }, response }) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id, result: { text } })
      response.setHeader('connection', 'close')
      response.setHeader('content-type', 'application/json')
      if (framing === 'a length') response.setHeader('content-length', body.length)
      else response.useChunkedEncodingByDefault = framing === 'chunks'
      response.end(body)
    })
    bridge.process.stdout?.pause()
    const own = ids.map((id) => `${framing} ${id}`)
    const seen = backend.got.all.length
    bridge.send(...own.map((id) => ({ jsonrpc: '2.0', id, method: 'closing' })))
    await backend.got.first('all calls', () => backend.got.all.length === seen + ids.length)
    await Promise.all(backend.got.all.slice(seen).map(({ closed }) => closed))
    bridge.process.stdout?.resume()
    for (const id of own) t.equal((await bridge.answer(id)).result?.text.length, text.length, id)
  }
})

/** Fails the first message with this method and accepts later ones. Returns the messages received so far. */
function failFirst(backend: Backend, method: string, fail: (got: Got) => void): Got[] {
  const all: Got[] = []
  backend.on(method, (got) => (all.push(got) === 1 ? fail(got) : got.status(202)))
  return all
}

/** Name of the script for responses of the client, which have no method. */
const response = undefined as unknown as string

const losses: Readonly<Record<string, (got: Got) => void>> = {
  'a connection that breaks': (got) => got.response.destroy(),
  'a busy server': (got) => got.status(503, '', { 'retry-after': '0' }),
  'a limit': (got) => got.status(429, '', { 'retry-after': '0' }),
}

verifies('bridge:relay:one-way', async (t) => {
  for (const [loss, fail] of Object.entries(losses)) {
    const backend = await startBackend(t)
    const initialized = failFirst(backend, 'notifications/initialized', fail)
    const bridge = startBridge(t, { url: backend.url })
    await bridge.open()
    await backend.saw('GET')
    t.equal(initialized.length, 2, `initialized, ${loss}`)

    const answers = failFirst(backend, response, fail)
    bridge.send({ jsonrpc: '2.0', id: 'asked', result: { action: 'accept' } })
    const isAgain = (got: Got) => answers.length > 0 && got !== answers[0]
    await backend.saw('response', isAgain)
    await bridge.call('answered', 'ping')
    t.equal(answers[1]?.text, answers[0]?.text, `an answer, ${loss}`)

    const other = failFirst(backend, 'notifications/x', fail)
    bridge.send({ jsonrpc: '2.0', method: 'notifications/x' })
    await backend.saw('notifications/x')
    await bridge.call('after', 'ping')
    t.equal(other.length, 1, `what might count twice is sent once, ${loss}`)
  }
})

verifies(
  'bridge:relay:one-way',
  'opens the stream even if the server rejects initialized, and sends initialized to a new session',
  async (t) => {
    const backend = await startBackend(t)
    backend.on('notifications/initialized', (got) => got.status(500))
    const bridge = startBridge(t, { url: backend.url })
    await bridge.open()
    t.equal((await backend.saw('GET')).headers['mcp-session-id'], 's1')

    backend.on('initialize', (got) => got.result(handshake, { 'mcp-session-id': 's2' }))
    const error = { code: -32001, message: 'Session not found' }
    backend.on('tools/call', (got) =>
      got.headers['mcp-session-id'] === 's2'
        ? got.result({})
        : got.json({ jsonrpc: '2.0', id: null, error }, { status: 404 }),
    )
    t.match(await bridge.call(1, 'tools/call'), { result: {} })
    const again = await backend.saw(
      'notifications/initialized',
      ({ headers }) => headers['mcp-session-id'] === 's2',
    )
    t.ok(again)
  },
)

verifies('bridge:relay:one-way', 'a notification is dropped when the wait budget is spent', async (t) => {
  const backend = await startBackend(t)
  let received = 0
  backend.on('notifications/x', (got) => {
    received += 1
    got.status(202)
  })
  const bridge = startBridge(t, { url: backend.url, args: ['--wait', '0'] })
  await bridge.open()
  await backend.saw('GET')
  await backend.stop()
  bridge.send({ jsonrpc: '2.0', method: 'notifications/x' })
  t.match(await bridge.call(1, 'ping'), { error: { data: { code: 'SERVER_UNREACHABLE' } } })
  await backend.start()
  for (const id of [2, 3]) t.match(await bridge.call(id, 'ping'), { result: {} })
  t.equal(received, 0)
})
