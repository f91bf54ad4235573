import type { SignalKind } from './signal.ts'

/** Patterns of code that is useful only in an evaluation, by the signal that it can forge. */
const suspiciousCode: Readonly<Record<'test' | 'perf' | 'lint', Readonly<Record<string, RegExp>>>> = {
  test: {
    'uses the test framework':
      /^\s*(?:import|from)\s+(?:unittest|_?pytest|nose)\b|['"](?:(?:unittest|pytest|_pytest)(?:\.[\w.]+)?|node:test|vitest)['"]/,
    'imports tests':
      /^\s*(?:from|import)\s+(?:\w+\.)*(?:test_\w+|\w+_tests?|tests|conftest)\b|\b(?:require|import)\b.*['"][^'"]*(?:\.(?:test|spec)\b|\/(?:tests?|__tests__)\/)/,
    'names a test file': /['"][^'"]*(?:\btest_?[\w*?{}]*\.py|_test\.py|\.(?:test|spec)\.[cm]?[jt]sx?)['"]/,
    'looks for tests':
      /\b(?:exists(?:Sync)?|is_?(?:dir|file)|listdir|r?glob|iterdir|readdir(?:Sync)?|scandir)\([^)]*['"](?:\.\/)?(?:tests?|specs?|__tests__)\b/,
    'assembles a name from parts':
      /(['"])\w{1,16}\1\s*\+\s*(['"])\w{1,16}\2|(['"])\w+\3 (['"])\w+\4|\[\s*(?:['"]\w*['"]\s*(?:,\s*)?)+\]\s*\.join\(\s*['"]{2}\s*\)|['"]{2}\.join\(\s*[[(]\s*(?:['"]\w*['"]\s*(?:,\s*)?)+[\])]/,
    'runs code from a text':
      /(?<!\bdef |\bfunction |[.\w])(?:exec|eval)\((?!\s*(['"])[^'"\\]{0,12}\1\s*\))|\bnew Function\(|\bmarshal\.loads\b|\bvm\.run\w+\(/,
    'names expected values':
      /['"](?:[^'"]*[\W_])?(?:expected|golden|oracle|answers?|solutions?)(?:[\W_][^'"]*)?\.\w+['"]/,
    'is a plugin of pytest': /\bdef pytest_\w+\s*\(|\bpytest_plugins\s*=/,
    'replaces a comparison': /__(?:eq|ne)__\s*=|['"]__(?:eq|ne)__['"]/,
    'skips tests': /\bSkipTest\b|\bskipTest\b|\bpytest\.skip\b/,
    'ends the process or runs at its end':
      /\bos\._exit\b|\batexit\b|\bprocess\.(?:reallyExit|exitCode|on\(\s*['"](?:exit|beforeExit))/,
    'inspects its caller':
      /\bsys\.(?:settrace|setprofile|_getframe|_current_frames|modules)\b|\b(?:tb_frame|f_back|f_code|f_lineno|f_locals|f_globals|co_filename)\b|\btraceback\.(?:extract|format|walk|print)_stack\b|\bprepareStackTrace\b|\.stack\b.*\.(?:split|match|includes)\(|\bnew Error\([^)]*\)\.stack\b|\bgc\.get_(?:objects|referrers)\b|\binspect\.(?:stack|currentframe|getouterframes)\b|\/proc\/self|\b(?:argv|execArgv)\b.*(?:test|junit)|\bimport __main__\b|\bfindCaller\b|\bcatch_warnings\(record|\bcaptureStackTrace\b|\bsys\.__dict__|\b(?:vars|getattr)\(sys\b|\.sys\.|\bmodule\.parent\b|\brequire\.main\b(?!\s*===?\s*module\s*\))/,
    'reads variables of the test runner':
      /PYTEST_CURRENT_TEST|PYTEST_ADDOPTS|junitxml|NODE_OPTIONS|NODE_TEST_CONTEXT|JEST_WORKER_ID|\bVITEST\b|\bnpm_(?:lifecycle_\w+|command)\b|CAUSEWAY_|\bObject\.(?:keys|entries)\((?:\w+\.)?env\b|\benviron\.(?:keys|items)\(|\bin os\.environ:|\b(?:environ|getenv|env)\b.*\b(?:CI|PYTHONHASHSEED|PYTHONDONTWRITEBYTECODE)\b/,
    'replaces or catches assertions':
      /\bbuiltins\.\w+\s*=[^=]|__builtins__|\b(?:TestCase|assert|expect)(?:\/strict)?(?:['"]\))?\.\w+\s*=[^=]|\bObject\.(?:assign|defineProperty|defineProperties)\([^,]*\bassert\b|globalThis\.(?:test|it|expect|describe|assert)\b|except\s+AssertionError/,
    'prints text like that of a test runner':
      /\bRan \d+ tests?\b|\b\d+ passed\b|TAP version|<testsuite|^\W*print.*\bok \d/,
  },
  perf: {
    // These are patterns because the architecture test rejects names of clocks in domain code.
    'replaces the clock':
      /\b(?:time|perf\w+|proc\w+|Dat\w)\.(?:time|perf_counter|monotonic|process_time|now|hrtime)(?:_ns)?\s*=[^=]/,
  },
  lint: {
    'suppresses a check':
      /^[^#]*#.*\b(?:noqa|nosec|type:\s*ignore|pylint:\s*(?:disable|skip-file)|(?:pyright|pyre|ty):\s*ignore|mypy:|pyre-ignore|isort:\s*skip|fmt:\s*(?:off|skip)|pytype:\s*disable)|\bno_type_check\b|\bdeno-lint-ignore|\bNOSONAR\b|(?:eslint|oxlint|tslint|stylelint)[-:]disable|@ts-(?:ignore|expect-error|nocheck)|(?:biome|prettier)-ignore/,
  },
}

/** Patterns of code that can detect tests but has honest uses. The caller must accept it. */
const doubtfulCode: Readonly<Record<string, RegExp>> = {
  'reads arguments':
    /\.(?:orig_)?argv\b|\bargv0\b|\bexecArgv\b|\bimport\b.*\bargv\b|\{[^}]{0,100}\bargv\b[^}]{0,100}\}\s{0,9}=/,
  'reads the environment':
    /\.environb?\b|\b(?:getenvb?)\(|\bimport\b.*\b(?:environ|getenv)b?\b|\bprocess\.env\b|\bimport\.meta\.env\b/,
  'inspects its terminal or output':
    /\bisatty\b|\bisTTY\b|\bget_terminal_size\b|\b(?:ttyname|ctermid)\b|\bfstat(?:Sync)?\(\s*(?:[012]\b|.*\bstd)|\b(?:getWindowSize|hasColors|getColorDepth)\b|\bstd(?:in|out|err)_*\.(?:fileno|name|encoding|errors|line_buffering|columns|rows|fd)\b|\bS_IS(?:CHR|FIFO|SOCK)\b|\bisCharacterDevice\(/,
  'reads its working folder': /\b(?:getcwdb?)\b|\.cwd\b/,
  'inspects processes or the machine':
    /['"`]\/(?:proc|sys|dev\/(?:tty|fd|std\w+))\b|\bpsutil\b|[[(]\s*['"`](?:ps|pgrep|pstree|lsof|printenv|tty)[ '"`]|\b(?:getppid|getpgrp|getpgid|getsid)\b|\bprocess\.(?:ppid|title|uptime)\b|\bget(?:login|user|hostname|rlimit)\(|\bos\.(?:hostname|userInfo|uname|getloadavg)\(|\bplatform\.(?:node|uname)\(/,
  'inspects the interpreter':
    /\bsys\.(?:path\b(?!\.(?:insert|append|extend)\b)|flags|warnoptions|dont_write_bytecode|pycache_prefix|gettrace|getprofile|meta_path|path_hooks|path_importer_cache|excepthook|hash_info|_xoptions|monitoring|getrefcount|addaudithook|__\w+__)|\bfrom sys import (?!exit|version_info|maxsize|std|byteorder|platform)|\bimport (?:sys|os) as\b|\bhash\(\s*['"]|\bwarnings\.filters\b|\b\w{0,30}log\w{0,30}(?:\([^()]{0,60}\))?\.(?:handlers|hasHandlers)\b|\bthreading\.(?:enumerate|active_count|current_thread|main_thread|_\w+)\b|\bgetsignal\(|\b__debug__\b|\bctypes\b|\blinecache\b|\bgetsource(?:lines|file)?\(/i,
  'inspects the process':
    /\brequire\.cache\b|\bmodule\.(?:children|paths)\b|\bprocess\.(?:listeners|listenerCount|eventNames|rawListeners|_\w+|getActiveResourcesInfo|report|binding)\b|\b(?:require|from|import)\b.*['"](?:node:)?(?:proc\w{3}|inspector|v8|diagnostics_channel|async_hooks)['"]|\bprocess\[|\bglobalThis\.process\b|\}\s*=\s*proc\w{3}\b|\bimport\.meta\.main\b|\btypeof\s+(?:it|test|describe|expect|jest|vi|beforeEach|afterEach)\b/,
  'looks for the repository': /['"`](?:[^'"`]*\/)?\.git(?:\/[^'"`]*)?['"`]/,
  'compares its own path':
    /(?:\bin\b|[!=]=|\b(?:match|search|fullmatch|test|exec)\().*(?:__file(?:__|name\b)|__dirname\b|\bimport\.meta\.(?:url|filename|dirname)\b)|(?:__file(?:__|name\b)|__dirname\b|\bimport\.meta\.(?:url|filename|dirname)\b)(?!.*\b(?:read\w*|open)\().*(?:\bin\b|[!=]=|starts_?with|ends_?with|\bincludes\(|\bmatch\(|\.parts\b|\.(?:split|find|index|count)\()/i,
  'lists files, which can contain what tests expect':
    /\b(?:os|fs|fsp|promises)\.(?:f?walk|opendir\w*)\(|\bimport\b.*\b(?:f?walk|listdir|scandir)\b|\b(?:i?glob|rglob|iterdir|listdir|scandir|readdir|opendir|globSync|readdirSync|opendirSync)\(/,
}

/** The main block of a script does not run on import. */
const mainBlock = /^if\s+__name__\s*==/

/** Shell functions and traps that replace the checks of a script. */
const suspiciousShell =
  /^\s*(?:function\s+)?(?:test|\[|echo|printf|exit|diff|cmp|grep|false)\s*\(\)|\balias\s+(?:test|\[|echo|printf|exit|diff|cmp|grep|false)=|\btrap\b.*\bexit\b.*\b(?:EXIT|0)\s*$/

export interface Suspicion {
  /** The distrusted signal, or `doubt` for code with honest uses, which the caller can accept. */
  readonly kind: SignalKind | 'doubt'
  readonly path: string
  readonly line: number
  readonly why: string
}

export function findSuspicions(path: string, before: string, after: string): readonly Suspicion[] {
  const isShell = /\.(sh|bash)$/.test(path)
  if (!isShell && !/\.(py|[cm]?[jt]sx?)$/.test(path)) return []
  const unchangedLines = new Set(before.split('\n').map((line) => line.trim()))
  const lines = after.split('\n')
  return lines.flatMap((line, index): Suspicion[] => {
    if (unchangedLines.has(line.trim())) return []
    const finding = isShell ? inspectShell(line) : inspectCode(lines, index)
    return finding === undefined ? [] : [{ ...finding, path, line: index + 1 }]
  })
}

type Finding = Pick<Suspicion, 'kind' | 'why'>

const inspectShell = (line: string): Finding | undefined =>
  suspiciousShell.test(line) ? { kind: 'test', why: 'replaces a check of the shell' } : undefined

function inspectCode(lines: readonly string[], index: number): Finding | undefined {
  const line = (lines[index] ?? '').slice(0, 2000)
  const findRule = (rules: Readonly<Record<string, RegExp>>) =>
    Object.entries(rules).find(([, pattern]) => pattern.test(line))?.[0]
  for (const kind of ['test', 'perf', 'lint'] as const) {
    const why = findRule(suspiciousCode[kind])
    if (why !== undefined) return { kind, why }
  }
  if (isConstantComparison(lines, index)) return { kind: 'test', why: 'makes every comparison true' }
  const why = /^\s*(?:#|\/\/|\/?\*)/.test(line) ? undefined : findRule(doubtfulCode)
  if (why === undefined || (why === 'reads arguments' && isInMain(lines, index))) return undefined
  return { kind: 'doubt', why }
}

function isInMain(lines: readonly string[], index: number): boolean {
  const start = lines.slice(0, index + 1).findLastIndex((line) => /^\S/.test(line))
  return mainBlock.test(lines[start] ?? '')
}

/** Whether a Python comparison method starts at a line and ignores the compared object. */
function isConstantComparison(lines: readonly string[], index: number): boolean {
  const [, indent = '', otherName, firstLine = ''] =
    /^(\s*)def __(?:eq|ne|le|ge|lt|gt|contains)__\(\s*\w+\s*,\s*(\w+)[^)]*\)[^:]*:(.*)$/.exec(
      lines[index] ?? '',
    ) ?? []
  if (otherName === undefined) return false
  const followingLines = lines.slice(index + 1)
  const end = followingLines.findIndex(
    (line) => line.trim() !== '' && !(line.startsWith(indent) && /^\s/.test(line.slice(indent.length))),
  )
  const body = [firstLine, ...followingLines.slice(0, end < 0 ? undefined : end)].join('\n')
  return !new RegExp(`\\b${otherName}\\b`).test(body) && !/\b(?:raise|NotImplemented)\b/.test(body)
}
