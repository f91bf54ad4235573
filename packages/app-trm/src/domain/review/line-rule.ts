/** Rules for single added lines. Each expression runs in time linear in the length of the line. */
import type { Category } from '../suggest/finding.ts'

/** How much a comment weighs. */
export type Severity = 'error' | 'warning' | 'info'

/** A rule over one line. */
export interface LineRule {
  readonly category: Category
  readonly severity: Severity
  readonly message: string
  readonly suggestion?: string
  /** Languages by extension; undefined for all. */
  readonly languages?: readonly string[]
  /** Whether strings and comments are looked at, too. */
  readonly isRaw?: boolean
  readonly looks: RegExp
}

const py = ['py', 'pyi']
const script = ['js', 'mjs', 'cjs', 'jsx', 'ts', 'mts', 'cts', 'tsx']
const typed = ['ts', 'mts', 'cts', 'tsx']

const rule = (
  category: Category,
  severity: Severity,
  looks: RegExp,
  [message, suggestion]: readonly [string, string?],
  more: Pick<LineRule, 'languages' | 'isRaw'> = {},
): LineRule => ({
  category,
  severity,
  looks,
  message,
  ...(suggestion === undefined ? {} : { suggestion }),
  ...more,
})

/** All of them. */
export const lineRules: readonly LineRule[] = [
  rule('code-quality', 'error', /^(<{7}|>{7}) /, ['a mark of a merge conflict is left'], { isRaw: true }),
  rule('todos', 'info', /\b(TODO|FIXME|XXX|HACK)\b/, ['a note of open work', 'do it, or open an issue'], {
    isRaw: true,
  }),
  rule('formatting', 'info', /^.{121,}$/, ['the line has more than 120 characters', 'break it'], {
    isRaw: true,
  }),

  rule('logging', 'warning', /(?<![\w.])print\s*\(/, ['print in the code', 'use logging'], { languages: py }),
  rule(
    'error-handling',
    'error',
    /^\s*except\s*:/,
    ['a bare except catches interrupts and exits too', 'name the exceptions'],
    { languages: py },
  ),
  rule(
    'error-handling',
    'warning',
    /^\s*except\s+(Base)?Exception\b.*:\s*(pass\s*)?$/,
    ['every exception is caught here', 'name those that can be handled'],
    { languages: py },
  ),
  rule(
    'error-handling',
    'warning',
    /^\s*(?:\w+\s+)?def\s+\w+\(.*=\s*(?:\[\]|\{\}|set\(\))/,
    ['a default is shared by all calls', 'default to None and make it inside'],
    { languages: py },
  ),
  rule(
    'type-safety',
    'warning',
    /[:>]\s*(typing\.)?Any\b/,
    ['Any switches the type check off', 'name the type'],
    { languages: py },
  ),
  rule(
    'type-safety',
    'info',
    /^\s*(\w+\s+)?def\s+(?!_)\w+\(.*\)\s*:\s*$/,
    ['a function without a return type', 'annotate parameters and result'],
    { languages: py },
  ),
  rule(
    'type-safety',
    'info',
    /#\s*type:\s*ignore(?!\[)/,
    ['a type error is silenced without its code', 'write ignore[code]'],
    { languages: py, isRaw: true },
  ),
  rule(
    'code-quality',
    'error',
    /(?<![\w.])(eval|exec)\s*\(/,
    ['text is run as code', 'parse what is expected'],
    { languages: py },
  ),
  rule(
    'code-quality',
    'warning',
    /^\s*from\s+\S+\s+import\s+\*/,
    ['a star import hides where names come from', 'import the names'],
    { languages: py },
  ),
  rule('code-quality', 'warning', /[=!]=\s*None\b/, ['None is compared by value', 'use is None'], {
    languages: py,
  }),
  rule('code-quality', 'error', /^\s*(breakpoint\(\)|import pdb|pdb\.set_trace)/, ['a breakpoint is left'], {
    languages: py,
  }),
  rule(
    'data-validation',
    'warning',
    /inplace\s*=\s*True/,
    ['inplace=True hides the change and saves nothing', 'assign the result'],
    { languages: py },
  ),
  rule(
    'data-validation',
    'warning',
    /^\s*(?=\w*df)\w+\[[^[\]]*\]\s*\[[^[\]]*\]\s*=(?!=)/i,
    ['chained assignment may change a copy', 'assign with .loc[rows, column]'],
    { languages: py },
  ),
  rule(
    'data-validation',
    'info',
    /\.read_(?:csv|excel|json)\((?:(?!dtype|\.read_(?:csv|excel|json)\().)*$/,
    ['data is read without a schema', 'give dtype, and check the columns'],
    { languages: py },
  ),
  rule(
    'performance',
    'warning',
    /\.iterrows\(\)/,
    ['iterrows visits row by row', 'use vectorised operations or itertuples'],
    { languages: py },
  ),
  rule(
    'testing',
    'warning',
    /@(pytest\.mark|unittest)\.skip\b/,
    ['a test is skipped', 'say why, and until when'],
    { languages: py },
  ),

  rule(
    'logging',
    'warning',
    /\bconsole\.(log|debug|dir)\s*\(/,
    ['console output in the code', 'use the logger'],
    { languages: script },
  ),
  rule('code-quality', 'error', /^\s*debugger\b/, ['a breakpoint is left'], { languages: script }),
  rule('code-quality', 'info', /(?<![=!])[=!]=(?!=)/, ['equality with conversion', 'use === or !=='], {
    languages: script,
  }),
  rule('code-quality', 'error', /(?<![\w.])eval\s*\(/, ['text is run as code', 'parse what is expected'], {
    languages: script,
  }),
  rule(
    'error-handling',
    'warning',
    /catch\s*(?:\([^()]*\)\s*)?\{\s*\}/,
    ['an error is caught and dropped', 'handle it, or let it pass'],
    { languages: script },
  ),
  rule(
    'type-safety',
    'warning',
    /(:\s*any\b|\bas\s+any\b|<any>)/,
    ['any switches the type check off', 'name the type, or use unknown'],
    { languages: typed },
  ),
  rule(
    'type-safety',
    'warning',
    /@ts-(ignore|nocheck)/,
    ['a type error is silenced', 'use @ts-expect-error with the reason'],
    { languages: script, isRaw: true },
  ),
  rule(
    'testing',
    'error',
    /\b(describe|it|test)\.only\s*\(/,
    ['all other tests are left out', 'remove .only'],
    { languages: script },
  ),
  rule(
    'testing',
    'warning',
    /\b(describe|it|test)\.skip\s*\(/,
    ['a test is skipped', 'say why, and until when'],
    { languages: script },
  ),
]

/** Returns the code of a line: each string becomes `""`, comments are removed. Strings and comments end with the line. */
export function codeOf(line: string, language: string): string {
  const plain = withoutStrings(line)
  if (py.includes(language)) return plain.replace(/#.*/s, '')
  return script.includes(language)
    ? plain.replace(/\/\/.*|\/\*.*?(\*\/|$)/gs, '').replace(/^\s*\*.*/, '')
    : plain
}

function withoutStrings(line: string): string {
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

/** Returns the index of the quote that closes the string starting at `opening`, or -1. */
function findClosingQuote(line: string, opening: number): number {
  for (let index = opening + 1; index < line.length; index++) {
    if (line[index] === line[opening]) return index
    if (line[index] === '\\') index++
  }
  return -1
}
