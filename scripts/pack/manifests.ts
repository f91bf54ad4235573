import { packedPagesFolder } from '../../packages/app-help/src/build/source.ts'

/** The fields of a package.json that packing reads. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly author?: string
  readonly keywords?: readonly string[]
  readonly type: string
  readonly engines: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly files?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** The file with the licenses of third-party code in a package. */
export const noticesFile = 'THIRD-PARTY-NOTICES.txt'

/** A package.json with bundled packages. */
interface ServerManifest extends Manifest {
  readonly bundleDependencies: readonly string[]
}

/** Returns a package and the workspace packages that it depends on, directly or indirectly. */
export function withDependencies(first: Manifest, ours: ReadonlyMap<string, Manifest>): readonly Manifest[] {
  const found = new Set([first])
  for (const { dependencies = {} } of found)
    for (const name of Object.keys(dependencies)) {
      const one = ours.get(name)
      if (one !== undefined) found.add(one)
    }
  return [...found]
}

/**
 * Returns the package.json of the published server: workspace packages are bundled, and third-party packages are dependencies of
 * the server. Throws if two packages require different versions.
 */
export function serverManifest(server: Manifest, ours: ReadonlyMap<string, Manifest>): ServerManifest {
  const [, ...inside] = withDependencies(server, ours)
  const all = [server, ...inside]
  const foreign = (kind: 'dependencies' | 'optionalDependencies') =>
    mergeVersions(all.map((one) => Object.entries(one[kind] ?? {}).filter(([name]) => !ours.has(name))))
  const { name, version, description, keywords = [], license, author = '', type, engines, bin = {} } = server
  const bundled = inside.map((one) => one.name).sort()
  return {
    name,
    version,
    description,
    keywords,
    license,
    author,
    type,
    engines,
    bin,
    files: ['bin', 'bridge', 'dist', packedPagesFolder, noticesFile],
    exports: withoutSource(server.exports),
    dependencies: {
      ...Object.fromEntries(bundled.map((one) => [one, version])),
      ...foreign('dependencies'),
    },
    optionalDependencies: foreign('optionalDependencies'),
    bundleDependencies: bundled,
  }
}

/** Returns the package.json of a bundled package: the fields that Node needs to resolve its modules. */
export const bundledManifest = ({
  name,
  version,
  description,
  license,
  type,
  exports,
}: Manifest): object => ({
  name,
  version,
  description,
  license,
  type,
  private: true,
  exports: withoutSource(exports),
})

/** Removes the source condition, because sources are not published. */
const withoutSource = (exports: Manifest['exports'] = {}): NonNullable<Manifest['exports']> =>
  Object.fromEntries(
    Object.entries(exports).map(([path, conditions]) => [
      path,
      Object.fromEntries(Object.entries(conditions).filter(([name]) => name !== '@causeway/source')),
    ]),
  )

function mergeVersions(
  lists: readonly (readonly (readonly [string, string])[])[],
): Readonly<Record<string, string>> {
  const versions = new Map<string, string>()
  for (const [name, version] of lists.flat()) {
    const other = versions.get(name)
    if (other !== undefined && other !== version)
      throw new Error(`packages require different versions of ${name}: ${other} and ${version}`)
    versions.set(name, version)
  }
  return Object.fromEntries([...versions].sort(([one], [other]) => (one < other ? -1 : 1)))
}
