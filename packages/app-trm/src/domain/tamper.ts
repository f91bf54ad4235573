/** Changes that could make a critic say yes without the code being better. */

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
  return paths.flatMap((path): readonly Tampering[] => {
    const judge = judges.find(([pattern]) => pattern.test(path))
    if (judge !== undefined) return [{ path, why: judge[1], isTest: false }]
    if (commands.some((command) => mentions(command, path)))
      return [{ path, why: 'is run by a command of the session', isTest: false }]
    return tests.test(path) ? [{ path, why: 'is a test', isTest: true }] : []
  })
}

/** True where a command runs this very file: `python scripts/bench.py`. */
function mentions(command: string, path: string): boolean {
  return command.split(/[\s'"=;&|()]+/).some((word) => word.replace(/^\.\//, '') === path)
}
