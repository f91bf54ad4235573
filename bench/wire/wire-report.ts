import { servers } from '../../test/downloads/clients.mjs'
import type { Load } from '../load.ts'
import { held, type Limit, number, type Section } from '../report.ts'
import { median } from '../rounds.ts'

/** A request and the limits of our transports. */
export interface Comparison {
  readonly title: string
  /** How it was measured. */
  readonly about: string
  /** Latency of a call relative to raw Fastify. */
  readonly ofRaw: number
  /** Calls per second relative to SDK v1 and fastmcp. */
  readonly ofPeers?: number
}

/** Name prefixes of our transports. */
export const ours = 'Causeway, '

/** Peers of the comparison by name. */
export const references = {
  raw: 'raw Fastify',
  sdk: 'SDK v1 + express, session',
  fastmcp: `${servers.fastmcp.spec}, session`,
} as const

/** Returns the table of sustained rates by name. Ratios are within a round, so that all ran under the same load. */
export function wireSection(
  { title, about, ofRaw, ofPeers }: Comparison,
  measured: ReadonlyMap<string, readonly Load[]>,
): Section {
  const times = (loads: readonly Load[], reference: string, of: (load: Load) => number): number => {
    const others = measured.get(reference)
    if (others === undefined) return Number.NaN
    return median(loads.map((load, round) => of(load) / of(others[round] as Load)))
  }
  const judged = (name: string, value: number, limit: Limit | undefined): string =>
    limit !== undefined && name.startsWith(ours) ? held(value, limit) : number(value)
  const overPeer = ofPeers === undefined ? undefined : { least: ofPeers }
  const budget = [`${ofRaw} of raw`, ...(ofPeers === undefined ? [] : [`${ofPeers} of SDK v1 and fastmcp`])]
  return {
    title: `${title}; budget: ${budget.join(', ')}`,
    about,
    head: ['', 'calls/s', 'p50 ms', 'CPU µs', 'time / raw', 'CPU / raw', 'calls / SDK v1', 'calls / fastmcp'],
    rows: [...measured].map(([name, loads]) => [
      name,
      number(median(loads.map(({ perSecond }) => perSecond))),
      number(median(loads.map(({ p50Ms }) => p50Ms))),
      number(median(loads.map(({ cpuUs }) => cpuUs))),
      judged(
        name,
        times(loads, references.raw, (load) => 1 / load.perSecond),
        { most: ofRaw },
      ),
      number(times(loads, references.raw, ({ cpuUs }) => cpuUs)),
      judged(
        name,
        times(loads, references.sdk, ({ perSecond }) => perSecond),
        overPeer,
      ),
      judged(
        name,
        times(loads, references.fastmcp, ({ perSecond }) => perSecond),
        overPeer,
      ),
    ]),
  }
}
