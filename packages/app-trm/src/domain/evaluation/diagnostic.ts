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
 * `a.ts(1,5): error TS1: x` is first rewritten to `a.ts:1:5: error TS1: x`.
 */
const locatedPattern =
  /^(?<file>[^\s:][^:\n]*):(?<line>\d+)(?::(?<column>\d+))?(?::| -) (?:(?<kind>error|warning):? )?(?:(?<code>[A-Z]{1,3}\d{2,5}):? )?(?<message>.+?)(?: {2}\[(?<rule>[\w-]+)\])?$/

/** Matches `  1:5  error  x  code`, which eslint writes below the name of a file. */
const indentedPattern =
  /^\s+(?<line>\d+):(?<column>\d+)\s+(?<kind>error|warning)\s+(?<message>\S.*?)(?:(?<!\s)\s{2,}(?<rule>[@\w/-]+))?$/

const maxLineLength = 2000

/** Parses the text output of flake8, pylint, mypy, tsc or eslint. */
export function readDiagnostics(output: string): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  let fileLine: string | undefined
  for (const text of output.split('\n')) {
    const line = text.slice(0, maxLineLength).replace(/^([^\s(][^(\n]*)\((\d+),(\d+)\): /, '$1:$2:$3: ')
    const locatedGroups = locatedPattern.exec(line)?.groups
    const groups =
      locatedGroups?.kind !== undefined || locatedGroups?.code !== undefined ? locatedGroups : undefined
    if (groups === undefined && /^\/?\S.*\.\w+$/.test(line)) fileLine = line
    const indentedGroups = fileLine === undefined ? undefined : indentedPattern.exec(line)?.groups
    const fields = groups ?? (indentedGroups && { ...indentedGroups, file: fileLine })
    if (fields !== undefined) diagnostics.push(toDiagnostic(fields))
  }
  return diagnostics
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

/** Returns the problems that occur more often than in the baseline, by file, code and message. */
export function findNewDiagnostics(
  before: readonly Diagnostic[],
  now: readonly Diagnostic[],
): readonly Diagnostic[] {
  const toKey = ({ file, code, message }: Diagnostic): string => JSON.stringify([file, code, message])
  const remainingCounts = new Map<string, number>()
  for (const diagnostic of before)
    remainingCounts.set(toKey(diagnostic), (remainingCounts.get(toKey(diagnostic)) ?? 0) + 1)
  return now.filter((diagnostic) => {
    const count = remainingCounts.get(toKey(diagnostic)) ?? 0
    remainingCounts.set(toKey(diagnostic), count - 1)
    return count <= 0
  })
}
