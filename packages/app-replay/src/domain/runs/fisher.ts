/** A 2 × 2 table. */
export interface Counts {
  readonly badBefore: number
  readonly goodBefore: number
  readonly badAfter: number
  readonly goodAfter: number
}

/** Natural logarithms of factorials, shape [n + 1]. */
export function computeLogFactorials(n: number): Float64Array {
  const logs = new Float64Array(n + 1)
  for (let i = 2; i <= n; i++) logs[i] = (logs[i - 1] ?? 0) + Math.log(i)
  return logs
}

/**
 * Returns the hypergeometric distribution of the bad runs after the change: element i is the probability of
 * `lowest + i` bad runs.
 */
function getDistribution({ badBefore, goodBefore, badAfter, goodAfter }: Counts, logs: Float64Array) {
  const [bad, good, after] = [badBefore + badAfter, goodBefore + goodAfter, badAfter + goodAfter]
  const lowest = Math.max(0, after - good)
  const highest = Math.min(bad, after)
  const log = (n: number): number => logs[n] ?? 0
  const logBinomial = (n: number, k: number): number => log(n) - log(k) - log(n - k)
  const total = logBinomial(bad + good, after)
  const shares = new Float64Array(highest - lowest + 1)
  for (let k = lowest; k <= highest; k++)
    shares[k - lowest] = Math.exp(logBinomial(bad, k) + logBinomial(good, after - k) - total)
  return { lowest, shares }
}

/** Avoids iterators, which would dominate the search time. */
function convolve(a: Float64Array, b: Float64Array): Float64Array {
  const sums = new Float64Array(a.length + b.length - 1)
  for (let i = 0; i < a.length; i++) {
    const x = a[i] ?? 0
    for (let j = 0; j < b.length; j++) sums[i + j] = (sums[i + j] ?? 0) + x * (b[j] ?? 0)
  }
  return sums
}

/**
 * Returns the one-sided p-value of Fisher's exact test, conditional on each table's margins. `logs` must reach the
 * size of the largest table.
 */
export function computeFisherPValue(
  strata: readonly Counts[],
  logs: Float64Array = computeLogFactorials(getLargest(strata)),
): number {
  let observedCount = 0
  let lowest = 0
  let shares: Float64Array = Float64Array.of(1)
  for (const stratum of strata) {
    const distribution = getDistribution(stratum, logs)
    observedCount += stratum.badAfter
    lowest += distribution.lowest
    shares = convolve(shares, distribution.shares)
  }
  let tail = 0
  for (let i = shares.length - 1; i >= observedCount - lowest; i--) tail += shares[i] ?? 0
  return Math.min(1, tail)
}

const getLargest = (strata: readonly Counts[]): number =>
  Math.max(
    0,
    ...strata.map((stratum) => stratum.badBefore + stratum.goodBefore + stratum.badAfter + stratum.goodAfter),
  )

/** Returns the 95 % confidence interval of a share (E. B. Wilson, JASA 22, 1927); [0, 1] without trials. */
export function computeWilsonInterval(
  successes: number,
  trials: number,
): readonly [low: number, high: number] {
  if (trials === 0) return [0, 1]
  const z = 1.959964
  const share = successes / trials
  const scale = 1 + z ** 2 / trials
  const centre = (share + z ** 2 / (2 * trials)) / scale
  const half = (z * Math.sqrt((share * (1 - share)) / trials + z ** 2 / (4 * trials ** 2))) / scale
  return [Math.max(0, centre - half), Math.min(1, centre + half)]
}
