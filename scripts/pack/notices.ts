import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A third-party package, with the text of its license file. */
export interface Component {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly text: string
}

/** An entry of `packages` in package-lock.json. */
interface LockedPackage {
  readonly version?: string
  readonly license?: string
  readonly link?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** The `packages` of package-lock.json by path. */
export type LockedPackages = Readonly<Record<string, LockedPackage>>

/** Reads an installed package. Throws if it contains no license file, because its text must be distributed. */
export function readComponent(folder: string): Component {
  const { name, version, license } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Component
  const [file] = globSync('{LICENSE,LICENCE,license,licence,COPYING}*', { cwd: folder }).sort()
  if (file === undefined) throw new Error(`${name} contains no license file; add its license text by hand`)
  return { name, version, license, text: readFileSync(join(folder, file), 'utf8').trim() }
}

/** Returns the folders below `node_modules` whose files esbuild included in a bundle. */
export function bundledFolders(inputs: Iterable<string>): readonly string[] {
  const folders = [...inputs].flatMap(
    (path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? [],
  )
  return [...new Set(folders)].sort()
}

/** Returns the paths of the third-party packages that these imports of a workspace package need, directly or indirectly. */
export function findPackages(
  folder: string,
  names: readonly string[],
  locked: LockedPackages,
): readonly string[] {
  const found = new Set<string>()
  const visit = (name: string, from: string): void => {
    const path = findLocked(name, from, locked)
    const entry = locked[path]
    if (entry === undefined || entry.link || found.has(path)) return
    found.add(path)
    for (const next of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }))
      visit(next, path)
  }
  for (const name of names) visit(name, folder)
  return [...found].sort()
}

/** Returns one line for each third-party package that npm installs for the workspace packages in these folders. */
export function listInstalled(workspaces: readonly string[], locked: LockedPackages): readonly string[] {
  const paths = workspaces.flatMap((folder) =>
    findPackages(
      folder,
      Object.keys({ ...locked[folder]?.dependencies, ...locked[folder]?.optionalDependencies }),
      locked,
    ),
  )
  const lines = paths.map(
    (path) => `${path.replace(/^.*node_modules\//, '')} ${locked[path]?.version}: ${locked[path]?.license}`,
  )
  return [...new Set(lines)].sort()
}

/** Returns the path of the package that Node resolves for an import from `from`. It may be absent if it is optional. */
function findLocked(name: string, from: string, locked: LockedPackages): string {
  for (
    let folder = from;
    folder !== '';
    folder = folder.replace(/\/?(?:node_modules\/(?:@[^/]+\/)?)?[^/]+$/, '')
  ) {
    const path = `${folder}/node_modules/${name}`
    if (locked[path] !== undefined) return path
  }
  return `node_modules/${name}`
}

/** Returns a notices file: the license of every third-party project whose code or data a package contains. */
export function formatNotices(contained: readonly Component[]): string {
  const line = '='.repeat(78)
  const parts = contained.map(
    ({ name, version, license, text }) => `${line}\n${name} ${version} (${license})\n${line}\n\n${text}\n`,
  )
  return ['Code and data of other projects in this package, with their licenses.\n', ...parts].join('\n')
}

/** Returns the part of a notices file about packages that npm installs in addition. */
export const formatInstalled = (lines: readonly string[]): string =>
  `Packages that npm installs in addition; each contains its license.\n\n${lines.join('\n')}\n`
