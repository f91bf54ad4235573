/** Many bridges with mixed traffic on a server that is killed and restarted. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '../free-port.ts'
import { randomFrom } from '../random.ts'
import { type ResourceUse, SoakClient } from './client.ts'
import { SoakServer } from './server.ts'

/** Options for a soak of the bridge. A seed determines the random choices, but not the timing. */
export interface SoakPlan {
  readonly bridges: number
  readonly seconds: number
  readonly seed: number
  readonly print: (line: string) => void
}

/** The result. The soak passes if there are no faults. */
export interface SoakReport {
  readonly requests: number
  readonly results: number
  readonly errors: Readonly<Record<string, number>>
  readonly serverStarts: number
  /** Mean memory of a bridge at half time and at the end, in MB; `null` if the system does not report it. */
  readonly memoryMb: readonly [number | null, number | null]
  readonly faults: readonly string[]
}

/** Maximum growth of a bridge in the second half, in MB. Allows for a large line or a pending garbage collection. */
const allowedGrowthMb = 25
/** Maximum growth in descriptors, because a few connections stay open. */
const allowedDescriptors = 10
/** Longer than a bridge keeps idle connections, so that those of the last burst are closed. */
const keptAliveMs = 40_000
const settleMs = 45_000

/** Runs a soak. Faults of the bridges are returned, not thrown. */
export async function soak({ bridges, seconds, seed, print }: SoakPlan): Promise<SoakReport> {
  const random = randomFrom(seed)
  const dir = mkdtempSync(join(tmpdir(), 'causeway-soak-'))
  const server = new SoakServer(await findFreePort(), dir)
  try {
    await server.start()
    const clients = Array.from(
      { length: bridges },
      () => new SoakClient(server.url, randomFrom(random.below(2 ** 31))),
    )
    print(`${bridges} bridges against ${server.url}, seed ${seed}, ${seconds} s`)
    const until = Date.now() + seconds * 1000
    const running = clients.map((client) => client.run(until))

    const halfTime = wait(seconds * 500).then(() => clients.map((client) => client.readResourceUse()))
    while (Date.now() < until - 5000) {
      await wait(3000 + random.below(9000))
      const signal = random.pick(['SIGTERM', 'SIGKILL'] as const)
      const endingMs = await measureMs(() => server.end(signal))
      await wait(random.below(3000))
      const startingMs = await measureMs(() => server.start())
      print(
        `server stopped with ${signal} in ${endingMs} ms, healthy again in ${startingMs} ms (start ${server.starts})`,
      )
    }

    await Promise.all(running)
    await Promise.all(clients.map((client) => client.settle(settleMs)))
    const before = await halfTime
    const measure = () => clients.map((client) => client.readResourceUse())
    for (const end = Date.now() + keptAliveMs; Date.now() < end && leaks(before, measure()).length > 0; )
      await wait(1000)
    const after = measure()
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

/** Returns the duration of an action in milliseconds. */
async function measureMs(act: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await act()
  return Math.round(performance.now() - began)
}

function leaks(
  before: readonly (ResourceUse | undefined)[],
  after: readonly (ResourceUse | undefined)[],
): string[] {
  const faults: string[] = []
  const growth = (meanMemory(after) ?? 0) - (meanMemory(before) ?? 0)
  if (growth > allowedGrowthMb) faults.push(`the bridges grew by ${Math.round(growth)} MB each`)
  const descriptors = Math.max(
    0,
    ...after.map((holdings, at) => (holdings?.descriptors ?? 0) - (before[at]?.descriptors ?? 0)),
  )
  if (descriptors > allowedDescriptors)
    faults.push(`a bridge has ${descriptors} more descriptors than at half time`)
  return faults
}

function meanMemory(all: readonly (ResourceUse | undefined)[]): number | null {
  const known = all.flatMap((holdings) => holdings?.memoryMb ?? [])
  return known.length === 0 ? null : Math.round(sum(known) / known.length)
}

function total(maps: readonly ReadonlyMap<string, number>[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const map of maps) for (const [code, count] of map) counts.set(code, (counts.get(code) ?? 0) + count)
  return counts
}

const sum = (numbers: readonly number[]): number => numbers.reduce((left, right) => left + right, 0)
