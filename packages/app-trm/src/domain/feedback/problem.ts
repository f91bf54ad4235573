import type { Diagnostic } from '../evaluation/diagnostic.ts'
import { formatLocation, shorten } from '../format.ts'
import { advisePython, type HasModule } from './advice.ts'
import { type Frame, type PythonError, readPythonErrors } from './python-error.ts'

export interface Problem {
  readonly source: 'python' | 'lint'
  /** File in the project. `undefined` if the problem does not name a file. */
  readonly file: string | undefined
  readonly line: number | undefined
  readonly kind: string
  readonly message: string
  readonly advice: string | undefined
  readonly isError: boolean
  readonly count: number
}

const libraryFile = /^(<|\/)|site-packages|dist-packages|node_modules|\.venv\/|\.tox\//

/** Returns unique problems, in the order in which to repair them. */
export function findProblems(
  outputs: readonly string[],
  diagnostics: readonly Diagnostic[],
  hasModule: HasModule,
): readonly Problem[] {
  const pythonProblems = outputs.flatMap(readPythonErrors).map((error) => fromPython(error, hasModule))
  const problems = new Map<string, Problem>()
  for (const problem of [...pythonProblems, ...diagnostics.map(fromDiagnostic)]) {
    const key = JSON.stringify([problem.file, problem.line, problem.kind, problem.message])
    const existing = problems.get(key)
    problems.set(key, existing ? { ...existing, count: existing.count + 1 } : problem)
  }
  return [...problems.values()].toSorted((a, b) => rankProblem(a) - rankProblem(b))
}

export const findProjectFrame = (frames: readonly Frame[]): Frame | undefined =>
  frames.findLast(({ file }) => !libraryFile.test(file))

function fromPython(error: PythonError, hasModule: HasModule): Problem {
  const frame = findProjectFrame(error.frames)
  return {
    source: 'python',
    file: frame?.file.replace(/^\.\//, ''),
    line: frame?.line,
    kind: error.type,
    message: error.message,
    advice: advisePython(error, hasModule),
    isError: true,
    count: 1,
  }
}

const fromDiagnostic = ({ file, line, code, message, severity }: Diagnostic): Problem => ({
  source: 'lint',
  file: file.replace(/^\.\//, ''),
  line,
  kind: code,
  message,
  advice: undefined,
  isError: severity === 'error',
  count: 1,
})

/** Ranks problems that prevent loading first, because they hide others. */
function rankProblem({ kind, source, isError }: Problem): number {
  if (/^(SyntaxError|IndentationError|TabError|E9\d\d)$/.test(kind)) return 0
  if (/^(ModuleNotFoundError|ImportError|TS2307)$/.test(kind)) return 1
  if (source === 'python') return kind.endsWith('AssertionError') ? 3 : 2
  return isError ? 4 : 5
}

/** Puts the advice on a second line. Shortens the message to `maxLength` in total, but not below 40 characters. */
export function formatProblem(
  { file, line, kind, message, advice, count }: Problem,
  maxLength = 400,
): string {
  const location = file === undefined ? '' : `${formatLocation({ file, line })} `
  const text = message === '' ? kind : `${kind}: ${message.replace(/\n/g, ' ')}`
  const repetitions = count > 1 ? ` (${count} times)` : ''
  const adviceText = advice === undefined ? '' : `\n  ${advice}`
  const maxTextLength = Math.max(40, maxLength - location.length - repetitions.length - adviceText.length)
  return `${location}${shorten(text, maxTextLength)}${repetitions}${adviceText}`
}
