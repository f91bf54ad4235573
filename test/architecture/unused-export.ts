/** Exports of the packages that no other file takes. */
import { posix } from 'node:path'
import { withoutComments } from './source.ts'
import { sources, type Texts } from './tree.ts'

const declared = /^export (?:abstract |async )?(?:const|function\*?|class) ([\w$]+)/gm
const listed = /^export \{([^}]*)\}(?! from)/gm
const taken = /\b(?:import|export) (?:type )?(?:[\w$]+, )?\{([^}]*)\} from '([^'\n]+)'/g
/** Forms that may take anything: a namespace, a default, a dynamic import, the file of a worker. */
const whole =
  /(?:\*|\* as [\w$]+|import [\w$]+) from '([^'\n]+)'|\bimport\(\s*'([^'\n]+)'|\bnew URL\(\s*'([^'\n]+)'/g

/**
 * Values that a file of a package exports and no other file imports, tests and scripts included, each `path: what is wrong`.
 * What the entries of a package export is for others and needs nobody here; types name the shapes of what is exported.
 */
export function unusedExports(texts: Texts): string[] {
  const entries = entriesOf(texts)
  const imported = importedNames(texts)
  return sources(texts).flatMap(({ path, text }) => {
    const names = imported.get(path)
    if (names === 'all' || entries.has(path)) return []
    const code = withoutComments(text)
    const exported = [
      ...[...code.matchAll(declared)].map(([, name = '']) => name),
      ...[...code.matchAll(listed)].flatMap(([, list = '']) => namesIn(list).map(({ after }) => after)),
    ]
    return exported
      .filter((name) => names?.has(name) !== true)
      .map((name) => `${path}: no other file imports ${name}; drop its export`)
  })
}

/** File -> the names that others import from it, or all of them. */
function importedNames(texts: Texts): ReadonlyMap<string, ReadonlySet<string> | 'all'> {
  const imported = new Map<string, Set<string> | 'all'>()
  for (const [path, text] of texts) {
    if (!/\.(ts|mts|js|mjs)$/.test(path)) continue
    for (const [, list = '', from = ''] of text.matchAll(taken)) {
      const file = fileOf(path, from)
      const names = imported.get(file) ?? new Set()
      imported.set(file, names)
      if (names !== 'all') for (const { before } of namesIn(list)) names.add(before)
    }
    for (const [, ...specifiers] of text.matchAll(whole))
      imported.set(fileOf(path, specifiers.find((specifier) => specifier !== undefined) ?? ''), 'all')
  }
  return imported
}

const fileOf = (path: string, from: string): string =>
  from.startsWith('.') ? posix.join(posix.dirname(path), from) : from

/** The names of a list in braces: before and after an `as`. */
const namesIn = (list: string): { readonly before: string; readonly after: string }[] =>
  list
    .split(',')
    .map((one) => one.trim().replace(/^type /, ''))
    .filter((one) => one !== '')
    .map((one) => one.split(' as '))
    .map(([before = '', after = before]) => ({ before, after }))

/** The sources that packages name in their `exports`. */
function entriesOf(texts: Texts): ReadonlySet<string> {
  const manifests = [...texts].filter(([path]) => posix.basename(path) === 'package.json')
  return new Set(
    manifests.flatMap(([path, text]) =>
      [...text.matchAll(/"@causeway\/source": "([^"]+)"/g)].map(([, entry = '']) =>
        posix.join(posix.dirname(path), entry),
      ),
    ),
  )
}
