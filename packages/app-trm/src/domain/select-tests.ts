/** How a test command is made to run a few of its tests. */

/** The command and its environment for that. */
export interface SelectedTests {
  readonly command: string
  /** added to what the runner's own variables hold */
  readonly env: { readonly PYTEST_ADDOPTS?: string; readonly NODE_OPTIONS?: string }
}

/**
 * The command for tests by their ids; `source` is what the last run was read from. Runners choose by name, so that tests
 * of the same name elsewhere may run too. Undefined where the runner cannot choose, or stands in a line of shell that
 * nothing can be appended to.
 */
export function selectTests(
  command: string,
  source: string,
  ids: readonly string[],
): SelectedTests | undefined {
  if (/\bpy\.?test\b/.test(command))
    return { command, env: { PYTEST_ADDOPTS: `-k "${[...new Set(ids.map(pytestName))].join(' or ')}"` } }
  const plain = command.trim()
  const isPlain = !/[;&|<>`$()\n\\]/.test(plain)
  const runner = /\b(vitest|jest|mocha|unittest)\b/.exec(plain)?.[1]
  if (runner === undefined)
    return source === 'junit'
      ? { command, env: { NODE_OPTIONS: `--test-name-pattern="${quoted(titles(ids))}"` } }
      : undefined
  if (!isPlain) return undefined
  if (runner === 'unittest')
    return { command: [plain, ...ids.map((id) => `-k ${shell(unittestName(id))}`)].join(' '), env: {} }
  return { command: `${plain} ${runner === 'mocha' ? '-g' : '-t'} ${shell(titles(ids))}`, env: {} }
}

/** `tests.test_sums.TestMean::test_many[1] #2` -> `test_many`: what `-k` of pytest takes has no brackets. */
const pytestName = (id: string): string =>
  (unnumbered(id).split('::').at(-1)?.split('[')[0]?.split('.').at(-1) ?? '').replace(/\W/g, '')

/** `module.Class.test_a (n=2)` -> `module.Class.test_a`; what could not be loaded goes by the name of its module. */
const unittestName = (id: string): string =>
  unnumbered(id)
    .replace(/ [([].*$/, '')
    .replace(/^unittest\.loader\._FailedTest\./, '')

/** A regular expression for the titles of tests: `file > suite > name` -> `name`. */
const titles = (ids: readonly string[]): string =>
  [
    ...new Set(
      ids.map(
        (id) =>
          unnumbered(id)
            .split(/ > |::/)
            .at(-1) ?? '',
      ),
    ),
  ]
    .map(literally)
    .join('|')

const unnumbered = (id: string): string => id.replace(/ #\d+$/, '')

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Within the double quotes of `NODE_OPTIONS`. */
const quoted = (text: string): string => text.replace(/["\\]/g, '\\$&')

const shell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
