/** A candidate that is measured together with others. */
export interface Candidate<T> {
  readonly name: string
  run(): Promise<T>
}

/**
 * Runs every candidate once per round, A B C A B C, so that a slow phase of the machine affects all of them. No round starts after
 * `capMs`. Returns the measurements by name, in the order of the rounds.
 */
export async function interleaved<T>(
  candidates: readonly Candidate<T>[],
  rounds: number,
  capMs = Number.POSITIVE_INFINITY,
): Promise<ReadonlyMap<string, readonly T[]>> {
  const measured = new Map<string, T[]>(candidates.map(({ name }) => [name, []]))
  const end = performance.now() + capMs
  for (let round = 0; round < rounds && (round === 0 || performance.now() < end); round += 1)
    for (const { name, run } of candidates) measured.get(name)?.push(await run())
  return measured
}

/** Returns the median; of an even number of values, the lower middle one. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** Returns the quantile of sorted values, with a share from 0 to 1. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN
}
