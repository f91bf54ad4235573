/** Most letters in which a misspelt name may differ. */
const farthest = 2

/**
 * The one name that is nearest to a misspelt one, by letters changed, added, left out or exchanged with a neighbour;
 * undefined where none is within two, where two are equally near, or where the name is too short to tell.
 */
export function nearName(name: string, names: Iterable<string>): string | undefined {
  const most = Math.min(farthest, Math.floor(name.length / 3))
  let [best, isTied, least] = [undefined as string | undefined, false, most + 1]
  for (const other of new Set(names)) {
    if (other === name || Math.abs(other.length - name.length) > most) continue
    const found = distance(name, other)
    if (found < least) [best, isTied, least] = [other, false, found]
    else if (found === least) isTied = true
  }
  return isTied ? undefined : best
}

/** Optimal string alignment distance. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const now = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      now[column] = Math.min(
        (last[column] ?? 0) + 1,
        (now[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    before = last
    last = now
  }
  return last[b.length] ?? 0
}
