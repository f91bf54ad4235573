/** What can be told from the text of a command. */

/** What is appended so that a runner tells more: only to one plain command, never into the middle of a line of shell. */
export function withReport(command: string, file: string): string {
  const plain = command.trim()
  if (/[;&|<>`$()\n\\]/.test(plain)) return command
  const words = plain.split(/\s+/).filter((word) => !/^[A-Za-z_]\w*=/.test(word))
  const [first = '', second = ''] = words[0] === 'npx' ? words.slice(1) : words
  const program = first.slice(first.lastIndexOf('/') + 1)
  if (words.some((word) => /^--?(reporter|json|outputFile)/.test(word))) return command
  if (program === 'vitest') return `${plain} --reporter=default --reporter=junit --outputFile.junit="${file}"`
  if (program === 'jest') return `${plain} --json --outputFile="${file}"`
  if (program === 'mocha') return `${plain} --reporter json --reporter-option output="${file}"`
  const isUnittest = /^python[\d.]*$/.test(program) && second === '-m' && words.includes('unittest')
  return isUnittest && !words.includes('-v') && !words.includes('--verbose') ? `${plain} -v` : command
}

/** The programs that a command names first, to ask whether they are there: `cd x && FOO=1 pytest -q` -> `pytest`. */
export function programs(command: string): readonly string[] {
  return command
    .split(/&&|\|\||[;|\n]/)
    .map(
      (part) =>
        part
          .trim()
          .split(/\s+/)
          .find((word) => !/^[A-Za-z_]\w*=/.test(word)) ?? '',
    )
    .map((word) => word.replace(/^['"(]+|(?<!['")])['")]+$/g, ''))
    .filter((word) => word !== '' && !builtins.has(word) && !/[$`*?{}]/.test(word))
}

/**
 * The files of the project that a command runs, and not those that it only reads: `python3 -u ./scripts/bench.py a.csv`
 * -> `scripts/bench.py`; `flake8 a.py` -> none.
 */
export function scripts(command: string): readonly string[] {
  return command.split(/&&|\|\||[;|\n()]/).flatMap((part) => {
    const words = part
      .trim()
      .split(/\s+/)
      .map((word) => word.replace(/^['"]+|(?<!['"])['"]+$/g, ''))
      .filter((word) => !/^[A-Za-z_]\w*=/.test(word) && !wrappers.has(word))
    const [program = '', ...args] = words
    const script = interpreter.test(program) ? scriptAmong(args) : program
    return script === undefined || script.startsWith('/') || !/[./]/.test(script)
      ? []
      : [script.replace(/^\.\//, '')]
  })
}

const wrappers = new Set(['env', 'time', 'exec', 'nice', 'npx', 'poetry', 'pipenv', 'uv', 'run', '!'])
const interpreter = /(^|\/)(python[\d.]*|node|deno|bun|tsx|ts-node|sh|bash|dash|zsh|ruby|perl|Rscript)$/

/** The first argument that is no flag; none where the program is given in words or as a module. */
function scriptAmong(args: readonly string[]): string | undefined {
  const first = args.findIndex(
    (word) => !word.startsWith('-') || /^-(m|c|e|p)$/.test(word) || word === '--test',
  )
  const word = args[first]
  return word === undefined || word.startsWith('-') ? undefined : word
}

const builtins = new Set([
  ...[
    'cd',
    'export',
    'set',
    'test',
    '[',
    'true',
    'false',
    'echo',
    'exit',
    'source',
    '.',
    'if',
    'for',
    'while',
  ],
  ...['then', 'fi', 'do', 'done', 'else', 'printf', 'exec', 'eval', 'wait', ':', 'sleep'],
])

/** Which module `python -m` would run: `python3 -m pytest -q` -> `['python3', 'pytest']`. */
export function pythonModule(command: string): readonly [python: string, module: string] | undefined {
  const [, python, module] =
    /(?:^|[\s;&|])((?:[\w./-]*\/)?python[\d.]*) (?:-[A-Za-z]+ )*-m ([\w.]+)/.exec(command) ?? []
  return python === undefined || module === undefined ? undefined : [python, module]
}
