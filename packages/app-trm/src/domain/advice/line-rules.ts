import type { Category } from './category.ts'

export type Severity = 'error' | 'warning' | 'info'

/** A rule for one added line. Each pattern runs in time linear in the length of the line. */
export interface LineRule {
  readonly category: Category
  readonly severity: Severity
  readonly pattern: RegExp
  readonly message: string
  readonly suggestion?: string
  /** File extensions; `undefined` for all. */
  readonly languages?: readonly string[]
  /** Whether the pattern also applies to strings and comments. */
  readonly isRaw?: boolean
}

type Row = readonly [Category, Severity, RegExp, message: string, suggestion?: string]

const python = ['py', 'pyi']
const script = ['js', 'mjs', 'cjs', 'jsx', 'ts', 'mts', 'cts', 'tsx']
const typescript = ['ts', 'mts', 'cts', 'tsx']

const rawRows: readonly Row[] = [
  ['code-quality', 'error', /^(<{7}|>{7}) /, 'merge conflict marker'],
  ['todos', 'info', /\b(TODO|FIXME|XXX|HACK)\b/, 'note of open work', 'do it, or open an issue'],
  ['formatting', 'info', /^.{121,}$/, 'the line has more than 120 characters', 'break it'],
]

const pythonRows: readonly Row[] = [
  ['logging', 'warning', /(?<![\w.])print\s*\(/, 'print in the code', 'use logging'],
  ['error-handling', 'error', /^\s*except\s*:/, 'bare except also catches exits', 'name the exceptions'],
  [
    'error-handling',
    'warning',
    /^\s*(?:\w+\s+)?def\s+\w+\(.*=\s*(?:\[\]|\{\}|set\(\))/,
    'all calls share the mutable default',
    'default to None and create it inside',
  ],
  ['type-safety', 'warning', /[:>]\s*(typing\.)?Any\b/, 'Any disables type checking', 'name the type'],
  ['code-quality', 'error', /(?<![\w.])(eval|exec)\s*\(/, 'text runs as code', 'parse the expected format'],
  [
    'code-quality',
    'warning',
    /^\s*from\s+\S+\s+import\s+\*/,
    'star import hides the origin of names',
    'import the names',
  ],
  ['code-quality', 'warning', /[=!]=\s*None\b/, 'None is compared by value', 'compare with is'],
  ['code-quality', 'error', /^\s*(breakpoint\(\)|import pdb|pdb\.set_trace)/, 'breakpoint'],
  ['data-validation', 'warning', /inplace\s*=\s*True/, 'inplace=True hides the change', 'assign the result'],
  [
    'data-validation',
    'warning',
    /^\s*(?=\w*df)\w+\[[^[\]]*\]\s*\[[^[\]]*\]\s*=(?!=)/i,
    'chained assignment may change a copy',
    'assign with .loc[rows, column]',
  ],
  [
    'data-validation',
    'info',
    /\.read_(?:csv|excel|json)\((?:(?!dtype|\.read_(?:csv|excel|json)\().)*$/,
    'data is read without a schema',
    'pass dtype, and check the columns',
  ],
  ['performance', 'warning', /\.iterrows\(\)/, 'iterrows visits row by row', 'use vectorized operations'],
]

const scriptRows: readonly Row[] = [
  ['logging', 'warning', /\bconsole\.(log|debug|dir)\s*\(/, 'console output in the code', 'use the logger'],
  ['code-quality', 'error', /^\s*debugger\b/, 'breakpoint'],
  ['code-quality', 'info', /(?<![=!])[=!]=(?!=)/, 'equality with conversion', 'use === or !=='],
  ['code-quality', 'error', /(?<![\w.])eval\s*\(/, 'text runs as code', 'parse the expected format'],
  [
    'error-handling',
    'warning',
    /catch\s*(?:\([^()]*\)\s*)?\{\s*\}/,
    'the error is caught and ignored',
    'handle it, or do not catch it',
  ],
  ['testing', 'error', /\b(describe|it|test)\.only\s*\(/, 'all other tests are skipped', 'remove .only'],
]

const typescriptRows: readonly Row[] = [
  ['type-safety', 'warning', /(:\s*any\b|\bas\s+any\b|<any>)/, 'any disables type checking', 'use unknown'],
]

const toRules = (rows: readonly Row[], more: Pick<LineRule, 'languages' | 'isRaw'>): LineRule[] =>
  rows.map(([category, severity, pattern, message, suggestion]) => ({
    category,
    severity,
    pattern,
    message,
    ...(suggestion === undefined ? {} : { suggestion }),
    ...more,
  }))

export const lineRules: readonly LineRule[] = [
  ...toRules(rawRows, { isRaw: true }),
  ...toRules(pythonRows, { languages: python }),
  ...toRules(scriptRows, { languages: script }),
  ...toRules(typescriptRows, { languages: typescript }),
  {
    category: 'type-safety',
    severity: 'warning',
    pattern: /@ts-(ignore|nocheck)/,
    message: 'a type error is silenced',
    suggestion: 'use @ts-expect-error with the reason',
    languages: script,
    isRaw: true,
  },
]

/** Returns the code of a line: each string becomes `""`, comments are removed. Strings and comments end with the line. */
export function stripText(line: string, language: string): string {
  const plain = stripStrings(line)
  if (python.includes(language)) return plain.replace(/#.*/s, '')
  return script.includes(language)
    ? plain.replace(/\/\/.*|\/\*.*?(\*\/|$)/gs, '').replace(/^\s*\*.*/, '')
    : plain
}

function stripStrings(line: string): string {
  // If a quote of one kind is not closed, every later one of that kind is escaped and is not closed either.
  const unclosed = new Set<string>()
  let [plain, end] = ['', 0]
  for (const { index, 0: quote } of line.matchAll(/["'`]/g)) {
    if (index < end || unclosed.has(quote)) continue
    const closing = findClosingQuote(line, index)
    if (closing === -1) unclosed.add(quote)
    else {
      plain += `${line.slice(end, index)}""`
      end = closing + 1
    }
  }
  return plain + line.slice(end)
}

function findClosingQuote(line: string, opening: number): number {
  for (let index = opening + 1; index < line.length; index++) {
    if (line[index] === line[opening]) return index
    if (line[index] === '\\') index++
  }
  return -1
}
