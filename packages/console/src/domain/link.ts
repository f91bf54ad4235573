/** Parses what follows `#` in the address of a page: `frame=45&body=1`. */
export const parseHash = (hash: string): ReadonlyMap<string, string> =>
  new Map(new URLSearchParams(hash.replace(/^#/, '')))

/** Returns the text for an address. Entries that are `undefined` are left out; entries of other pages remain. */
export function formatHash(current: string, entries: Readonly<Record<string, string | undefined>>): string {
  const parts = new Map(parseHash(current))
  for (const [name, value] of Object.entries(entries))
    if (value === undefined) parts.delete(name)
    else parts.set(name, value)
  return [...parts].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
}
