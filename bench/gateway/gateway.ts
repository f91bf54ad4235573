import { cpuMs } from '../program.ts'
import { number, type Section } from '../report.ts'
import { interleaved, median, quantile } from '../rounds.ts'
import { measureLifecycle } from './lifecycle.ts'
import { measureTrees } from './process-tree.ts'
import { createSetups, type Running, type Session, type Setup, waitFor } from './setups.ts'

const sessionCount = 10
/** Of each setup, so that the compiled code of a long-running server is measured. */
const warmUpCalls = 1000
const sequentialCalls = 300
const callsPerSession = 100
const rounds = 2
/** Tools of the five servers without capabilities of a client. */
const toolCount = 62

interface Figures {
  readonly processes: number
  readonly bytes: number
  /** From the start of the gateway to the list of the first session. */
  readonly firstMs: number
  readonly nextMs: readonly number[]
  readonly callMs: readonly number[]
  readonly perSecond: number
  /** Processor time of the gateway for a call of ten sessions at once; 0 without a gateway. */
  readonly cpuMs: number
  readonly wrong: number
}

/** Compares ten sessions of five servers. Throws if a server or a gateway is not installed. */
export async function measureGateway(
  options: Parameters<typeof createSetups>[0],
): Promise<readonly Section[]> {
  const setups = createSetups(options)
  if (typeof setups === 'string') throw new Error(setups)
  const candidates = setups.map((setup) => ({ name: setup.name, run: () => measure(setup) }))
  return [describe(await interleaved(candidates, rounds)), await measureLifecycle(setups, options.folder)]
}

async function measure(setup: Setup): Promise<Figures> {
  const start = performance.now()
  const running = await setup.start()
  const sessions: Session[] = []
  try {
    const openListed = async (): Promise<void> => {
      const session = await running.open()
      sessions.push(session)
      await waitFor(async () => (await session.countTools()) >= toolCount)
    }
    await openListed()
    const firstMs = performance.now() - start
    const nextMs: number[] = []
    while (sessions.length < sessionCount) nextMs.push(await time(openListed))
    return { firstMs, nextMs, ...(await measureCalls(sessions, running)) }
  } finally {
    await Promise.all(sessions.map((session) => session.close()))
    await running.stop()
  }
}

async function measureCalls(sessions: readonly Session[], running: Running) {
  let wrong = 0
  const call = async (session: Session, message: string): Promise<void> => {
    const text = await session.call('everything', 'echo', { message }).catch(() => '')
    if (!text.endsWith(message)) wrong += 1
  }
  const [first] = sessions as [Session]
  for (let index = 0; index < warmUpCalls; index++) await call(first, `warm-up ${index}`)
  const callMs: number[] = []
  for (let index = 0; index < sequentialCalls; index++)
    callMs.push(await time(() => call(first, `sequential ${index}`)))
  const cpuBefore = sumCpu(running)
  const elapsed = await time(async () => {
    await Promise.all(
      sessions.map(async (session, number) => {
        for (let index = 0; index < callsPerSession; index++) await call(session, `of ${number}: ${index}`)
      }),
    )
  })
  const calls = sessions.length * callsPerSession
  const perCall = (sumCpu(running) - cpuBefore) / calls
  return { callMs, perSecond: (calls * 1000) / elapsed, cpuMs: perCall, wrong, ...measureTrees(running.pids) }
}

const sumCpu = ({ pids }: Running): number => pids.reduce((sum, pid) => sum + (cpuMs(pid) ?? 0), 0)

async function time(work: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function describe(measured: ReadonlyMap<string, readonly Figures[]>): Section {
  const baseline = [...(measured.get('no gateway') ?? [])].flatMap(({ callMs }) => callMs)
  const rows = [...measured].map(([name, figures]) => {
    const middle = (pick: (one: Figures) => number): number => median(figures.map(pick))
    const calls = figures.flatMap(({ callMs }) => callMs)
    const added = (part: number): string => number(quantile(calls, part) - quantile(baseline, part))
    return [
      name,
      number(middle(({ processes }) => processes)),
      number(middle(({ bytes }) => bytes) / 2 ** 20),
      number(middle(({ firstMs }) => firstMs) / 1000),
      number(median(figures.flatMap(({ nextMs }) => nextMs))),
      `${number(quantile(calls, 0.5))} / ${number(quantile(calls, 0.99))}`,
      name === 'no gateway' ? '' : `${added(0.5)} / ${added(0.99)}`,
      number(middle(({ perSecond }) => perSecond)),
      name === 'no gateway' ? '' : number(middle((one) => one.cpuMs)),
      number(figures.reduce((sum, one) => sum + one.wrong, 0)),
    ]
  })
  return {
    title: 'Ten sessions with five servers',
    about: [
      'server-everything, server-filesystem, server-memory and server-sequential-thinking 2026.8.31, and @playwright/mcp 0.0.83 without a browser.',
      'Without a gateway each session starts all five; Causeway hosts them with `"share": "shared"`, and later lists them from its stored\ncatalogue, so that only the called server runs. Memory is proportional (PSS) and includes the',
      `gateway. The first session is measured from the start of the gateway to its list of tools. A call is \`echo\` of server-everything, ${sequentialCalls} of one`,
      `session one after the other, after ${warmUpCalls} others; calls/s are of ten sessions at once, ${callsPerSession} calls each, and CPU is the processor time of the gateway for one of
these. Wrong are errors and answers to another call. All clients run in one process. Causeway and mcp-proxy are measured over
Streamable HTTP, and mcp-hub over HTTP+SSE, which is all that it has.`,
    ].join('\n'),
    head: [
      '',
      'processes',
      'MB',
      'first session, s',
      'next session, ms',
      'call p50 / p99, ms',
      'added, ms',
      'calls/s',
      'CPU, ms',
      'wrong',
    ],
    rows,
  }
}
