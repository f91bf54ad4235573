import type { SignalKind } from './signal.ts'

/** Code without use outside an evaluation, and the signal that it can forge. */
const suspiciousCode: readonly (readonly [SignalKind, RegExp, string])[] = [
  [
    'test',
    /^\s*(?:import|from)\s+(?:unittest|_?pytest|nose)\b|['"](?:(?:unittest|pytest|_pytest)(?:\.[\w.]+)?|node:test|vitest)['"]/,
    'uses the test framework',
  ],
  [
    'test',
    /^\s*(?:from|import)\s+(?:\w+\.)*(?:test_\w+|\w+_tests?|tests|conftest)\b|\b(?:require|import)\b.*['"][^'"]*(?:\.(?:test|spec)\b|\/(?:tests?|__tests__)\/)/,
    'imports tests',
  ],
  [
    'test',
    /['"][^'"]*(?:\btest_?[\w*?{}]*\.py|_test\.py|\.(?:test|spec)\.[cm]?[jt]sx?)['"]/,
    'names a test file',
  ],
  [
    'test',
    /\b(?:exists(?:Sync)?|is_?(?:dir|file)|listdir|r?glob|iterdir|readdir(?:Sync)?|scandir)\([^)]*['"](?:\.\/)?(?:tests?|specs?|__tests__)\b/,
    'looks for tests',
  ],
  [
    'test',
    /(['"])\w{1,16}\1\s*\+\s*(['"])\w{1,16}\2|(['"])\w+\3 (['"])\w+\4|\[\s*(?:['"]\w*['"]\s*(?:,\s*)?)+\]\s*\.join\(\s*['"]{2}\s*\)|['"]{2}\.join\(\s*[[(]\s*(?:['"]\w*['"]\s*(?:,\s*)?)+[\])]/,
    'assembles a name from parts',
  ],
  [
    'test',
    /(?<!\bdef |\bfunction |[.\w])(?:exec|eval)\((?!\s*(['"])[^'"\\]{0,12}\1\s*\))|\bnew Function\(|\bmarshal\.loads\b|\bvm\.run\w+\(/,
    'runs code from a text',
  ],
  [
    'test',
    /['"](?:[^'"]*[\W_])?(?:expected|golden|oracle|answers?|solutions?)(?:[\W_][^'"]*)?\.\w+['"]/,
    'names expected values',
  ],
  ['test', /\bdef pytest_\w+\s*\(|\bpytest_plugins\s*=/, 'is a plugin of pytest'],
  ['test', /__(?:eq|ne)__\s*=|['"]__(?:eq|ne)__['"]/, 'replaces a comparison'],
  // Patterns, because the architecture test finds names of clocks in domain code.
  [
    'perf',
    /\b(?:time|perf\w+|proc\w+|Dat\w)\.(?:time|perf_counter|monotonic|process_time|now|hrtime)(?:_ns)?\s*=[^=]/,
    'replaces the clock',
  ],
  ['test', /\bSkipTest\b|\bskipTest\b|\bpytest\.skip\b/, 'skips tests'],
  [
    'test',
    /\bos\._exit\b|\batexit\b|\bprocess\.(?:reallyExit|exitCode|on\(\s*['"](?:exit|beforeExit))/,
    'ends the process or runs at its end',
  ],
  [
    'test',
    /\bsys\.(?:settrace|setprofile|_getframe|_current_frames|modules)\b|\b(?:tb_frame|f_back|f_code|f_lineno|f_locals|f_globals|co_filename)\b|\btraceback\.(?:extract|format|walk|print)_stack\b|\bprepareStackTrace\b|\.stack\b.*\.(?:split|match|includes)\(|\bnew Error\([^)]*\)\.stack\b|\bgc\.get_(?:objects|referrers)\b|\binspect\.(?:stack|currentframe|getouterframes)\b|\/proc\/self|\b(?:argv|execArgv)\b.*(?:test|junit)|\bimport __main__\b|\bfindCaller\b|\bcatch_warnings\(record|\bcaptureStackTrace\b|\bsys\.__dict__|\b(?:vars|getattr)\(sys\b|\.sys\.|\bmodule\.parent\b|\brequire\.main\b(?!\s*===?\s*module\s*\))/,
    'inspects its caller',
  ],
  [
    'test',
    /PYTEST_CURRENT_TEST|PYTEST_ADDOPTS|junitxml|NODE_OPTIONS|NODE_TEST_CONTEXT|JEST_WORKER_ID|\bVITEST\b|\bnpm_(?:lifecycle_\w+|command)\b|CAUSEWAY_|\bObject\.(?:keys|entries)\((?:\w+\.)?env\b|\benviron\.(?:keys|items)\(|\bin os\.environ:|\b(?:environ|getenv|env)\b.*\b(?:CI|PYTHONHASHSEED|PYTHONDONTWRITEBYTECODE)\b/,
    'reads variables of the test runner',
  ],
  [
    'test',
    /\bbuiltins\.\w+\s*=[^=]|__builtins__|\b(?:TestCase|assert|expect)(?:\/strict)?(?:['"]\))?\.\w+\s*=[^=]|\bObject\.(?:assign|defineProperty|defineProperties)\([^,]*\bassert\b|\.(?:equal|(?:strict|deep|deepStrict)Equal)\s*=[^=>]|globalThis\.(?:test|it|expect|describe|assert)\b|except\s+AssertionError/,
    'replaces or catches assertions',
  ],
  [
    'test',
    /\bRan \d+ tests?\b|\b\d+ passed\b|TAP version|<testsuite|^\W*print.*\bok \d/,
    'prints text like that of a test runner',
  ],
  [
    'lint',
    /^[^#]*#.*\b(?:noqa|nosec|type:\s*ignore|pylint:\s*(?:disable|skip-file)|(?:pyright|pyre|ty):\s*ignore|mypy:|pyre-ignore|isort:\s*skip|fmt:\s*(?:off|skip)|pytype:\s*disable)|\bno_type_check\b|\bdeno-lint-ignore|\bNOSONAR\b|(?:eslint|oxlint|tslint|stylelint)[-:]disable|@ts-(?:ignore|expect-error|nocheck)|(?:biome|prettier)-ignore/,
    'suppresses a check',
  ],
]

/** Shell functions and traps that replace the checks of a script. */
const suspiciousShell =
  /^\s*(?:function\s+)?(?:test|\[|echo|printf|exit|diff|cmp|grep|false)\s*\(\)|\balias\s+(?:test|\[|echo|printf|exit|diff|cmp|grep|false)=|\btrap\b.*\bexit\b.*\b(?:EXIT|0)\s*$/

export interface Suspicion {
  /** The distrusted signal. */
  readonly kind: SignalKind
  readonly path: string
  readonly line: number
  readonly why: string
}

/** Returns suspicious lines that the original source does not contain. */
export function findSuspicions(path: string, before: string, after: string): readonly Suspicion[] {
  const isShell = /\.(sh|bash)$/.test(path)
  if (!isShell && !/\.(py|[cm]?[jt]sx?)$/.test(path)) return []
  const known = new Set(before.split('\n').map((line) => line.trim()))
  const lines = after.split('\n')
  return lines.flatMap((line, index): Suspicion[] => {
    if (known.has(line.trim())) return []
    if (isShell)
      return suspiciousShell.test(line)
        ? [{ kind: 'test', path, line: index + 1, why: 'replaces a check of the shell' }]
        : []
    const rule = suspiciousCode.find(([, pattern]) => pattern.test(line.slice(0, 2000)))
    if (rule !== undefined) return [{ kind: rule[0], path, line: index + 1, why: rule[2] }]
    if (isConstantComparison(lines, index))
      return [{ kind: 'test', path, line: index + 1, why: 'makes every comparison true' }]
    return []
  })
}

/** Whether a Python comparison starts at a line and ignores the compared object. */
function isConstantComparison(lines: readonly string[], at: number): boolean {
  const [, indent = '', other, rest = ''] =
    /^(\s*)def __(?:eq|ne|le|ge|lt|gt|contains)__\(\s*\w+\s*,\s*(\w+)[^)]*\)[^:]*:(.*)$/.exec(
      lines[at] ?? '',
    ) ?? []
  if (other === undefined) return false
  const following = lines.slice(at + 1)
  const end = following.findIndex(
    (line) => line.trim() !== '' && !(line.startsWith(indent) && /^\s/.test(line.slice(indent.length))),
  )
  const body = [rest, ...following.slice(0, end < 0 ? undefined : end)].join('\n')
  return !new RegExp(`\\b${other}\\b`).test(body) && !/\b(?:raise|NotImplemented)\b/.test(body)
}
