import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { number, type Section } from '../report.ts'
import { interleaved, median, quantile } from '../rounds.ts'
import { measureTrees } from './process-tree.ts'
import { type Running, type ServerProgram, type Session, type Setup, waitFor } from './setups.ts'

const rounds = 1
const cancelCount = 30
const progressCalls = 20
const stepsPerCall = 50
const connectCount = 1000
const connectsAtOnce = 10
const echoCount = 500
/** Time for a message to arrive before it counts as lost. */
const arrivalMs = 3000

const probeProgram = fileURLToPath(new URL('probe-server.mjs', import.meta.url))

interface Figures {
  /** The first list of tools after a restart. */
  readonly listMs: number
  /** Processes below the gateway at that time. */
  readonly listProcesses: number
  readonly cancelMs: readonly number[]
  /** Share of the progress messages that arrived. */
  readonly progress: number
  readonly grownBytes: number
  readonly leftProcesses: number
  /** p99 of calls with a hung, a crashing and a missing server next to the called one, divided by p99 without them. */
  readonly disturbed: number
}

/** Compares restarts, cancellation, progress, short connections and broken neighbours. */
export async function measureLifecycle(setups: readonly Setup[], folder: string): Promise<Section> {
  const names = /^(Causeway, later starts|mcp-hub|mcp-proxy)/
  const candidates = setups
    .filter(({ name }) => names.test(name))
    .map((setup) => ({ name: setup.name, run: () => measure(setup, folder) }))
  return describe(await interleaved(candidates, rounds))
}

async function measure(setup: Setup, folder: string): Promise<Figures> {
  const log = join(folder, 'probe.log')
  const probe = (share: 'shared' | 'client', env: Record<string, string> = {}): ServerProgram => ({
    name: 'probe',
    args: [probeProgram],
    env: { PROBE_LOG: log, ...env },
    share,
  })
  const listed = await measureRestart(setup, [probe('shared')])
  const called = await withGateway(setup, [probe('shared')], async (session) => ({
    cancelMs: await measureCancel(session, log),
    progress: await measureProgress(session),
  }))
  const connected = await measureConnects(setup, [probe('client')])
  const disturbed = await measureDisturbance(setup, probe('shared'))
  return { ...listed, ...called, ...connected, disturbed }
}

async function withGateway<T>(
  setup: Setup,
  servers: readonly ServerProgram[],
  use: (session: Session, running: Running) => Promise<T>,
): Promise<T> {
  const running = await setup.start(servers)
  try {
    const session = await running.open()
    await waitFor(async () => (await session.countTools()) > 0)
    try {
      return await use(session, running)
    } finally {
      await session.close()
    }
  } finally {
    await running.stop()
  }
}

async function measureRestart(setup: Setup, servers: readonly ServerProgram[]) {
  await withGateway(setup, servers, async (session) => session.call('probe', 'echo', { message: '' }))
  const running = await setup.start(servers)
  try {
    const session = await running.open()
    const start = performance.now()
    await waitFor(async () => (await session.countTools()) > 0)
    const listMs = performance.now() - start
    const listProcesses = measureTrees(running.pids).processes - running.pids.length
    await session.close()
    return { listMs, listProcesses }
  } finally {
    await running.stop()
  }
}

async function measureCancel(session: Session, log: string): Promise<readonly number[]> {
  const delays: number[] = []
  for (let index = 0; index < cancelCount; index++) {
    rmSync(log, { force: true })
    const abort = new AbortController()
    let abortedAt = Number.NaN
    const onprogress = (): void => {
      abortedAt = performance.timeOrigin + performance.now()
      abort.abort()
    }
    const options = { onprogress, signal: abort.signal, timeout: arrivalMs }
    await session.call('probe', 'wait', {}, options).catch(() => {})
    const hasArrived = async () => existsSync(log) && readFileSync(log, 'utf8').endsWith('\n')
    // Some gateways don't forward progress or cancellations.
    if (
      !(await waitFor(hasArrived, arrivalMs).then(
        () => true,
        () => false,
      ))
    )
      return [Number.NaN]
    delays.push(Number(readFileSync(log, 'utf8').split('\n')[0]) - abortedAt)
  }
  return delays
}

async function measureProgress(session: Session): Promise<number> {
  let arrived = 0
  const onprogress = (): void => {
    arrived += 1
  }
  for (let index = 0; index < progressCalls; index++)
    await session.call('probe', 'steps', { count: stepsPerCall }, { onprogress }).catch(() => {})
  return arrived / (progressCalls * stepsPerCall)
}

/** Opens and closes many sessions, each with a call. The server's process belongs to its client where the gateway can do so. */
async function measureConnects(setup: Setup, servers: readonly ServerProgram[]) {
  return withGateway(setup, servers, async (_session, running) => {
    const cycle = async (): Promise<void> => {
      const session = await running.open()
      await session.countTools()
      await session.close()
    }
    const many = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index += connectsAtOnce)
        await Promise.all(Array.from({ length: connectsAtOnce }, cycle))
    }
    await many(connectCount / 4)
    const before = await settle(running)
    await many(connectCount)
    const after = await settle(running)
    return {
      grownBytes: after.bytes - before.bytes,
      leftProcesses: after.processes - before.processes,
    }
  })
}

/** Measures the trees after the gateway had time to end processes and to collect garbage. */
async function settle(running: Running) {
  await delay(10_000)
  return measureTrees(running.pids)
}

async function measureDisturbance(setup: Setup, probe: ServerProgram): Promise<number> {
  const broken: readonly ServerProgram[] = [
    { ...probe, name: 'hung', env: { ...probe.env, PROBE_HANGS: '1' } },
    { ...probe, name: 'crashing', args: ['-e', 'process.exit(1)'] },
    { ...probe, name: 'missing', command: '/nonexistent/program', args: [] },
  ]
  const p99 = (servers: readonly ServerProgram[], hasHung: boolean) =>
    withGateway(setup, servers, async (session) => {
      const abort = new AbortController()
      const hung = hasHung
        ? session.call('hung', 'echo', { message: '' }, { signal: abort.signal }).catch(() => '')
        : undefined
      const times: number[] = []
      for (let index = 0; index < echoCount * 2; index++) {
        const start = performance.now()
        await session.call('probe', 'echo', { message: String(index) })
        if (index >= echoCount) times.push(performance.now() - start)
      }
      abort.abort()
      await hung
      return quantile(times, 0.99)
    })
  const without = await p99([probe], false)
  // Some gateways don't start at all with a server that fails.
  const disturbed = await p99([probe, ...broken], true).catch(() => Number.NaN)
  return disturbed / without
}

function describe(measured: ReadonlyMap<string, readonly Figures[]>): Section {
  const rows = [...measured].map(([name, figures]) => {
    const middle = (pick: (one: Figures) => number): number => median(figures.map(pick))
    const cancels = figures.flatMap(({ cancelMs }) => cancelMs)
    return [
      name,
      number(middle(({ listMs }) => listMs)),
      number(middle(({ listProcesses }) => listProcesses)),
      `${number(quantile(cancels, 0.5))} / ${number(quantile(cancels, 1))}`,
      `${number(100 * middle(({ progress }) => progress))} %`,
      number(middle(({ grownBytes }) => grownBytes) / 2 ** 20),
      number(middle(({ leftProcesses }) => leftProcesses)),
      number(middle(({ disturbed }) => disturbed)),
    ]
  })
  return {
    title: 'Restarts, cancellation and broken servers',
    about: `One small server. The list is the first after a restart of the gateway, with a connected client; processes are those that
the gateway has started by then. A cancellation is measured from the client to the server, over ${cancelCount} calls. Progress is the share
of ${progressCalls * stepsPerCall} messages that arrived. Growth is that of the gateway's tree over ${connectCount} sessions that list the tools and close, after ${connectCount / 4} others and
10 s of rest each; Causeway has a process per client there. The last column divides p99 of ${echoCount} calls with a hung, a crashing
and a missing server next to the called one by p99 without them; – means that the gateway did not serve then.`,
    head: [
      '',
      'list after a restart, ms',
      'processes',
      'cancel p50 / max, ms',
      'progress',
      'growth, MB',
      'left processes',
      'p99 ratio, broken servers',
    ],
    rows,
  }
}
