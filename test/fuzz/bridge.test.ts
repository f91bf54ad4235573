import { once } from 'node:events'
import t, { type Test } from 'tap'
import { startBackend } from '../../bridge/test/backend.ts'
import { type Client, startBridge } from '../../bridge/test/client.ts'
import { randomFrom } from '../random.ts'
import { verifies } from '../verifies.ts'
import { type Fault, faults, largeFaults } from './bridge-lines.ts'

/** Failures report the seed. The same seed generates the same lines. */
const anySeed = process.env.CI === undefined ? Date.now() % 2 ** 31 : 20_261
const seed = Number(process.env.CAUSEWAY_FUZZ_SEED ?? anySeed)
const count = Number(process.env.CAUSEWAY_FUZZ_LINES ?? 20_000)

// Larger counts take longer than the default timeout of the test runner.
t.setTimeout(Math.max(60_000, count * 5))

/** Number of lines between two valid requests. */
const linesPerRequest = 200

/** Writes bytes in chunks of random size, as a pipe can. */
async function feed(
  { process: { stdin } }: Client,
  lines: Buffer,
  cut: (end: number) => number,
): Promise<void> {
  for (let at = 0; at < lines.length; ) {
    const end = Math.min(lines.length, at + 1 + cut(70_000))
    if (stdin?.write(lines.subarray(at, end)) === false) await once(stdin, 'drain')
    at = end
  }
}

verifies('bridge:fuzz', async (t) => {
  t.comment(`seed ${seed}, ${count} lines; CAUSEWAY_FUZZ_SEED and CAUSEWAY_FUZZ_LINES choose others`)
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url, args: ['--drain', '60000'] })
  const random = randomFrom(seed)
  const newline = Buffer.from('\n')
  const choices = Object.values(faults)
  await bridge.open()
  for (let sent = 0; sent < count; sent += linesPerRequest) {
    const lines = Array.from({ length: linesPerRequest }, () => [
      random.pick<Fault>(choices)(random),
      newline,
    ])
    await feed(bridge, Buffer.concat(lines.flat()), random.below)
    const id = `after ${sent}`
    const { result } = await bridge.call(id, 'ping')
    if (result?.echo !== 'ping') t.fail(`the request ${id} of seed ${seed} was lost`)
  }
  t.equal(bridge.process.exitCode, null, 'the bridge is running')
})

/** Sends every large fault, each followed by a valid request. */
async function feedLarge(t: Test, bridge: Client, params: object = {}): Promise<void> {
  const random = randomFrom(seed)
  for (const [name, fault] of Object.entries(largeFaults)) {
    await feed(bridge, Buffer.concat([fault(random), Buffer.from('\n')]), random.below)
    t.match(await bridge.call(name, 'ping', params), { result: {} }, name)
  }
}

verifies('bridge:fuzz', 'handles very long lines, deep nesting and an incomplete last line', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url })
  await feedLarge(t, bridge)
  bridge.raw(Buffer.from('{"jsonrpc":"2.0","id":"cut","method":"pi\xf0\x9f', 'latin1'))
  bridge.end()
  t.same(await bridge.exited, { code: 0, signal: null })
  t.ok(
    bridge.messages.all.every((message) => message.notJson === undefined),
    'stdout contains only JSON',
  )
})

verifies('bridge:fuzz', 'handles large lines when it translates and filters messages', async (t) => {
  const backend = await startBackend(t)
  const error = { code: -32022, message: 'no', data: { supported: ['2026-07-28'] } }
  backend.on('initialize', (got) => got.json({ jsonrpc: '2.0', id: got.message.id, error }, { status: 400 }))
  backend.on('server/discover', (got) => got.result({ supportedVersions: ['2026-07-28'], capabilities: {} }))
  const bridge = startBridge(t, { url: backend.url, args: ['--only', 'shown'] })
  await bridge.open()
  await feedLarge(t, bridge)
  t.equal(bridge.process.exitCode, null, 'the bridge is running')
})
