/** Finds exports that no other file imports. */
import { posix } from 'node:path'
import { withoutComments } from './source.ts'
import { sources, type Texts } from './tree.ts'

const declared = /^export (?:abstract |async )?(?:const|function\*?|class) ([\w$]+)/gm
const listed = /^export \{([^}]*)\}(?! from)/gm
const taken = /\b(?:import|export) (?:type )?(?:[\w$]+, )?\{([^}]*)\} from '([^'\n]+)'/g
/** Imports that may use any export: a namespace, a default, a dynamic import, a worker's file. */
const whole =
  /(?:\*|\* as [\w$]+|import [\w$]+) from '([^'\n]+)'|\bimport\(\s*'([^'\n]+)'|\bnew URL\(\s*'([^'\n]+)'/g

/**
 * Returns the values that a package file exports and no other file imports, including tests and scripts, each as `path: problem`.
 * Exports of a package's entry points and types are exempt.
 */
export function unusedExports(texts: Texts): string[] {
  const entries = packageEntries(texts)
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

/** Returns the names that other files import from each file, or 'all'. */
function importedNames(texts: Texts): ReadonlyMap<string, ReadonlySet<string> | 'all'> {
  const imported = new Map<string, Set<string> | 'all'>()
  for (const [path, text] of texts) {
    if (!/\.(tsx?|mts|js|mjs)$/.test(path)) continue
    for (const [, list = '', from = ''] of text.matchAll(taken)) {
      const file = resolveImport(path, from)
      const names = imported.get(file) ?? new Set()
      imported.set(file, names)
      if (names !== 'all') for (const { before } of namesIn(list)) names.add(before)
    }
    for (const [, ...specifiers] of text.matchAll(whole))
      imported.set(resolveImport(path, specifiers.find((specifier) => specifier !== undefined) ?? ''), 'all')
  }
  return imported
}

const resolveImport = (path: string, from: string): string =>
  from.startsWith('.') ? posix.join(posix.dirname(path), from) : from

/** Returns the names of a list in braces, before and after `as`. */
const namesIn = (list: string): { readonly before: string; readonly after: string }[] =>
  list
    .split(',')
    .map((one) => one.trim().replace(/^type /, ''))
    .filter((one) => one !== '')
    .map((one) => one.split(' as '))
    .map(([before = '', after = before]) => ({ before, after }))

/** Returns the source files in the `exports` of all packages. */
function packageEntries(texts: Texts): ReadonlySet<string> {
  const manifests = [...texts].filter(([path]) => posix.basename(path) === 'package.json')
  return new Set(
    manifests.flatMap(([path, text]) =>
      [...text.matchAll(/"@causeway\/source": "([^"]+)"/g)].map(([, entry = '']) =>
        posix.join(posix.dirname(path), entry),
      ),
    ),
  )
}
