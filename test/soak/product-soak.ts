/** Every app under mixed clients: first while the server comes and goes, then for long on one server, beside a control. */
import { setTimeout as wait } from 'node:timers/promises'
import { wireName } from '@causeway/protocol'
import { type Random, randomFrom } from '../random.ts'
import { SoakClient } from './client.ts'
import { stories, type Tally, tell, tellOnce, trivial } from './story.ts'
import { type Held, WholeServer } from './whole-server.ts'

/** How long, and by which chance. */
export interface ProductSoakPlan {
  readonly seconds: number
  readonly seed: number
  readonly say: (line: string) => void
}

/** What came of it; without faults it has passed. */
export interface ProductSoakReport {
  readonly sent: number
  readonly answered: number
  readonly restarts: number
  /** What the server held after each round, its clients gone and its garbage collected. */
  readonly rounds: readonly Held[]
  /** The same of a server that was asked as often by as many, for next to nothing. */
  readonly control: readonly Held[]
  /** From the rounds after the warm-up to the last ones, beyond what the control grew by. */
  readonly growth: Readonly<Record<keyof Held, number>>
  readonly faults: readonly string[]
}

const bridges = 6
const posters = 4
const tellers = 6
/** Rounds of the steady part. The first is behind one turn through every story, and warms compiled code up further. */
const rounds = 7
const warmUp = 1
const settleMs = 120_000

/** Beyond the control's: what a lasting leak of a soak would pass by far, and a connection that comes or goes does not. */
const allowed: Readonly<Record<keyof Held, number>> = {
  heapMb: 12,
  residentMb: 120,
  descriptors: 2,
  resources: 2,
  threads: 1,
}

/** Runs one soak; throws only where a server cannot be started. */
export async function productSoak({ seconds, seed, say }: ProductSoakPlan): Promise<ProductSoakReport> {
  const random = randomFrom(seed)
  const server = await WholeServer.create()
  const control = await WholeServer.create()
  try {
    await Promise.all([server.start(), control.start()])
    const comings = await comeAndGo(server, { random, seconds: seconds / 4, say })
    say(`restarts: ${comings.answered} of ${comings.sent} answered; ${comings.faults.join('; ')}`)
    const steady = await lastLong({ server, control }, { random, seconds: (seconds * 3) / 4, say })
    const growth = growthOf(steady.held, steady.controlHeld)
    const leaks = (Object.keys(allowed) as (keyof Held)[])
      .filter((what) => growth[what] > allowed[what])
      .map((what) => `${what} grew by ${growth[what]} more than the control's`)
    return {
      sent: comings.sent + steady.tally.sent,
      answered: comings.answered + steady.tally.answered,
      restarts: server.starts - 1,
      rounds: steady.held,
      control: steady.controlHeld,
      growth,
      faults: [...comings.faults, ...steady.tally.faults, ...leaks],
    }
  } finally {
    await Promise.all([server.remove(), control.remove()])
  }
}

interface Part {
  readonly random: Random
  readonly seconds: number
  readonly say: (line: string) => void
}

/** Bridges and posting clients, none of which may lose a request over restarts and kills. */
async function comeAndGo(server: WholeServer, { random, seconds, say }: Part) {
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
      tally.faults.push(`the server ended with ${code}: ${server.lastWords}`)
    await server.start()
    say(`server ended by ${signal}, started again (${server.starts})`)
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

/** Posts as scripts do, again under the same request id where the connection breaks. */
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
        .then(async (answer) => {
          await answer.json()
          return answer.status
        })
        .catch(() => 0) // away, or cut off in its answer
      if (status === 200) {
        tally.answered += 1
        break
      }
      if (Date.now() > deadline) {
        tally.faults.push(`a posted call was not answered, the last status is ${status}`)
        break
      }
      await wait(50)
    }
    await wait(random.below(60))
  }
}

/** Rounds of clients that come, work and go, on the server and on its control; each is measured between rounds. */
async function lastLong(
  { server, control }: { readonly server: WholeServer; readonly control: WholeServer },
  { random, seconds, say }: Part,
) {
  const tally: Tally = { sent: 0, answered: 0, faults: [] }
  const ignored: Tally = { sent: 0, answered: 0, faults: tally.faults }
  const held: Held[] = []
  const controlHeld: Held[] = []
  // Whatever is opened once and kept, such as recordings and plots, is there before anything is measured.
  for (const story of stories.flat()) await tellOnce(server, { random, tally, story })
  const loadMs = Math.max(1000, (seconds * 1000) / rounds - 3000)
  for (let round = 0; round < rounds; round += 1) {
    const until = Date.now() + loadMs
    const next = (): Random => randomFrom(random.below(2 ** 31))
    const failed = (error: unknown): void =>
      void tally.faults.push(`a client failed: ${(error as Error).stack}`)
    await Promise.all([
      ...Array.from({ length: tellers }, () =>
        tell(server, { random: next(), until, tally, choices: stories }).catch(failed),
      ),
      ...Array.from({ length: tellers }, () =>
        tell(control, { random: next(), until, tally: ignored, choices: trivial }).catch(failed),
      ),
    ])
    await wait(1500)
    held.push(await server.held())
    controlHeld.push(await control.held())
    say(`round ${round + 1}: ${JSON.stringify(held.at(-1))}, control ${JSON.stringify(controlHeld.at(-1))}`)
  }
  if (!(await server.isWell())) tally.faults.push('an app is not well at the end')
  return { tally, held, controlHeld }
}

/**
 * By how much the lowest of the last three rounds is above the lowest of the first three after the warm-up, beyond what the
 * control grew by. A leak lifts every round; what comes and goes lifts some.
 */
function growthOf(held: readonly Held[], control: readonly Held[]): Record<keyof Held, number> {
  const least = (of: readonly Held[], what: keyof Held): number => Math.min(...of.map((one) => one[what]))
  const grown = (of: readonly Held[], what: keyof Held): number =>
    least(of.slice(-3), what) - least(of.slice(warmUp, warmUp + 3), what)
  const beyond = (what: keyof Held): number =>
    Math.round((grown(held, what) - Math.max(0, grown(control, what))) * 10) / 10
  return {
    heapMb: beyond('heapMb'),
    residentMb: beyond('residentMb'),
    descriptors: beyond('descriptors'),
    resources: beyond('resources'),
    threads: beyond('threads'),
  }
}
