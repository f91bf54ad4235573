/** Clients add `mcp__causeway__` and allow 64 characters. */
const maxWireName = 49
const hashLength = 8
const maxAppName = 24

export type Digest = (text: string) => string

/**
 * Returns an app name for a server: `my-files` -> `MyFiles`. Adds a number if the name is taken. `isTaken` receives
 * lower-case names.
 */
export function chooseAppName(server: string, isTaken: (path: string) => boolean): string {
  const words = server.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  const joined = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('')
  const name = (/^[A-Z]/.test(joined) ? joined : `Mcp${joined}`).slice(0, maxAppName)
  let chosen = name
  for (let number = 2; isTaken(chosen.toLowerCase()); number++) chosen = `${name}${number}`
  return chosen
}

/**
 * Returns wire names by the server's names: `get-env` -> `Everything__get-env`. A name that is too long or ambiguous
 * ends with a hash.
 */
export function chooseWireNames(
  app: string,
  names: readonly string[],
  digest: Digest,
): ReadonlyMap<string, string> {
  const entries = names.map((name) => ({ name, plain: name.replaceAll(/[^A-Za-z0-9_-]/g, '_') }))
  const counts = new Map<string, number>()
  for (const { plain } of entries) counts.set(plain, (counts.get(plain) ?? 0) + 1)
  return new Map(
    entries.map(({ name, plain }) => {
      const wire = `${app}__${plain}`
      const isUnique = name === plain || counts.get(plain) === 1
      if (isUnique && wire.length <= maxWireName) return [name, wire]
      return [name, `${wire.slice(0, maxWireName - hashLength - 1)}_${digest(name).slice(0, hashLength)}`]
    }),
  )
}

export function removeDuplicates<T extends { readonly name: string }>(entries: readonly T[]): readonly T[] {
  const byName = new Map<string, T>()
  for (const entry of entries) if (!byName.has(entry.name)) byName.set(entry.name, entry)
  return [...byName.values()]
}

/** `*` matches any characters. */
export const matchesPattern = (name: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => {
    const parts = pattern.split('*').map((part) => part.replaceAll(/[$()+.?[\\\]^{|}]/g, '\\$&'))
    return new RegExp(`^${parts.join('.*')}$`).test(name)
  })
