import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { createFlow, type Source } from '../src/flow.ts'
import { startBackend } from './backend.ts'
import { type Client, startBridge } from './client.ts'

/** The reading side of an answer that counts what happens to it. */
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

/** An output whose client reads or does not. */
class FakeOutput {
  blocked = false
  readonly waiting: (() => void)[] = []

  isBlocked(): boolean {
    return this.blocked
  }

  whenOpen(then: () => void): void {
    this.waiting.push(then)
  }

  open(): void {
    this.blocked = false
    for (const then of this.waiting.splice(0)) then()
  }
}

const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

t.test('createFlow: while the client does not read, every answer waits', async (t) => {
  const output = new FakeOutput()
  const flow = createFlow({ output, allowance: 100, patienceMs: 60_000 })
  const [one, two] = [new FakeSource(), new FakeSource()]
  flow.gathered(one, 10)
  t.equal(one.isPaused, false)
  output.blocked = true
  flow.gathered(one, 20)
  flow.gathered(two, 0)
  await settled()
  t.same([one.isPaused, two.isPaused], [true, true])
  output.open()
  await settled()
  t.same([one.isPaused, two.isPaused], [false, false])
})

t.test('createFlow: beyond the allowance the largest goes on alone, then the next', async (t) => {
  const flow = createFlow({ output: new FakeOutput(), allowance: 100, patienceMs: 60_000 })
  const [one, two, three] = [new FakeSource(), new FakeSource(), new FakeSource()]
  flow.gathered(one, 50)
  flow.gathered(two, 40)
  flow.gathered(three, 30)
  flow.gathered(two, 41)
  flow.gathered(one, 60)
  await settled()
  t.same([one.isPaused, two.isPaused, three.isPaused], [false, true, true])
  flow.gathered(one, 70)
  flow.ended(one)
  await settled()
  t.same([two.isPaused, three.isPaused], [false, false], 'there is room for both')
  flow.gathered(two, 90)
  flow.gathered(three, 31)
  await settled()
  t.same([two.isPaused, three.isPaused], [false, true])
})

t.test('createFlow: when the one that goes on was itself held back, it is let go', async (t) => {
  const output = new FakeOutput()
  const flow = createFlow({ output, allowance: 10, patienceMs: 60_000 })
  const [one, two] = [new FakeSource(), new FakeSource()]
  output.blocked = true
  flow.gathered(one, 20)
  flow.gathered(two, 9)
  output.open()
  await settled()
  t.same([one.isPaused, two.isPaused], [false, true])
})

t.test('createFlow: one that stalls does not hold up the others for ever', async (t) => {
  const flow = createFlow({ output: new FakeOutput(), allowance: 10, patienceMs: 5 })
  const [stalled, other] = [new FakeSource(), new FakeSource()]
  flow.gathered(stalled, 20)
  flow.gathered(other, 5)
  t.equal(other.isPaused, true)
  for (const end = Date.now() + 5000; other.isPaused && Date.now() < end; ) await wait(5)
  t.equal(other.isPaused, false)
  flow.ended(stalled)
  flow.ended(other)
})

/** Resident memory in MB, undefined where the system does not tell. */
function memoryOf({ process }: Client): number | undefined {
  const file = `/proc/${process.pid}/status`
  const found = existsSync(file) && /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(file, 'utf8'))
  return found ? Number(found[1]) / 1024 : undefined
}

verifies(
  'bridge:backpressure',
  'sixteen answers of 10 MB that nobody reads are kept out of memory, and none is lost',
  async (t) => {
    const backend = await startBackend(t)
    const text = 'x'.repeat(10_000_000)
    backend.on('big', (got) => got.result({ text }))
    const bridge = startBridge(t, { url: backend.url })
    await bridge.call('warm', 'ping')
    const idle = memoryOf(bridge)
    bridge.process.stdout?.pause()
    const ids = Array.from({ length: 16 }, (_, id) => id)
    bridge.send(...ids.map((id) => ({ jsonrpc: '2.0', id, method: 'big' })))
    await backend.got.first('all calls', () => backend.got.all.length === 17)
    // It gathers what it may, then stands still: half a second without growth.
    let before = -100
    for (let now = memoryOf(bridge) ?? 0; Math.abs(now - before) > 1; now = memoryOf(bridge) ?? 0) {
      before = now
      await wait(500)
    }
    if (idle !== undefined) t.ok(before - idle < 100, `${Math.round(before - idle)} MB more than idle`)
    bridge.process.stdout?.resume()
    for (const id of ids) t.equal((await bridge.answer(id)).result.text.length, text.length)
  },
)

verifies('bridge:backpressure', 'answers that are held back outlive their connections', async (t) => {
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
