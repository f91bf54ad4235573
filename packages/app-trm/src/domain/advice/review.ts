import { TrmError } from '../../errors.ts'
import { stripPrefixes } from '../candidate/diff-header.ts'
import { checkLineCount } from '../candidate/edited-text.ts'
import { LineComparison } from '../candidate/line-diff.ts'
import { readDiff } from '../candidate/unified-diff.ts'
import { type Category, categories } from './category.ts'

type Severity = 'error' | 'warning' | 'info'

/** A comment on a line of the new file, from 1. */
export interface ReviewComment {
  readonly file: string
  readonly line: number
  readonly severity: Severity
  readonly category: Category
  readonly message: string
  readonly suggestion?: string | undefined
}

interface ChangedFile {
  readonly path: string
  readonly added: readonly { readonly line: number; readonly text: string }[]
  readonly removed: number
}

export interface ReviewedFile {
  readonly path: string
  readonly content: string
  readonly orig?: string | undefined
}

/** Throws `NOT_A_DIFF`, `FILE_TOO_LARGE`. */
export function readChangedFiles(diff: string): readonly ChangedFile[] {
  const files = readFiles(diff)
  if (files.length === 0) throw new TrmError('NOT_A_DIFF', 'the text has no hunk')
  return files.map((file) => {
    const { from, to } = stripPrefixes(file)
    const lines = file.hunks.map((hunk) => ({
      newStart: hunk.newStart ?? 1,
      lines: hunk.lines.map(({ op, text }) => op + text),
    }))
    return toChangedFile(to ?? from ?? 'unnamed', lines)
  })
}

function readFiles(diff: string) {
  try {
    return readDiff(diff).filter(({ hunks, isBinary, isBare }) => hunks.length > 0 || isBinary || isBare)
  } catch (error) {
    if (!TrmError.is(error, 'INVALID_DIFF')) throw error
    throw new TrmError('NOT_A_DIFF', error.message, { data: error.data, cause: error })
  }
}

/** Throws `FILE_TOO_LARGE`. */
export function compareFiles(files: readonly ReviewedFile[]): readonly ChangedFile[] {
  const texts = files.flatMap(({ content, orig = '' }) => [content, orig])
  checkLineCount(texts, 'the files to review')
  const comparison = new LineComparison()
  return files.map(({ path, content, orig = '' }) =>
    toChangedFile(path, comparison.compare(orig.replaceAll('\r\n', '\n'), content.replaceAll('\r\n', '\n'))),
  )
}

function toChangedFile(
  path: string,
  hunks: readonly { readonly newStart: number; readonly lines: readonly string[] }[],
): ChangedFile {
  const added: { line: number; text: string }[] = []
  for (const { lines, newStart } of hunks) {
    let line = newStart
    for (const text of lines) {
      if (text.startsWith('+')) added.push({ line, text: text.slice(1) })
      if (/^[+ ]/.test(text)) line++
    }
  }
  const removed = hunks.flatMap(({ lines }) => lines.filter((text) => text.startsWith('-'))).length
  return { path, added, removed }
}

const [python, script, typed] = [/\.pyi?$/, /\.[cm]?[jt]sx?$/, /\.[cm]?tsx?$/]

/** `message` is the problem, a colon, and what to do. */
type Rule = readonly [Category, Severity, files: RegExp, pattern: RegExp, message: string]

const textRules: readonly Rule[] = [
  ['todos', 'info', /./, /\b(TODO|FIXME|XXX|HACK)\b/, 'note of open work: do it, or open an issue'],
  ['code-quality', 'error', /./, /^(<{7}|>{7}) /, 'merge conflict marker'],
  ['type-safety', 'warning', script, /@ts-(ignore|nocheck)/, 'a type error is hidden: correct the type'],
]

const longLine: Rule = ['formatting', 'info', /./, /./, 'more than 120 characters: break it']

/** Rules for added code without strings and comments. */
const codeRules: readonly Rule[] = [
  ['logging', 'warning', python, /(?<![\w.])print\s*\(/, 'print in the code: use logging'],
  ['logging', 'warning', script, /\bconsole\.(log|debug|dir)\s*\(/, 'console output: use the logger'],
  ['error-handling', 'error', python, /^\s*except\s*:/, 'bare except also catches exits: name exceptions'],
  ['error-handling', 'warning', python, /\bdef \w+\(.*=\s*(\[\]|\{\})/, 'mutable default: use None'],
  ['error-handling', 'warning', script, /catch\s*(\([^()]*\)\s*)?\{\s*\}/, 'the error is ignored: handle it'],
  ['type-safety', 'warning', python, /[:>]\s*(typing\.)?Any\b/, 'Any disables type checks: name the type'],
  ['type-safety', 'warning', typed, /:\s*any\b|\bas\s+any\b|<any>/, 'any disables type checks: use unknown'],
  ['code-quality', 'error', /./, /(?<![\w.])(eval|exec)\s*\(/, 'text runs as code: parse it instead'],
  ['code-quality', 'error', /./, /^\s*(breakpoint\(\)|import pdb|debugger\b)/, 'breakpoint'],
  ['code-quality', 'info', script, /(?<![=!])[=!]=(?!=)/, 'equality with conversion: use === or !=='],
  ['testing', 'error', script, /\b(describe|it|test)\.only\s*\(/, 'other tests are skipped: remove .only'],
  ['data-validation', 'warning', python, /inplace\s*=\s*True/, 'inplace=True: assign the result instead'],
  ['data-validation', 'warning', python, /^\s*\w*df\w*(\[[^[\]]*\]\s*){2}=(?!=)/i, 'chained: use .loc'],
  ['data-validation', 'info', python, /\.read_(csv|excel)\((?!.*dtype)/, 'data without a schema: pass dtype'],
]

/** Keeps the time of a review linear. */
const maxLineLength = 500

const removeTextAndComments = (line: string, path: string): string => {
  const code = line.replace(/(["'`])(?:\\.|(?!\1)[^\\])*\1/g, '""')
  return code.replace(python.test(path) ? /#.*/ : /\/\/.*|\/\*.*?(\*\/|$)|^\s*\*.*/g, '')
}

const maxComments = 50
const maxAddedLines = 200
const maxWarnings = 5

export type Review = ReturnType<typeof review>

export function review(files: readonly ChangedFile[], focus: readonly Category[] = categories) {
  const counts = { error: 0, warning: 0, info: 0 }
  const byCategory = new Map<Category, number>()
  const first: ReviewComment[] = []
  const add = (comment: ReviewComment): void => {
    const { severity, category } = comment
    const [message = '', suggestion] = comment.message.split(': ')
    if (!focus.includes(category)) return
    if (counts[severity]++ < maxComments) first.push({ ...comment, message, suggestion })
    byCategory.set(category, (byCategory.get(category) ?? 0) + 1)
  }
  for (const file of files) reviewFile(file, add)
  reviewTests(files, add)
  const order: readonly Severity[] = ['error', 'warning', 'info']
  const sorted = first.toSorted((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity))
  const errors = sorted.filter(({ severity }) => severity === 'error')
  const needsChanges = counts.error > 0 || counts.warning > maxWarnings
  const accepted = first.length > 0 ? 'comments' : 'approved'
  const assessment = needsChanges ? 'needs-changes' : accepted
  const categoryCounts = [...byCategory].toSorted(([, a], [, b]) => b - a).slice(0, 5)
  return {
    summary: {
      filesChanged: new Set(files.map(({ path }) => path)).size,
      linesAdded: files.reduce((sum, { added }) => sum + added.length, 0),
      linesRemoved: files.reduce((sum, { removed }) => sum + removed, 0),
      commentsCount: counts.error + counts.warning + counts.info,
      criticalCount: counts.error,
      warningCount: counts.warning,
      infoCount: counts.info,
      assessment,
      highlights: categoryCounts.map(([category, count]) => `${category}: ${count}`),
    },
    comments: sorted.slice(0, maxComments),
    issues: errors.slice(0, 20).map(({ file, line, message }) => `${file}:${line} ${message}`),
    suggestions: [...new Set(sorted.flatMap(({ suggestion }) => suggestion ?? []))].slice(0, 10),
  }
}

function reviewFile({ path, added }: ChangedFile, add: (comment: ReviewComment) => void): void {
  const applies = ([, , files]: Rule) => files.test(path)
  const [forText, forCode] = [textRules.filter(applies), codeRules.filter(applies)]
  const check = (rules: readonly Rule[], line: number, text: string) => {
    for (const [category, severity, , pattern, message] of rules)
      if (pattern.test(text)) add({ file: path, line, severity, category, message })
  }
  for (const { line, text } of added) {
    const start = text.slice(0, maxLineLength)
    check(forText, line, start)
    check(forCode, line, removeTextAndComments(start, path))
    if (text.length > 120) check([longLine], line, text)
  }
  const [first] = added
  if (first === undefined || added.length <= maxAddedLines) return
  const message = `${added.length} lines are added at once: split the change`
  add({ file: path, line: first.line, severity: 'warning', category: 'size', message })
}

const isTest = (path: string): boolean =>
  /(^|\/)(tests?|__tests__|spec)\/|(^|\/)test_|[._](test|spec)\.\w+$|_test\.\w+$/.test(path)

function reviewTests(files: readonly ChangedFile[], add: (comment: ReviewComment) => void): void {
  const changed = files.find(
    ({ path, added }) => (python.test(path) || script.test(path)) && added.length >= 10,
  )
  const line = changed?.added[0]?.line
  if (changed === undefined || line === undefined || files.some(({ path }) => isTest(path))) return
  const message = 'the code changes and no test does: add a test that fails without the change'
  add({ file: changed.path, line, severity: 'info', category: 'testing', message })
}
