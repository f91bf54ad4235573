export function findNearestNames(word: string, names: readonly string[], max = 3): string[] {
  const wordTrigrams = listTrigrams(word)
  return names
    .map((name) => ({ name, similarity: computeSimilarity(wordTrigrams, listTrigrams(name)) }))
    .filter(({ similarity }) => similarity > 0.15)
    .sort((a, b) => b.similarity - a.similarity || (a.name < b.name ? -1 : 1))
    .slice(0, max)
    .map(({ name }) => name)
}

function listTrigrams(text: string): ReadonlySet<string> {
  const padded = ` ${text.toLowerCase()} `
  return new Set(Array.from({ length: Math.max(padded.length - 2, 1) }, (_, i) => padded.slice(i, i + 3)))
}

/** Returns Dice's coefficient, 0 to 1. */
function computeSimilarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let sharedCount = 0
  for (const trigram of a) if (b.has(trigram)) sharedCount++
  return (2 * sharedCount) / (a.size + b.size)
}
