/** Clients add `mcp__causeway__` and allow 64 characters. */
const maxWireNameLength = 49
const hashLength = 8
const maxAppNameLength = 24

export type Digest = (text: string) => string

/**
 * Returns an app name for a server: `my-files` -> `MyFiles`. Adds a number if the name is taken. `isTaken` receives
 * lower-case names.
 */
export function chooseAppName(server: string, isTaken: (path: string) => boolean): string {
  const words = server.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  const joinedWords = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('')
  const name = (/^[A-Z]/.test(joinedWords) ? joinedWords : `Mcp${joinedWords}`).slice(0, maxAppNameLength)
  let uniqueName = name
  for (let suffix = 2; isTaken(uniqueName.toLowerCase()); suffix++) uniqueName = `${name}${suffix}`
  return uniqueName
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
  const entries = names.map((name) => ({ name, baseName: name.replaceAll(/[^A-Za-z0-9_-]/g, '_') }))
  const countByBaseName = new Map<string, number>()
  for (const { baseName } of entries) countByBaseName.set(baseName, (countByBaseName.get(baseName) ?? 0) + 1)
  return new Map(
    entries.map(({ name, baseName }) => {
      const wireName = `${app}__${baseName}`
      const isUnique = name === baseName || countByBaseName.get(baseName) === 1
      if (isUnique && wireName.length <= maxWireNameLength) return [name, wireName]
      return [
        name,
        `${wireName.slice(0, maxWireNameLength - hashLength - 1)}_${digest(name).slice(0, hashLength)}`,
      ]
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
    const escapedParts = pattern.split('*').map((part) => part.replaceAll(/[$()+.?[\\\]^{|}]/g, '\\$&'))
    return new RegExp(`^${escapedParts.join('.*')}$`).test(name)
  })
