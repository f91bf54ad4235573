/** Every app with mixed clients: first while the server restarts, then steadily on one server, compared with a control server. */
import { setTimeout as wait } from 'node:timers/promises'
import { wireName } from '@causeway/protocol'
import { type Random, randomFrom } from '../random.ts'
import { SoakClient } from './client.ts'
import { runStories, runStory, stories, type Tally, trivial } from './story.ts'
import { type ResourceUse, WholeServer } from './whole-server.ts'

/** Options for a soak of the product. */
export interface ProductSoakPlan {
  readonly seconds: number
  readonly seed: number
  readonly print: (line: string) => void
}

/** The result. The soak passes if there are no faults. */
export interface ProductSoakReport {
  readonly sent: number
  readonly answered: number
  readonly restarts: number
  /** Resource use of the server after each round, without clients and after garbage collection. */
  readonly rounds: readonly ResourceUse[]
  /** Resource use of a server with the same number of clients that make trivial calls. */
  readonly control: readonly ResourceUse[]
  /** Growth from the rounds after the warm-up to the last rounds, minus the growth of the control. */
  readonly growth: Readonly<Record<keyof ResourceUse, number>>
  readonly faults: readonly string[]
}

const bridges = 6
const posters = 4
const storyClients = 6
/** Rounds of the steady part. Before them every story runs with all clients at once, which starts all workers of each pool. */
const rounds = 8
const warmUp = 2
const settleMs = 120_000

/** Maximum growth beyond that of the control. A leak exceeds it clearly; opening or closing a connection does not. */
const allowed: Readonly<Record<keyof ResourceUse, number>> = {
  heapMb: 12,
  residentMb: 120,
  descriptors: 2,
  resources: 2,
  threads: 1,
}

/** Runs a soak. Throws only if a server cannot be started. */
export async function productSoak({ seconds, seed, print }: ProductSoakPlan): Promise<ProductSoakReport> {
  const random = randomFrom(seed)
  const server = await WholeServer.create()
  const control = await WholeServer.create()
  try {
    await Promise.all([server.start(), control.start()])
    const restarts = await runWithRestarts(server, { random, seconds: seconds / 4, print })
    print(`restarts: ${restarts.answered} of ${restarts.sent} answered; ${restarts.faults.join('; ')}`)
    const steady = await runSteadily({ server, control }, { random, seconds: (seconds * 3) / 4, print })
    const growth = computeGrowth(steady.measured, steady.controlMeasured)
    const leaks = (Object.keys(allowed) as (keyof ResourceUse)[])
      .filter((what) => growth[what] > allowed[what])
      .map((what) => `${what} grew by ${growth[what]} more than the control's`)
    return {
      sent: restarts.sent + steady.tally.sent,
      answered: restarts.answered + steady.tally.answered,
      restarts: server.starts - 1,
      rounds: steady.measured,
      control: steady.controlMeasured,
      growth,
      faults: [...restarts.faults, ...steady.tally.faults, ...leaks],
    }
  } finally {
    await Promise.all([server.remove(), control.remove()])
  }
}

interface Part {
  readonly random: Random
  readonly seconds: number
  readonly print: (line: string) => void
}

/** Runs bridges and HTTP clients that must not lose a request during restarts and kills. */
async function runWithRestarts(server: WholeServer, { random, seconds, print }: Part) {
  const until = Date.now() + seconds * 1000
  const calls = stories.flatMap((of) => of.flatMap((story) => story.slice(-1)))
  const params = calls
    .filter(({ app }) => app !== 'Trm')
    .map(({ app, name, args }) => ({ name: wireName(app, name), arguments: args }))
  const clients = Array.from(
    { length: bridges },
    () => new SoakClient(`${server.url}/mcp`, randomFrom(random.below(2 ** 31)), params),
  )
  const tally: Tally = { sent: 0, answered: 0, faults: [] }
  const running = [
    ...clients.map((client) => client.run(until)),
    ...Array.from({ length: posters }, () => post(server, { params, random, until, tally })),
  ]
  while (Date.now() < until - 3000) {
    await wait(2000 + random.below(5000))
    const signal = random.pick(['SIGTERM', 'SIGKILL'] as const)
    const code = await server.end(signal)
    if (signal === 'SIGTERM' && code !== 0)
      tally.faults.push(`the server exited with ${code}: ${server.stderrTail}`)
    await server.start()
    print(`server stopped with ${signal} and restarted (${server.starts})`)
  }
  await Promise.all(running)
  await Promise.all(clients.map((client) => client.settle(settleMs)))
  await Promise.all(clients.map((client) => client.end()))
  for (const client of clients) {
    tally.sent += client.sent
    tally.answered += client.outcomes.result + client.outcomes.error + client.cancelled
    tally.faults.push(...client.faults)
  }
  return tally
}

/** Posts calls as scripts do. Retries with the same request id if the connection fails. */
async function post(
  { url }: WholeServer,
  {
    params,
    random,
    until,
    tally,
  }: { params: readonly object[]; random: Random; until: number; tally: Tally },
): Promise<void> {
  const headers = { 'content-type': 'application/json', 'causeway-session': `soak-${random.below(2 ** 31)}` }
  while (Date.now() < until) {
    tally.sent += 1
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: random.pick(params) })
    const request = { ...headers, 'causeway-request': `${headers['causeway-session']}-${tally.sent}` }
    const deadline = Date.now() + settleMs
    for (;;) {
      const status = await fetch(`${url}/mcp`, { method: 'POST', headers: request, body })
        .then(async (response) => {
          await response.json()
          return response.status
        })
        .catch(() => 0) // the connection failed
      if (status === 200) {
        tally.answered += 1
        break
      }
      if (Date.now() > deadline) {
        tally.faults.push(`a posted call got no result, the last status is ${status}`)
        break
      }
      await wait(50)
    }
    await wait(random.below(60))
  }
}

/** Runs rounds of clients on the server and on the control. Measures both after each round. */
async function runSteadily(
  { server, control }: { readonly server: WholeServer; readonly control: WholeServer },
  { random, seconds, print }: Part,
) {
  const tally: Tally = { sent: 0, answered: 0, faults: [] }
  const ignored: Tally = { sent: 0, answered: 0, faults: tally.faults }
  const measured: ResourceUse[] = []
  const controlMeasured: ResourceUse[] = []
  // Opens what stays open, such as recordings, plots and further workers, before the first measurement.
  for (const story of stories.flat())
    await Promise.all(Array.from({ length: storyClients }, () => runStory(server, { random, tally, story })))
  const loadMs = Math.max(1000, (seconds * 1000) / rounds - 3000)
  for (let round = 0; round < rounds; round += 1) {
    const until = Date.now() + loadMs
    const next = (): Random => randomFrom(random.below(2 ** 31))
    const failed = (error: unknown): void =>
      void tally.faults.push(`a client failed: ${(error as Error).stack}`)
    await Promise.all([
      ...Array.from({ length: storyClients }, () =>
        runStories(server, { random: next(), until, tally, choices: stories }).catch(failed),
      ),
      ...Array.from({ length: storyClients }, () =>
        runStories(control, { random: next(), until, tally: ignored, choices: trivial }).catch(failed),
      ),
    ])
    await wait(1500)
    measured.push(await server.measure())
    controlMeasured.push(await control.measure())
    print(
      `round ${round + 1}: ${JSON.stringify(measured.at(-1))}, control ${JSON.stringify(controlMeasured.at(-1))}`,
    )
  }
  if (!(await server.isHealthy())) tally.faults.push('an app is not healthy at the end')
  return { tally, measured, controlMeasured }
}

/**
 * Returns the growth from the minimum of the first three rounds after the warm-up to the minimum of the last three rounds, minus
 * the growth of the control. Minima, because a leak raises every round and a temporary use only some.
 */
function computeGrowth(
  measured: readonly ResourceUse[],
  control: readonly ResourceUse[],
): Record<keyof ResourceUse, number> {
  const minimum = (of: readonly ResourceUse[], what: keyof ResourceUse): number =>
    Math.min(...of.map((one) => one[what]))
  const grown = (of: readonly ResourceUse[], what: keyof ResourceUse): number =>
    minimum(of.slice(-3), what) - minimum(of.slice(warmUp, warmUp + 3), what)
  const beyond = (what: keyof ResourceUse): number =>
    Math.round((grown(measured, what) - Math.max(0, grown(control, what))) * 10) / 10
  return {
    heapMb: beyond('heapMb'),
    residentMb: beyond('residentMb'),
    descriptors: beyond('descriptors'),
    resources: beyond('resources'),
    threads: beyond('threads'),
  }
}
