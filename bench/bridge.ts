import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { ask } from './load.ts'
import { mebibyte } from './mebibyte.ts'
import { nodes, type Program, residentBytes } from './program.ts'
import { bundle } from './relay/contenders.ts'
import { type LineClient, openSession, startLineClient } from './relay/line-client.ts'
import { addedLimit, idleLimit } from './relay/relay-budgets.ts'
import { bareNode } from './relay/relay-start.ts'
import { held, limitText, number, type Section } from './report.ts'
import { interleaved, median } from './rounds.ts'
import { sessionFields } from './wire/wire.ts'

const starts = 7
const rounds = 5
const callsPerRound = 200
const settleMs = 500

const call = { method: 'tools/call', params: { name: 'echo_42', arguments: { text: 'hello' } } }

/** Measures the latency that the bridge adds to a call, its start time and its idle memory. */
export async function measureBridge(causeway: Program): Promise<Section> {
  const url = `${causeway.url}/mcp/bench`
  const added = await addedMs(causeway, url)
  const rows = [['added to a call, p50', held(added, addedLimit), 'ms', limitText(addedLimit)]]
  for (const [version, node] of nodes()) {
    const candidates = [
      { name: 'bridge', run: () => coldStartMs(node, url) },
      { name: 'node', run: () => bareStartMs(node) },
    ]
    const cold = await interleaved(candidates, starts)
    const limit = idleLimit(version)
    rows.push(
      [`cold start to first tools/list, Node ${version}`, number(median(cold.get('bridge') ?? [])), 'ms', ''],
      ['of it Node alone', number(median(cold.get('node') ?? [])), 'ms', ''],
      [`idle memory, Node ${version}`, held(await idleMebibytes(node, url), limit), 'MiB', limitText(limit)],
      ['of it Node alone', number(await bareMebibytes(node)), 'MiB', ''],
    )
  }
  return {
    title: 'The bridge',
    about: `Built bundle between a stdio client and the same server; ${rounds} interleaved rounds of ${callsPerRound} sequential calls, ${starts} starts.`,
    head: ['', 'median', 'unit', 'budget'],
    rows,
  }
}

async function addedMs(causeway: Program, url: string): Promise<number> {
  const pool = new Pool(causeway.url, { connections: 1 })
  const headers = await sessionFields(causeway, '/mcp/bench')
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...call })
  const bridge = await startAndList(process.execPath, url)
  const sides = [
    { name: 'bridge', run: () => bridge.ask(call) },
    {
      name: 'direct',
      run: () => ask({ pool, program: causeway, path: '/mcp/bench', headers, body: () => body }),
    },
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

async function bareStartMs(node: string): Promise<number> {
  return (await bareNode(node, () => {})).coldMs
}

async function bareMebibytes(node: string): Promise<number> {
  return (await bareNode(node, idleBytes)).seen / mebibyte
}

async function idleMebibytes(node: string, url: string): Promise<number> {
  const bridge = await startAndList(node, url)
  const bytes = await idleBytes(bridge.pid)
  await bridge.end()
  return bytes / mebibyte
}

async function idleBytes(pid: number): Promise<number> {
  await pause(settleMs)
  return residentBytes(pid) ?? Number.NaN
}

async function startAndList(node: string, url: string): Promise<LineClient> {
  const bridge = startLineClient({ node, args: [bundle, '--url', url] })
  await openSession(bridge)
  return bridge
}
