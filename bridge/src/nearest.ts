/** The name that is most like a mistyped one: within a third of its length in single edits, or undefined. */
export function nearest(text: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, distance: distance(text, name) }))
    .sort((a, b) => a.distance - b.distance)
  return best !== undefined && best.distance <= Math.max(1, text.length / 3) ? best.name : undefined
}

/** Letters to insert, delete or replace to make one text the other (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (letter === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
