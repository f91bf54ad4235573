import { isObject, type JsonObject } from '@causeway/protocol'

/** A problem that a linter or a compiler reports. */
export interface Diagnostic {
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1. */
  readonly column: number | null
  /** `F401`, `TS2339`, `no-undef`; empty if the tool has no codes. */
  readonly code: string
  readonly severity: 'error' | 'warning'
  readonly message: string
}

/** Reads all problems in the output of flake8, pylint, mypy, tsc or eslint. */
export const readDiagnostics = (output: string): readonly Diagnostic[] => readJson(output) ?? readText(output)

/** Tried in this order. pylint counts columns from 0. */
const linePatterns = {
  pylint: /^(?<file>[^\s:][^:\n]*):(?<line>\d+):(?<column>\d+): (?<code>[CRWEFI]\d{4}): (?<message>.+)$/,
  flake8: /^(?<file>[^\s:][^:\n]*):(?<line>\d+):(?<column>\d+): (?<code>[A-Z]{1,3}\d{2,4}) (?<message>.+)$/,
  mypy: /^(?<file>[^\s:][^:\n]*):(?<line>\d+)(?::(?<column>\d+))?: (?<kind>error|warning): (?<message>.+?)(?: {2}\[(?<code>[\w-]+)\])?$/,
  tsc: /^(?<file>[^\s(][^(\n]*)\((?<line>\d+),(?<column>\d+)\): (?<kind>error|warning) (?<code>TS\d+): (?<message>.+)$/,
  tscPretty:
    /^(?<file>[^\s:][^:\n]*):(?<line>\d+):(?<column>\d+) - (?<kind>error|warning) (?<code>TS\d+): (?<message>.+)$/,
}

const eslintLine =
  /^\s+(?<line>\d+):(?<column>\d+)\s+(?<kind>error|warning)\s+(?<message>\S.*?)(?:(?<!\s)\s{2,}(?<code>[@\w/-]+))?$/

function readText(output: string): Diagnostic[] {
  const found: Diagnostic[] = []
  let eslintFile: string | undefined
  for (const line of output.split('\n')) {
    const diagnostic = readLine(line)
    if (diagnostic !== undefined) found.push(diagnostic)
    // eslint names the file once, above its problems.
    else if (/^\/?\S.*\.\w+$/.test(line)) eslintFile = line
    else if (eslintFile !== undefined) {
      const groups = eslintLine.exec(line.slice(0, 2000))?.groups
      if (groups) found.push(toDiagnostic({ ...groups, file: eslintFile }, groups.kind === 'warning'))
    }
  }
  return found
}

function readLine(line: string): Diagnostic | undefined {
  if (line.length > 2000) return undefined
  for (const [tool, pattern] of Object.entries(linePatterns)) {
    const groups = pattern.exec(line)?.groups
    if (groups === undefined) continue
    if (tool !== 'pylint')
      return toDiagnostic(groups, groups.kind === 'warning' || /^W\d/.test(groups.code ?? ''))
    const column = String(Number(groups.column) + 1)
    return toDiagnostic({ ...groups, column }, isPylintWarning(groups.code))
  }
  return undefined
}

const isPylintWarning = (code = ''): boolean => !/^[EF]/.test(code)

const toDiagnostic = (
  { file = '', line, column, code = '', message = '' }: { readonly [name: string]: string | undefined },
  isWarning: boolean,
): Diagnostic => ({
  file,
  line: Number(line),
  column: column === undefined ? null : Number(column),
  code,
  severity: isWarning ? 'warning' : 'error',
  message: message.trim(),
})

/** Reads the output of `eslint -f json` and `pylint -f json`. */
function readJson(output: string): Diagnostic[] | undefined {
  const begin = output.search(/^\[/m)
  if (begin < 0) return undefined
  let list: unknown
  try {
    list = JSON.parse(output.slice(begin, output.lastIndexOf(']') + 1))
  } catch {
    return undefined
  }
  if (!Array.isArray(list) || !list.every(isObject)) return undefined
  return list.flatMap((entry) => {
    if (Array.isArray(entry.messages))
      return entry.messages.filter(isObject).map((message) => fromEslint(entry, message))
    return typeof entry['message-id'] === 'string' ? [fromPylint(entry)] : []
  })
}

const fromEslint = (
  { filePath }: JsonObject,
  { line, column, ruleId, severity, message }: JsonObject,
): Diagnostic => ({
  file: String(filePath ?? ''),
  line: Number(line ?? 1),
  column: typeof column === 'number' ? column : null,
  code: typeof ruleId === 'string' ? ruleId : '',
  severity: severity === 1 ? 'warning' : 'error',
  message: String(message ?? ''),
})

function fromPylint({ path, line, column, symbol, message, ...entry }: JsonObject): Diagnostic {
  const code = String(entry['message-id'])
  return {
    file: String(path ?? ''),
    line: Number(line ?? 1),
    column: typeof column === 'number' ? column + 1 : null,
    code,
    severity: isPylintWarning(code) ? 'warning' : 'error',
    message: typeof symbol === 'string' ? `${String(message)} (${symbol})` : String(message),
  }
}

/** Returns the problems that the baseline does not have in another file, with another code or another message; a new line number does not count. */
export function findNewDiagnostics(
  before: readonly Diagnostic[],
  now: readonly Diagnostic[],
): readonly Diagnostic[] {
  const toKey = ({ file, code, message }: Diagnostic): string => JSON.stringify([file, code, message])
  const left = new Map<string, number>()
  for (const one of before) left.set(toKey(one), (left.get(toKey(one)) ?? 0) + 1)
  return now.filter((one) => {
    const count = left.get(toKey(one)) ?? 0
    left.set(toKey(one), count - 1)
    return count <= 0
  })
}
