import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isApp, mayImport } from '../../test/architecture/rules.ts'
import { codeSpan, table } from './table.ts'

/** One of our packages as the documentation shows it. */
export interface PackageLine {
  /** From the root of the repository: `packages/store`, `server`. */
  readonly folder: string
  /** Its description in `package.json`. */
  readonly about: string
}

/** Every package of the repository, by the `package.json` in its folder. */
export const readPackages = (root: string): readonly PackageLine[] =>
  globSync(['packages/*/package.json', 'server/package.json', 'bridge/package.json'], { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .map((path) => ({
      folder: path.replace('/package.json', ''),
      about: String(JSON.parse(readFileSync(join(root, path), 'utf8')).description),
    }))

/** The table of every package and of ours that it may import; none imports what stands below it. */
export function packageTable(packages: readonly PackageLine[]): string {
  const names = packages.map(nameOf)
  const importsOf = (line: PackageLine) => names.filter((name) => mayImport(nameOf(line), name)).sort()
  const sorted = packages.toSorted(
    (a, b) => importsOf(a).length - importsOf(b).length || (nameOf(a) < nameOf(b) ? -1 : 1),
  )
  return table(
    ['package', 'what lives there', 'may import'],
    sorted.map((line) => [codeSpan(line.folder), line.about, inWords(importsOf(line))]),
  )
}

const nameOf = ({ folder }: PackageLine): string => folder.replace('packages/', '')

function inWords(imports: readonly string[]): string {
  if (imports.length === 0) return 'none of ours'
  const others = imports.filter((name) => !isApp(name)).map(codeSpan)
  return [...(others.length < imports.length ? ['every app'] : []), ...others].join(', ')
}
