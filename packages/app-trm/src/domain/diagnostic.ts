/** What linters and compilers complain about, whichever of them says it. */
import { isObject, type JsonObject } from '@causeway/protocol'

/** One complaint. */
export interface Diagnostic {
  readonly file: string
  /** from 1 */
  readonly line: number
  /** from 1; pylint counts from 0, which is set right here */
  readonly column: number | null
  /** `F401`, `TS2339`, `no-undef`; empty where the tool gives none */
  readonly code: string
  readonly severity: 'error' | 'warning'
  readonly message: string
}

/** Every complaint in the output of flake8, pylint, mypy, tsc or eslint, of several of them too; none in other text. */
export function readDiagnostics(output: string): readonly Diagnostic[] {
  return fromJson(output) ?? fromText(output)
}

const flake8 =
  /^(?<file>[^\s:][^:\n]*):(?<line>\d+):(?<column>\d+): (?<code>[A-Z]{1,3}\d{2,4}) (?<message>.+)$/
const pylint =
  /^(?<file>[^\s:][^:\n]*):(?<line>\d+):(?<column>\d+): (?<code>[CRWEFI]\d{4}): (?<message>.+?)(?: \((?<symbol>[a-z-]+)\))?$/
const mypy =
  /^(?<file>[^\s:][^:\n]*):(?<line>\d+)(?::(?<column>\d+))?: (?<kind>error|warning): (?<message>.+?)(?: {2}\[(?<code>[\w-]+)\])?$/
const tsc =
  /^(?<file>[^\s(][^(\n]*)\((?<line>\d+),(?<column>\d+)\): (?<kind>error|warning) (?<code>TS\d+): (?<message>.+)$/
const tscPretty =
  /^(?<file>[^\s:][^:\n]*):(?<line>\d+):(?<column>\d+) - (?<kind>error|warning) (?<code>TS\d+): (?<message>.+)$/

function fromText(output: string): Diagnostic[] {
  const found: Diagnostic[] = []
  let eslintFile: string | undefined
  for (const line of output.split('\n')) {
    const one = oneLine(line)
    if (one !== undefined) found.push(one)
    // eslint names the file once, above its complaints.
    else if (/^\/?\S.*\.\w+$/.test(line)) eslintFile = line
    else if (eslintFile !== undefined) {
      const complaint = eslintLine(line, eslintFile)
      if (complaint !== undefined) found.push(complaint)
    }
  }
  return found
}

function oneLine(line: string): Diagnostic | undefined {
  if (line.length > 2000) return undefined
  const pylintMatch = pylint.exec(line)?.groups
  if (pylintMatch !== undefined) {
    const { file = '', line: at, column, code = '', message = '', symbol } = pylintMatch
    const told = symbol === undefined ? message : `${message} (${symbol})`
    return diagnostic(
      { file, line: at, column: String(Number(column) + 1), code, message: told },
      pylintSeverity(code),
    )
  }
  const groups = (flake8.exec(line) ?? mypy.exec(line) ?? tsc.exec(line) ?? tscPretty.exec(line))?.groups
  if (groups === undefined) return undefined
  return diagnostic(groups, groups.kind === 'warning' || /^W\d/.test(groups.code ?? '') ? 'warning' : 'error')
}

const pylintSeverity = (code: string): Diagnostic['severity'] => (/^[EF]/.test(code) ? 'error' : 'warning')

function eslintLine(line: string, file: string): Diagnostic | undefined {
  const groups =
    /^\s+(?<line>\d+):(?<column>\d+)\s+(?<kind>error|warning)\s+(?<message>\S.*?)(?:(?<!\s)\s{2,}(?<code>[@\w/-]+))?$/.exec(
      line.slice(0, 2000),
    )?.groups
  return groups && diagnostic({ ...groups, file }, groups.kind === 'warning' ? 'warning' : 'error')
}

type Groups = { readonly [name: string]: string | undefined }

const diagnostic = (
  { file = '', line, column, code = '', message = '' }: Groups,
  severity: Diagnostic['severity'],
): Diagnostic => ({
  file,
  line: Number(line),
  column: column === undefined ? null : Number(column),
  code,
  severity,
  message: message.trim(),
})

/** `eslint -f json` and `pylint -f json`. */
function fromJson(output: string): Diagnostic[] | undefined {
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
      return entry.messages.filter(isObject).map((one) => ofEslint(entry, one))
    return typeof entry['message-id'] === 'string' ? [ofPylint(entry)] : []
  })
}

const ofEslint = (
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

const ofPylint = ({ path, line, column, symbol, message, ...entry }: JsonObject): Diagnostic => {
  const code = String(entry['message-id'])
  return {
    file: String(path ?? ''),
    line: Number(line ?? 1),
    column: typeof column === 'number' ? column + 1 : null,
    code,
    severity: pylintSeverity(code),
    message: typeof symbol === 'string' ? `${String(message)} (${symbol})` : String(message),
  }
}

/** Those that the baseline did not have; a complaint that only moved to another line is not new. */
export function newDiagnostics(
  before: readonly Diagnostic[],
  now: readonly Diagnostic[],
): readonly Diagnostic[] {
  const key = ({ file, code, message }: Diagnostic): string => JSON.stringify([file, code, message])
  const left = new Map<string, number>()
  for (const one of before) left.set(key(one), (left.get(key(one)) ?? 0) + 1)
  return now.filter((one) => {
    const count = left.get(key(one)) ?? 0
    left.set(key(one), count - 1)
    return count <= 0
  })
}
