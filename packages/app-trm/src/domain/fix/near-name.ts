import { editDistance } from '@causeway/app-kit'

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
    const found = editDistance(name, other)
    if (found < least) [best, isTied, least] = [other, false, found]
    else if (found === least) isTied = true
  }
  return isTied ? undefined : best
}
