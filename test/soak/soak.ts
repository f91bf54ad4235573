/** Many bridges, mixed traffic, and a server that is killed and started again: what must hold at the end. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { randomFrom } from '../random.ts'
import { type Holdings, SoakClient } from './client.ts'
import { freePort, SoakServer } from './server.ts'

/** How long and how wide. The same seed makes the same choices, though not the same timing. */
export interface SoakPlan {
  readonly bridges: number
  readonly seconds: number
  readonly seed: number
  readonly say: (line: string) => void
}

/** What came of it; a soak without faults has passed. */
export interface SoakReport {
  readonly requests: number
  readonly results: number
  readonly errors: Readonly<Record<string, number>>
  readonly serverStarts: number
  /** Mean memory of a bridge at half time and at the end, in MB; null where the system does not tell. */
  readonly memoryMb: readonly [number | null, number | null]
  readonly faults: readonly string[]
}

/** A bridge may grow by this much in the second half, in MB: a large line or a collection that is due. */
const allowedGrowthMb = 25
/** A few connections stay open all the time. */
const allowedDescriptors = 10
/** The server keeps the connections of the last burst alive for 72 s, as Fastify does; what is left then is a leak. */
const keptAliveMs = 80_000
const settleMs = 45_000

/** Runs one soak; never throws for what the bridges do. */
export async function soak({ bridges, seconds, seed, say }: SoakPlan): Promise<SoakReport> {
  const random = randomFrom(seed)
  const dir = mkdtempSync(join(tmpdir(), 'causeway-soak-'))
  const server = new SoakServer(await freePort(), dir)
  try {
    await server.start()
    const clients = Array.from(
      { length: bridges },
      () => new SoakClient(server.url, randomFrom(random.below(2 ** 31))),
    )
    say(`${bridges} bridges against ${server.url}, seed ${seed}, ${seconds} s`)
    const until = Date.now() + seconds * 1000
    const running = clients.map((client) => client.run(until))

    const halfTime = wait(seconds * 500).then(() => clients.map((client) => client.holdings()))
    while (Date.now() < until - 5000) {
      await wait(3000 + random.below(9000))
      const signal = random.pick(['SIGTERM', 'SIGKILL'] as const)
      const endingMs = await took(() => server.end(signal))
      await wait(random.below(3000))
      const startingMs = await took(() => server.start())
      say(
        `server ended by ${signal} in ${endingMs} ms, healthy again in ${startingMs} ms (start ${server.starts})`,
      )
    }

    await Promise.all(running)
    await Promise.all(clients.map((client) => client.settle(settleMs)))
    const before = await halfTime
    const held = () => clients.map((client) => client.holdings())
    for (const end = Date.now() + keptAliveMs; Date.now() < end && leaks(before, held()).length > 0; )
      await wait(1000)
    const after = held()
    await Promise.all(clients.map((client) => client.end()))
    return {
      requests: sum(clients.map(({ sent }) => sent)),
      results: sum(clients.map(({ outcomes }) => outcomes.result)),
      errors: Object.fromEntries(total(clients.map(({ codes }) => codes))),
      serverStarts: server.starts,
      memoryMb: [meanMemory(before), meanMemory(after)],
      faults: [...clients.flatMap(({ faults }) => faults), ...leaks(before, after)],
    }
  } finally {
    await server.end('SIGTERM')
    rmSync(dir, { recursive: true, force: true })
  }
}

/** How long it takes, ms. */
async function took(act: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await act()
  return Math.round(performance.now() - began)
}

function leaks(
  before: readonly (Holdings | undefined)[],
  after: readonly (Holdings | undefined)[],
): string[] {
  const faults: string[] = []
  const growth = (meanMemory(after) ?? 0) - (meanMemory(before) ?? 0)
  if (growth > allowedGrowthMb) faults.push(`the bridges grew by ${Math.round(growth)} MB each`)
  const descriptors = Math.max(
    0,
    ...after.map((holdings, at) => (holdings?.descriptors ?? 0) - (before[at]?.descriptors ?? 0)),
  )
  if (descriptors > allowedDescriptors)
    faults.push(`a bridge keeps ${descriptors} descriptors more than at first`)
  return faults
}

function meanMemory(all: readonly (Holdings | undefined)[]): number | null {
  const known = all.flatMap((holdings) => holdings?.memoryMb ?? [])
  return known.length === 0 ? null : Math.round(sum(known) / known.length)
}

function total(maps: readonly ReadonlyMap<string, number>[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const map of maps) for (const [code, count] of map) counts.set(code, (counts.get(code) ?? 0) + count)
  return counts
}

const sum = (numbers: readonly number[]): number => numbers.reduce((left, right) => left + right, 0)
