export interface Diagnostic {
  readonly file: string
  readonly line: number
  /** Column, from 1. */
  readonly column: number | null
  /** Code such as `F401`, `TS2339` or `no-undef`, or empty. */
  readonly code: string
  readonly severity: 'error' | 'warning'
  readonly message: string
}

/**
 * Matches `a.py:1:5: F401 x`, `a.py:1: error: x  [code]` and `a.ts:1:5 - error TS1: x`. The form
 * `a.ts(1,5): error TS1: x` is rewritten to the last one.
 */
const located =
  /^(?<file>[^\s:][^:\n]*):(?<line>\d+)(?::(?<column>\d+))?(?::| -) (?:(?<kind>error|warning):? )?(?:(?<code>[A-Z]{1,3}\d{2,5}):? )?(?<message>.+?)(?: {2}\[(?<rule>[\w-]+)\])?$/

/** Matches `  1:5  error  x  code`, which eslint writes below the name of a file. */
const indented =
  /^\s+(?<line>\d+):(?<column>\d+)\s+(?<kind>error|warning)\s+(?<message>\S.*?)(?:(?<!\s)\s{2,}(?<rule>[@\w/-]+))?$/

const maxLineLength = 2000

/** Parses the text output of flake8, pylint, mypy, tsc or eslint. */
export function readDiagnostics(output: string): readonly Diagnostic[] {
  const found: Diagnostic[] = []
  let above: string | undefined
  for (const text of output.split('\n')) {
    const line = text.slice(0, maxLineLength).replace(/^([^\s(][^(\n]*)\((\d+),(\d+)\): /, '$1:$2:$3: ')
    const own = located.exec(line)?.groups
    const groups = own?.kind !== undefined || own?.code !== undefined ? own : undefined
    if (groups === undefined && /^\/?\S.*\.\w+$/.test(line)) above = line
    const below = above === undefined ? undefined : indented.exec(line)?.groups
    const match = groups ?? (below && { ...below, file: above })
    if (match !== undefined) found.push(toDiagnostic(match))
  }
  return found
}

function toDiagnostic({
  file = '',
  line,
  column,
  kind,
  code,
  rule,
  message = '',
}: Readonly<Record<string, string | undefined>>): Diagnostic {
  // pylint counts columns from 0, and its codes have four digits.
  const isPylint = /^[CRWEFI]\d{4}$/.test(code ?? '')
  return {
    file,
    line: Number(line),
    column: column === undefined ? null : Number(column) + (isPylint ? 1 : 0),
    code: code ?? rule ?? '',
    severity: kind === 'warning' || /^(W\d|[CRI]\d{4})/.test(code ?? '') ? 'warning' : 'error',
    message: message.trim(),
  }
}

/** Returns the problems whose file, code and message do not occur in the baseline. Ignores line numbers. */
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
