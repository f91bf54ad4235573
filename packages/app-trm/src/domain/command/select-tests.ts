import { isSimple } from './command.ts'

export interface SelectedTests {
  readonly command: string
  /** Added to the values of the variables. */
  readonly env: { readonly PYTEST_ADDOPTS?: string; readonly NODE_OPTIONS?: string }
}

/**
 * Returns the command that runs tests by id. `source` is that of the last run. Runners select by name, so that other tests
 * with the same name run too. Returns `undefined` if the runner cannot select tests or the command is not simple.
 */
export function selectTests(
  command: string,
  source: string,
  ids: readonly string[],
): SelectedTests | undefined {
  const plainIds = ids.map((id) => id.replace(/ #\d+$/, ''))
  if (/\bpy\.?test\b/.test(command)) {
    const names = new Set(plainIds.map(toPytestName))
    return { command, env: { PYTEST_ADDOPTS: `-k "${[...names].join(' or ')}"` } }
  }
  const simple = command.trim()
  const runner = /\b(vitest|jest|mocha|unittest)\b/.exec(simple)?.[1]
  // A regular expression for titles: `file > suite > name` has the title `name`.
  const titles = new Set(plainIds.map((id) => id.split(/ > |::/).at(-1) ?? ''))
  const pattern = [...titles].map((title) => title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
  if (runner === undefined) {
    const quoted = pattern.replace(/["\\]/g, '\\$&')
    return source === 'junit'
      ? { command, env: { NODE_OPTIONS: `--test-name-pattern="${quoted}"` } }
      : undefined
  }
  if (!isSimple(simple)) return undefined
  const args =
    runner === 'unittest'
      ? plainIds.map((id) => `-k ${quote(toUnittestName(id))}`)
      : [runner === 'mocha' ? '-g' : '-t', quote(pattern)]
  return { command: [simple, ...args].join(' '), env: {} }
}

/** `tests/test_sums.py::TestMean::test_many[1]` becomes `test_many`, a file its module: `-k` of pytest accepts words. */
const toPytestName = (id: string): string =>
  (
    id
      .replace(/\[.*$/s, '')
      .replace(/\.py$/, '')
      .split(/::|[./]/)
      .at(-1) ?? ''
  ).replace(/\W/g, '')

/** `module.Class.test_a (n=2)` becomes `module.Class.test_a`; a file that could not be loaded becomes its module. */
const toUnittestName = (id: string): string =>
  id.replace(/ [([].*$/, '').replace(/^unittest\.loader\._FailedTest\./, '')

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
