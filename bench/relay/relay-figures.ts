import { mebibyte } from '../mebibyte.ts'
import { median } from '../rounds.ts'
import { type Contender, reference } from './contenders.ts'
import { cpuUsPerCall } from './relay-calls.ts'
import { direct, type Relays } from './relays.ts'

/** Figures of one contender in the report; NaN if not measured. */
export interface Figures {
  readonly coldMs: number
  readonly coldMaxMs: number
  /** Cold start relative to mcp-remote's with the same Node. */
  readonly coldShare: number
  readonly endMs: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly addedP50Ms: number
  readonly addedP95Ms: number
  readonly cpuUs: number
  readonly perSecond: number
  /** Calls per second relative to those without a bridge. */
  readonly perSecondShare: number
  readonly burstCpuUs: number
  readonly largeMs: number
  /** Latency of a long result relative to that without a bridge. */
  readonly largeTimes: number
  readonly idleMib: number
  readonly afterCallsMib: number
  readonly afterLargeMib: number
  readonly unreadMib: number
  readonly readMib: number
}

/** Returns the figures of a contender from the measurements. */
export function computeFigures(relays: Relays, { name, version }: Contender): Figures {
  const starts = relays.starts.get(name)
  const peer = relays.contenders.find((one) => one.program === reference && one.version === version)
  const inTurn = relays.inTurn.get(name)
  const atOnce = relays.atOnce.get(name)
  const perSecond = ({ calls, seconds }: { calls: number; seconds: number }) => calls / seconds
  const weight = relays.weights.get(name)
  const held = relays.held.get(name)?.[0]
  const cold = present(starts).map(({ coldMs }) => coldMs)
  return {
    coldMs: median(cold),
    coldMaxMs: cold.length === 0 ? Number.NaN : Math.max(...cold),
    coldShare: compared(starts, relays.starts.get(peer?.name ?? ''), (own, its) => own.coldMs / its.coldMs),
    endMs: medianRound(starts?.map((one) => one?.endMs)),
    p50Ms: medianRound(inTurn?.map((one) => one?.p50Ms)),
    p95Ms: medianRound(inTurn?.map((one) => one?.p95Ms)),
    addedP50Ms: compared(inTurn, relays.inTurn.get(direct), (own, its) => own.p50Ms - its.p50Ms),
    addedP95Ms: compared(inTurn, relays.inTurn.get(direct), (own, its) => own.p95Ms - its.p95Ms),
    cpuUs: cpuUsPerCall(present(inTurn)),
    perSecond: median(present(atOnce).map(perSecond)),
    perSecondShare: compared(
      atOnce,
      relays.atOnce.get(direct),
      (own, its) => perSecond(own) / perSecond(its),
    ),
    burstCpuUs: cpuUsPerCall(present(atOnce)),
    largeMs: medianRound(relays.large.get(name)),
    largeTimes: compared(relays.large.get(name), relays.large.get(direct), (own, its) => own / its),
    idleMib: (weight?.idle ?? Number.NaN) / mebibyte,
    afterCallsMib: (weight?.afterCalls ?? Number.NaN) / mebibyte,
    afterLargeMib: (weight?.afterLarge ?? Number.NaN) / mebibyte,
    unreadMib: (held?.unread ?? Number.NaN) / mebibyte,
    readMib: (held?.read ?? Number.NaN) / mebibyte,
  }
}

type Measured<T> = readonly (T | undefined)[] | undefined

/** Returns the completed rounds. */
export const present = <T>(rounds: Measured<T>): readonly T[] =>
  (rounds ?? []).filter((one) => one !== undefined)

/** Returns the median of the completed rounds. */
export const medianRound = (rounds: Measured<number>): number => median(present(rounds))

/** Returns the median ratio of two measurements of the same round, so that both ran under the same load. */
export function compared<T>(own: Measured<T>, others: Measured<T>, by: (own: T, other: T) => number): number {
  const pairs = (own ?? []).map((one, round) => {
    const other = others?.[round]
    return one === undefined || other === undefined ? undefined : by(one, other)
  })
  return medianRound(pairs)
}
