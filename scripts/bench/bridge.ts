import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'
import { ask } from './load.ts'
import { nodes, type Program, residentBytes } from './program.ts'
import { number, type Section } from './report.ts'
import { interleaved, median } from './rounds.ts'
import { sessionFields } from './wire.ts'

const bundle = fileURLToPath(new URL('../../bridge/dist/bridge.js', import.meta.url))
const starts = 7
const rounds = 5
const callsPerRound = 200
const settleMs = 500

const call = { method: 'tools/call', params: { name: 'echo_42', arguments: { text: 'hello' } } }
const initialize = {
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
}

/** A running bridge as its client sees it. */
interface Bridge {
  readonly process: ChildProcess
  ask(message: object): Promise<void>
  end(): Promise<void>
}

/** What the bridge adds to a call, how soon it is there, and what it weighs idle. */
export async function measureBridge(causeway: Program): Promise<Section> {
  const url = `${causeway.url}/mcp/bench`
  const added = await addedMs(causeway, url)
  const rows = [['added to a call, p50', number(added), 'ms', '≤ 0.25']]
  for (const [version, node] of nodes()) {
    const candidates = [
      { name: 'bridge', run: () => coldStartMs(node, url) },
      { name: 'node', run: () => bareStartMs(node) },
    ]
    const cold = await interleaved(candidates, starts)
    const limit = version.startsWith('20.') ? '≤ 55' : '≤ 66'
    rows.push(
      [`cold start to first tools/list, Node ${version}`, number(median(cold.get('bridge') ?? [])), 'ms', ''],
      ['of it Node alone', number(median(cold.get('node') ?? [])), 'ms', ''],
      [`idle memory, Node ${version}`, number(await idleMegabytes(node, url)), 'MB', limit],
      ['of it Node alone', number(await bareMegabytes(node)), 'MB', ''],
    )
  }
  return {
    title: 'The bridge',
    about: `Built bundle between a line client and the same server; ${rounds} interleaved rounds of ${callsPerRound} calls one after the other, ${starts} starts.`,
    head: ['', 'median', 'unit', 'budget'],
    rows,
  }
}

async function addedMs(causeway: Program, url: string): Promise<number> {
  const pool = new Pool(causeway.url, { connections: 1 })
  const headers = await sessionFields(causeway, '/mcp/bench')
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...call })
  const bridge = start(process.execPath, url)
  await bridge.ask(initialize)
  const sides = [
    { name: 'bridge', run: () => bridge.ask(call) },
    { name: 'direct', run: () => ask({ pool, program: causeway, path: '/mcp/bench', headers, body }) },
  ]
  for (const { run } of sides) await p50Of(run)
  const measured = await interleaved(
    sides.map(({ name, run }) => ({ name, run: () => p50Of(run) })),
    rounds,
  )
  await Promise.all([bridge.end(), pool.close()])
  const direct = measured.get('direct') ?? []
  return median((measured.get('bridge') ?? []).map((ms, round) => ms - (direct[round] ?? Number.NaN)))
}

async function p50Of(run: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let count = 0; count < callsPerRound; count += 1) {
    const before = performance.now()
    await run()
    times.push(performance.now() - before)
  }
  return median(times)
}

async function coldStartMs(node: string, url: string): Promise<number> {
  const before = performance.now()
  const bridge = await startAndList(node, url)
  const ms = performance.now() - before
  await bridge.end()
  return ms
}

/** Node with a program that does nothing but live. */
async function bareNode(node: string): Promise<ChildProcess> {
  const program = 'process.stdout.write("x"); process.stdin.resume()'
  const child = spawn(node, ['-e', program], { stdio: ['pipe', 'pipe', 'ignore'] })
  await once(child.stdout, 'data')
  return child
}

async function bareStartMs(node: string): Promise<number> {
  const before = performance.now()
  const child = await bareNode(node)
  const ms = performance.now() - before
  await endOf(child)
  return ms
}

async function bareMegabytes(node: string): Promise<number> {
  const child = await bareNode(node)
  const bytes = await idleBytes(child)
  await endOf(child)
  return bytes / 1e6
}

async function idleMegabytes(node: string, url: string): Promise<number> {
  const bridge = await startAndList(node, url)
  const bytes = await idleBytes(bridge.process)
  await bridge.end()
  return bytes / 1e6
}

async function idleBytes(child: ChildProcess): Promise<number> {
  await pause(settleMs)
  return residentBytes(child.pid as number) ?? Number.NaN // it runs, so it has one
}

async function endOf(child: ChildProcess): Promise<void> {
  child.stdin?.end()
  await once(child, 'close')
}

async function startAndList(node: string, url: string): Promise<Bridge> {
  const bridge = start(node, url)
  await bridge.ask(initialize)
  await bridge.ask({ method: 'tools/list' })
  return bridge
}

function start(node: string, url: string): Bridge {
  const child = spawn(node, [bundle, '--url', url], { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting: (() => void)[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (/"error":\{|"isError":true/.test(line)) throw new Error(line.slice(0, 300))
    if (/"id":\d/.test(line)) waiting.shift()?.()
  })
  let lastId = 0
  return {
    process: child,
    ask(message) {
      lastId += 1
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: lastId, ...message })}\n`)
      return new Promise((resolve) => waiting.push(resolve))
    },
    end: () => endOf(child),
  }
}
