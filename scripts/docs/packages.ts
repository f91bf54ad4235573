import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isApp, mayImport } from '../../test/architecture/rules.ts'
import { codeSpan, table } from './table.ts'

/** A workspace package in the documentation. */
export interface PackageLine {
  /** Path from the root of the repository: `packages/store`, `server`. */
  readonly folder: string
  /** The description in its `package.json`. */
  readonly about: string
}

/** Reads the packages of the repository. */
export const readPackages = (root: string): readonly PackageLine[] =>
  globSync(['packages/*/package.json', 'server/package.json', 'bridge/package.json'], { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .map((path) => ({
      folder: path.replace('/package.json', ''),
      about: String(JSON.parse(readFileSync(join(root, path), 'utf8')).description),
    }))

/** Returns the table of packages and the workspace packages that each may import; a package imports only packages above it. */
export function packageTable(packages: readonly PackageLine[]): string {
  const names = packages.map(shortName)
  const allowed = (line: PackageLine) => names.filter((name) => mayImport(shortName(line), name)).sort()
  const sorted = packages.toSorted(
    (a, b) => allowed(a).length - allowed(b).length || (shortName(a) < shortName(b) ? -1 : 1),
  )
  return table(
    ['package', 'contents', 'may import'],
    sorted.map((line) => [codeSpan(line.folder), line.about, inWords(allowed(line))]),
  )
}

const shortName = ({ folder }: PackageLine): string => folder.replace('packages/', '')

function inWords(imports: readonly string[]): string {
  if (imports.length === 0) return 'none'
  const others = imports.filter((name) => !isApp(name)).map(codeSpan)
  return [...(others.length < imports.length ? ['every app'] : []), ...others].join(', ')
}
