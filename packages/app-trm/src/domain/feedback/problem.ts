/** What is wrong, whichever tool says it, in the order in which it is best repaired. */
import type { Diagnostic } from '../diagnostic.ts'
import { type ProjectNames, pythonAdvice, typescriptAdvice } from './advice.ts'
import { type Frame, type PythonError, pythonErrors } from './python-error.ts'

/** One thing that is wrong. */
export interface Problem {
  readonly source: 'python' | 'lint'
  /** In the project; undefined where no own code is named. */
  readonly file: string | undefined
  /** From 1. */
  readonly line: number | undefined
  /** Class of the exception or code of the linter. */
  readonly kind: string
  readonly message: string
  readonly advice: string | undefined
  readonly isError: boolean
  /** How often it was reported. */
  readonly count: number
}

/** Frames of what is not the project's own code. */
const foreign = /^(<|\/)|site-packages|dist-packages|node_modules|\.venv\/|\.tox\//

/** What is wrong by the outputs of all commands: exceptions before complaints, the same ones counted once. */
export function problems(
  outputs: readonly string[],
  diagnostics: readonly Diagnostic[],
  project: ProjectNames,
): readonly Problem[] {
  const raised = outputs.flatMap(pythonErrors).map((error) => ofPython(error, project))
  const said = diagnostics.map(ofDiagnostic)
  return counted([...raised, ...said]).toSorted((a, b) => rank(a) - rank(b))
}

/** The innermost place within the project. */
export const ownFrame = (frames: readonly Frame[]): Frame | undefined =>
  frames.findLast(({ file }) => !foreign.test(file))

function ofPython(error: PythonError, project: ProjectNames): Problem {
  const frame = ownFrame(error.frames)
  return {
    source: 'python',
    file: frame?.file.replace(/^\.\//, ''),
    line: frame?.line,
    kind: error.type,
    message: error.message,
    advice: pythonAdvice(error, project),
    isError: true,
    count: 1,
  }
}

const ofDiagnostic = ({ file, line, code, message, severity }: Diagnostic): Problem => ({
  source: 'lint',
  file: file.replace(/^\.\//, ''),
  line,
  kind: code,
  message,
  advice: typescriptAdvice(code),
  isError: severity === 'error',
  count: 1,
})

function counted(all: readonly Problem[]): readonly Problem[] {
  const found = new Map<string, Problem>()
  for (const one of all) {
    const key = JSON.stringify([one.file, one.line, one.kind, one.message])
    const known = found.get(key)
    found.set(key, known ? { ...known, count: known.count + 1 } : one)
  }
  return [...found.values()]
}

/** True for what keeps a file from being loaded, which hides everything else in it. */
export const hidesOthers = (problem: Problem): boolean => rank(problem) < 2

function rank({ kind, source, isError }: Problem): number {
  if (/^(SyntaxError|IndentationError|TabError|E999|E9\d\d)$/.test(kind)) return 0
  if (/^(ModuleNotFoundError|ImportError|TS2307)$/.test(kind)) return 1
  if (source === 'python') return kind.endsWith('AssertionError') ? 3 : 2
  return isError ? 4 : 5
}

/** A problem in one line, with what to do on a second; at most `room` characters. */
export function problemText({ file, line, kind, message, advice, count }: Problem, room = 400): string {
  const place = file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`} `
  const said = message === '' ? kind : `${kind}: ${message.replace(/\n/g, ' ')}`
  const times = count > 1 ? ` (${count} times)` : ''
  const next = advice === undefined ? '' : `\n  ${advice}`
  const most = Math.max(40, room - place.length - times.length - next.length)
  return `${place}${said.length > most ? `${said.slice(0, most - 1)}…` : said}${times}${next}`
}
