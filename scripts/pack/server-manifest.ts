import { packedPages } from '../../packages/app-help/src/build/source.ts'

/** The part of a package.json that packing reads. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly type: string
  readonly engines: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly files?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** A package.json with packages that travel inside. */
export interface ServerManifest extends Manifest {
  readonly bundleDependencies: readonly string[]
}

/** Our packages that a package needs, itself first, each once. */
export function needed(first: Manifest, ours: ReadonlyMap<string, Manifest>): readonly Manifest[] {
  const found = new Set([first])
  for (const { dependencies = {} } of found)
    for (const name of Object.keys(dependencies)) {
      const one = ours.get(name)
      if (one !== undefined) found.add(one)
    }
  return [...found]
}

/**
 * The package.json of the server as it is published: our packages travel inside, so that one name is all that a user
 * types, and everything of others is a dependency of the server itself. Throws where two want different versions.
 */
export function serverManifest(server: Manifest, ours: ReadonlyMap<string, Manifest>): ServerManifest {
  const [, ...inside] = needed(server, ours)
  const all = [server, ...inside]
  const foreign = (kind: 'dependencies' | 'optionalDependencies') =>
    united(all.map((one) => Object.entries(one[kind] ?? {}).filter(([name]) => !ours.has(name))))
  const { name, version, description, license, type, engines, bin = {} } = server
  const bundled = inside.map((one) => one.name).sort()
  return {
    name,
    version,
    description,
    license,
    type,
    engines,
    bin,
    files: ['bin', 'dist', packedPages],
    exports: withoutSource(server.exports),
    dependencies: {
      ...Object.fromEntries(bundled.map((one) => [one, version])),
      ...foreign('dependencies'),
    },
    optionalDependencies: foreign('optionalDependencies'),
    bundleDependencies: bundled,
  }
}

/** The package.json of one of our packages inside the server: what Node needs to find its modules. */
export const insideManifest = ({ name, version, description, license, type, exports }: Manifest): object => ({
  name,
  version,
  description,
  license,
  type,
  private: true,
  exports: withoutSource(exports),
})

/** Sources are not shipped, so that nothing may lead to them. */
const withoutSource = (exports: Manifest['exports'] = {}): NonNullable<Manifest['exports']> =>
  Object.fromEntries(
    Object.entries(exports).map(([path, conditions]) => [
      path,
      Object.fromEntries(Object.entries(conditions).filter(([name]) => name !== '@causeway/source')),
    ]),
  )

function united(
  lists: readonly (readonly (readonly [string, string])[])[],
): Readonly<Record<string, string>> {
  const versions = new Map<string, string>()
  for (const [name, version] of lists.flat()) {
    const other = versions.get(name)
    if (other !== undefined && other !== version)
      throw new Error(`our packages want ${name} ${other} and ${version}`)
    versions.set(name, version)
  }
  return Object.fromEntries([...versions].sort(([one], [other]) => (one < other ? -1 : 1)))
}
