/** Changes that could make a critic say yes without the code being better. */
import { scripts } from './command.ts'
import { globMatcher } from './glob.ts'

/** Files that decide what is tested and how. */
const judges: readonly (readonly [RegExp, string])[] = [
  [/(^|\/)conftest\.py$/, 'configures pytest'],
  [
    /(^|\/)(pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|\.coveragerc|\.flake8|mypy\.ini|\.pylintrc)$/,
    'configures the checks',
  ],
  [/(^|\/)sitecustomize\.py$/, 'runs inside every Python process'],
  [/(^|\/)package\.json$/, 'holds the scripts that run the checks'],
  [/(^|\/)(jest|vitest|vite|eslint|babel|mocha)\.?(config|rc)[\w.]*$/, 'configures the checks'],
  [/(^|\/)\.(mocharc|eslintrc|taprc|nycrc)[\w.]*$/, 'configures the checks'],
  [/(^|\/)tsconfig[\w.]*\.json$/, 'configures the compiler'],
]

const tests = /(^|\/)(tests?|__tests__|spec)\/|(^|\/)test_[^/]*\.py$|_test\.py$|\.(test|spec)\.[cm]?[jt]sx?$/

/** A file that judges the candidate and is changed by it. */
export interface Tampering {
  readonly path: string
  readonly why: string
  /** true for tests themselves, false for what configures them */
  readonly isTest: boolean
}

/** Which of the changed files judge the candidate; `commands` are those of the session, whose scripts judge too. */
export function tampering(paths: readonly string[], commands: readonly string[]): readonly Tampering[] {
  const run = new Set(commands.flatMap(scripts))
  return paths.flatMap((path): readonly Tampering[] => {
    const judge = judges.find(([pattern]) => pattern.test(path))
    if (judge !== undefined) return [{ path, why: judge[1], isTest: false }]
    if (run.has(path)) return [{ path, why: 'is run by a command of the session', isTest: false }]
    return tests.test(path) ? [{ path, why: 'is a test', isTest: true }] : []
  })
}

/**
 * What becomes of a candidate that changes files that judge it. `compare` judges it a second time with them as they were
 * at the start; a list refuses it where it changes what the list names: patterns of paths, or `tests` for all that judge.
 */
export type Protection = 'compare' | readonly string[]

/** The paths that a candidate may not change. */
export function protectedPaths(
  paths: readonly string[],
  protection: Protection,
  commands: readonly string[],
): readonly string[] {
  if (protection === 'compare') return []
  const judging = protection.includes('tests')
    ? new Set(tampering(paths, commands).map(({ path }) => path))
    : new Set<string>()
  const matchers = protection.filter((entry) => entry !== 'tests').map(globMatcher)
  return paths.filter((path) => judging.has(path) || matchers.some((matches) => matches(path)))
}
