import { isSimple } from './command.ts'

export interface SelectedTests {
  readonly command: string
  /** Values to append to those of existing variables. */
  readonly env: { readonly PYTEST_ADDOPTS?: string; readonly NODE_OPTIONS?: string }
}

/**
 * Returns the command that runs tests by id, or `undefined` if the runner cannot select tests or the command is not
 * simple. `source` is that of the last `TestRun`. Other tests with the same name also run.
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
  const trimmedCommand = command.trim()
  const runner = /\b(vitest|jest|mocha|unittest)\b/.exec(trimmedCommand)?.[1]
  // The title of `file > suite > name` is `name`.
  const titles = new Set(plainIds.map((id) => id.split(/ > |::/).at(-1) ?? ''))
  const pattern = [...titles].map((title) => title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
  if (runner === undefined) {
    const quoted = pattern.replace(/["\\]/g, '\\$&')
    return source === 'junit'
      ? { command, env: { NODE_OPTIONS: `--test-name-pattern="${quoted}"` } }
      : undefined
  }
  if (!isSimple(trimmedCommand)) return undefined
  const args =
    runner === 'unittest'
      ? plainIds.map((id) => `-k ${quote(toUnittestName(id))}`)
      : [runner === 'mocha' ? '-g' : '-t', quote(pattern)]
  return { command: [trimmedCommand, ...args].join(' '), env: {} }
}

/**
 * Returns a word for pytest's `-k`, such as `test_many` for `tests/test_sums.py::TestMean::test_many[1]`, or the
 * module for a file.
 */
const toPytestName = (id: string): string =>
  (
    id
      .replace(/\[.*$/s, '')
      .replace(/\.py$/, '')
      .split(/::|[./]/)
      .at(-1) ?? ''
  ).replace(/\W/g, '')

/**
 * Returns `module.Class.test_a` for `module.Class.test_a (n=2)`, or the module for a file that could not be loaded.
 */
const toUnittestName = (id: string): string =>
  id.replace(/ [([].*$/, '').replace(/^unittest\.loader\._FailedTest\./, '')

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
