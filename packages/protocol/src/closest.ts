const maxWordLength = 100

/** Returns the most similar candidate; `undefined` if none is similar. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > maxWordLength) return undefined
  const limit = word.length < 3 ? 0 : Math.max(1, Math.floor(word.length / 3))
  let best: { candidate: string; distance: number } | undefined
  for (const candidate of candidates) {
    if (candidate.length > maxWordLength) continue
    const distance = editDistance(normalize(word), normalize(candidate))
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { candidate, distance }
  }
  return best?.candidate
}

const normalize = (word: string): string => word.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/** Returns the optimal string alignment distance; `Infinity` for input over 100 characters. */
export function editDistance(a: string, b: string): number {
  if (Math.max(a.length, b.length) > maxWordLength) return Number.POSITIVE_INFINITY
  const width = b.length + 1
  const cost = new Uint16Array((a.length + 1) * width)
  const getCost = (i: number, j: number): number => cost[i * width + j] ?? 0
  for (let i = 0; i <= a.length; i++) {
    for (let j = 0; j <= b.length; j++) {
      if (i === 0 || j === 0) {
        cost[i * width + j] = i + j
        continue
      }
      const substitution = getCost(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swap =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? getCost(i - 2, j - 2) + 1
          : substitution
      cost[i * width + j] = Math.min(getCost(i - 1, j) + 1, getCost(i, j - 1) + 1, substitution, swap)
    }
  }
  return getCost(a.length, b.length)
}
