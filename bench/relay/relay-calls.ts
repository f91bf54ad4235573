import { cpuMs } from '../program.ts'
import { median, quantile } from '../rounds.ts'

/** A peer that accepts calls: a bridge, or the server itself. */
export interface Side {
  readonly name: string
  /** Process of the bridge; undefined for the server. */
  readonly pid: number | undefined
  ask(message: object): Promise<unknown>
}

/** A round of calls. */
export interface Calls {
  readonly calls: number
  readonly seconds: number
  /** Latency of one call in milliseconds. */
  readonly p50Ms: number
  readonly p95Ms: number
  /** CPU time of the bridge for all of them in milliseconds; NaN if it is not available. */
  readonly cpuMs: number
}

const call = (name: string, args: object): object => ({
  method: 'tools/call',
  params: { name, arguments: args },
})

/** A call with a short result. */
export const shortCall = call('echo', { text: 'hello' })

/** A call whose result has about this many bytes. */
export const longCall = (bytes: number): object => call('fill', { letters: Math.floor(bytes / 2) })

/** Makes a number of sequential calls. */
export function inTurn(side: Side, count: number): Promise<Calls> {
  return measured(side, 1, (made) => made < count)
}

/** Keeps a number of calls in flight for a time in milliseconds. */
export function atOnce(side: Side, { inFlight, ms }: { inFlight: number; ms: number }): Promise<Calls> {
  const end = performance.now() + ms
  return measured(side, inFlight, () => performance.now() < end)
}

async function measured(side: Side, inFlight: number, goesOn: (made: number) => boolean): Promise<Calls> {
  const cpu = () => (side.pid === undefined ? undefined : cpuMs(side.pid)) ?? Number.NaN
  const times: number[] = []
  const cpuBefore = cpu()
  const start = performance.now()
  const one = async (): Promise<void> => {
    while (goesOn(times.length)) {
      const before = performance.now()
      await side.ask(shortCall)
      times.push(performance.now() - before)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, one))
  return {
    calls: times.length,
    seconds: (performance.now() - start) / 1000,
    p50Ms: median(times),
    p95Ms: quantile(times, 0.95),
    cpuMs: cpu() - cpuBefore,
  }
}

/** Returns the CPU time of one call over all rounds in microseconds. Its clock has ticks of 10 ms, too coarse for one round. */
export function cpuUsPerCall(rounds: readonly Calls[]): number {
  const sum = (of: (round: Calls) => number): number => rounds.reduce((total, round) => total + of(round), 0)
  return (sum((round) => round.cpuMs) * 1000) / sum((round) => round.calls)
}
