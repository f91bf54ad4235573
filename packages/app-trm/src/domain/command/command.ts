/** Appends arguments so that a simple test command reports each test. Returns other commands unchanged. */
export function addReport(command: string, file: string): string {
  const trimmedCommand = command.trim()
  if (!isSimple(trimmedCommand)) return command
  const words = trimmedCommand.split(/\s+/).filter((word) => !isAssignment(word))
  const [first = '', second = ''] = words[0] === 'npx' ? words.slice(1) : words
  const program = first.slice(first.lastIndexOf('/') + 1)
  if (words.some((word) => /^--?(reporter|json|outputFile)/.test(word))) return command
  if (program === 'vitest')
    return `${trimmedCommand} --reporter=default --reporter=junit --outputFile.junit="${file}"`
  if (program === 'jest') return `${trimmedCommand} --json --outputFile="${file}"`
  if (program === 'mocha') return `${trimmedCommand} --reporter json --reporter-option output="${file}"`
  const isUnittest = /^python[\d.]*$/.test(program) && second === '-m' && words.includes('unittest')
  return isUnittest && !words.includes('-v') && !words.includes('--verbose')
    ? `${trimmedCommand} -v`
    : command
}

export const isSimple = (command: string): boolean => !/[;&|<>`$()\n\\]/.test(command)

const isAssignment = (word: string): boolean => /^[A-Za-z_]\w*=/.test(word)

const removeQuotes = (word: string): string => word.replace(/^['"(]+|(?<!['")])['")]+$/g, '')

const builtins = new Set(
  'cd export set test [ true false echo exit source . if for while then fi do done else printf exec eval wait : sleep'.split(
    ' ',
  ),
)

/** Returns the programs that a shell line starts, such as `pytest` for `cd x && FOO=1 pytest -q`. */
export function findPrograms(command: string): readonly string[] {
  return command
    .split(/&&|\|\||[;|\n]/)
    .map((part) => part.trim().split(/\s+/))
    .map((words) => removeQuotes(words.find((word) => !isAssignment(word)) ?? ''))
    .filter((word) => word !== '' && !builtins.has(word) && !/[$`*?{}]/.test(word))
}

const wrappers = new Set(['env', 'time', 'exec', 'nice', 'npx', 'poetry', 'pipenv', 'uv', 'run', '!'])
const interpreter = /(^|\/)(python[\d.]*|node|deno|bun|tsx|ts-node|sh|bash|dash|zsh|ruby|perl|Rscript)$/

/**
 * Returns the project files that a shell line runs, such as `scripts/bench.py` for `python3 -u ./scripts/bench.py
 * a.csv`.
 */
export function findScripts(command: string): readonly string[] {
  return command.split(/&&|\|\||[;|\n()]/).flatMap((part) => {
    const words = part
      .trim()
      .split(/\s+/)
      .map(removeQuotes)
      .filter((word) => !isAssignment(word) && !wrappers.has(word))
    const [program = '', ...args] = words
    const script = interpreter.test(program) ? findScriptArgument(args) : program
    return script === undefined || script.startsWith('/') || !/[./]/.test(script)
      ? []
      : [script.replace(/^\.\//, '')]
  })
}

/** Returns `undefined` for inline code and modules. */
function findScriptArgument(args: readonly string[]): string | undefined {
  const endsOptions = (word: string) =>
    !word.startsWith('-') || /^-(m|c|e|p)$/.test(word) || word === '--test'
  const word = args.find(endsOptions)
  return word?.startsWith('-') ? undefined : word
}

/** Parses `python -m`: `python3 -m pytest -q` gives `['python3', 'pytest']`. */
export function findPythonModule(command: string): readonly [python: string, module: string] | undefined {
  const [, python, module] =
    /(?:^|[\s;&|])((?:[\w./-]*\/)?python[\d.]*) (?:-[A-Za-z]+ )*-m ([\w.]+)/.exec(command) ?? []
  return python === undefined || module === undefined ? undefined : [python, module]
}
