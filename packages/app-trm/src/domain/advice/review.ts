import { TrmError } from '../../errors.ts'
import { stripPrefixes } from '../candidate/diff-header.ts'
import { checkLineCount, toLineFeeds } from '../candidate/edited-text.ts'
import { LineComparison } from '../candidate/line-diff.ts'
import { type FileDiff, readDiff } from '../candidate/unified-diff.ts'
import { isTestPath } from '../evaluation/tamper.ts'
import { type Category, categories } from './category.ts'

const severities = ['error', 'warning', 'info'] as const
type Severity = (typeof severities)[number]

/** A comment on a line of the new file, counted from 1. */
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
  readonly addedLines: readonly { readonly line: number; readonly text: string }[]
  readonly removedCount: number
}

export interface ReviewedFile {
  readonly path: string
  readonly content: string
  readonly orig?: string | undefined
}

/** Parses a diff. Throws `NOT_A_DIFF` for other text and `FILE_TOO_LARGE` for too many lines. */
export function readChangedFiles(diff: string): readonly ChangedFile[] {
  let files: readonly FileDiff[]
  try {
    files = readDiff(diff).filter(({ hunks, isBinary, isRename }) => hunks.length > 0 || isBinary || isRename)
  } catch (error) {
    if (!TrmError.is(error, 'INVALID_DIFF')) throw error
    throw new TrmError('NOT_A_DIFF', error.message, { data: error.data, cause: error })
  }
  if (files.length === 0) throw new TrmError('NOT_A_DIFF', 'the text has no hunk')
  return files.map((file) => {
    const { from, to } = stripPrefixes(file)
    const hunks = file.hunks.map(({ newStart = 1, lines }) => ({
      newStart,
      lines: lines.map(({ op, text }) => op + text),
    }))
    return toChangedFile(to ?? from ?? 'unnamed', hunks)
  })
}

/** Throws `FILE_TOO_LARGE` for too many lines. */
export function compareFiles(files: readonly ReviewedFile[]): readonly ChangedFile[] {
  checkLineCount(
    files.flatMap(({ content, orig = '' }) => [content, orig]),
    'the files to review',
  )
  const comparison = new LineComparison()
  return files.map(({ path, content, orig = '' }) =>
    toChangedFile(path, comparison.compare(toLineFeeds(orig), toLineFeeds(content))),
  )
}

function toChangedFile(
  path: string,
  hunks: readonly { readonly newStart: number; readonly lines: readonly string[] }[],
): ChangedFile {
  const addedLines = hunks.flatMap(({ lines, newStart }) =>
    lines
      .filter((line) => /^[+ ]/.test(line))
      .flatMap((line, index) => (line[0] === '+' ? [{ line: newStart + index, text: line.slice(1) }] : [])),
  )
  return {
    path,
    addedLines,
    removedCount: hunks.flatMap(({ lines }) => lines.filter((line) => line[0] === '-')).length,
  }
}

const [python, script, ts] = [/\.pyi?$/, /\.[cm]?[jt]sx?$/, /\.[cm]?tsx?$/]

/** A review rule. `message` is the problem and, after a colon, usually the remedy. */
type Rule = readonly [Category, Severity, files: RegExp, pattern: RegExp, message: string]

const textRules: readonly Rule[] = [
  ['todos', 'info', /./, /\b(TODO|FIXME|XXX|HACK)\b/, 'note of open work: do it, or open an issue'],
  ['code-quality', 'error', /./, /^(<{7}|>{7}) /, 'merge conflict marker'],
  ['type-safety', 'warning', script, /@ts-(ignore|nocheck)/, 'a type error is hidden: correct the type'],
]

const longLineRule: Rule = ['formatting', 'info', /./, /./, 'more than 120 characters: break it']
const largeChangeRule: Rule = ['size', 'warning', /./, /./, 'more than 200 lines are added: split the change']
const missingTestRule: Rule = ['testing', 'info', /./, /./, 'the code changes and no test does: add a test']

/** Rules for added lines without their strings and comments. */
const codeRules: readonly Rule[] = [
  ['logging', 'warning', python, /(?<![\w.])print\s*\(/, 'print in the code: use logging'],
  ['logging', 'warning', script, /\bconsole\.(log|debug|dir)\s*\(/, 'console output: use the logger'],
  ['error-handling', 'error', python, /^\s*except\s*:/, 'bare except also catches exits: name exceptions'],
  ['error-handling', 'warning', python, /\bdef \w+\(.*=\s*(\[\]|\{\})/, 'mutable default: use None'],
  ['error-handling', 'warning', script, /catch\s*(\([^()]*\)\s*)?\{\s*\}/, 'the error is ignored: handle it'],
  ['type-safety', 'warning', python, /[:>]\s*(typing\.)?Any\b/, 'Any disables type checks: name the type'],
  ['type-safety', 'warning', ts, /:\s*any\b|\bas\s+any\b|<any>/, 'any disables type checks: use unknown'],
  ['code-quality', 'error', /./, /(?<![\w.])(eval|exec)\s*\(/, 'text runs as code: parse it instead'],
  ['code-quality', 'error', /./, /^\s*(breakpoint\(\)|import pdb|debugger\b)/, 'breakpoint'],
  ['code-quality', 'info', script, /(?<![=!])[=!]=(?!=)/, 'equality with conversion: use === or !=='],
  ['testing', 'error', script, /\b(describe|it|test)\.only\s*\(/, 'other tests are skipped: remove .only'],
  ['data-validation', 'warning', python, /inplace\s*=\s*True/, 'inplace=True: assign the result instead'],
  ['data-validation', 'warning', python, /^\s*\w*df\w*(\[[^[\]]*\]\s*){2}=(?!=)/i, 'chained: use .loc'],
  ['data-validation', 'info', python, /\.read_(csv|excel)\((?!.*dtype)/, 'data without a schema: pass dtype'],
]

/** In UTF-16 units. To limit the time, only the start of a longer line is searched. */
const maxLineLength = 500

const removeStringsAndComments = (line: string, path: string): string => {
  const code = line.replace(/(["'`])(?:\\.|(?!\1)[^\\])*\1/g, '""')
  return code.replace(python.test(path) ? /#.*/ : /\/\/.*|\/\*.*?(\*\/|$)|^\s*\*.*/g, '')
}

const [maxComments, maxAddedLines, maxWarnings] = [50, 200, 5]

export type Review = ReturnType<typeof review>

export function review(files: readonly ChangedFile[], focus: readonly Category[] = categories) {
  const comments = [...files.flatMap(reviewFile), ...reviewTests(files)]
    .filter(({ category }) => focus.includes(category))
    .toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
  const countComments = (key: Severity | Category): number =>
    comments.filter(({ severity, category }) => severity === key || category === key).length
  const needsChanges = countComments('error') > 0 || countComments('warning') > maxWarnings
  const highlights = focus
    .map((category) => ({ category, count: countComments(category) }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
  return {
    summary: {
      filesChanged: new Set(files.map(({ path }) => path)).size,
      linesAdded: files.reduce((sum, { addedLines }) => sum + addedLines.length, 0),
      linesRemoved: files.reduce((sum, { removedCount }) => sum + removedCount, 0),
      commentsCount: comments.length,
      criticalCount: countComments('error'),
      warningCount: countComments('warning'),
      infoCount: countComments('info'),
      assessment: needsChanges ? 'needs-changes' : comments.length > 0 ? 'comments' : 'approved',
      highlights: highlights.slice(0, 5).map(({ category, count }) => `${category}: ${count}`),
    },
    comments: comments.slice(0, maxComments),
    issues: comments
      .filter(({ severity }) => severity === 'error')
      .slice(0, 20)
      .map(({ file, line, message }) => `${file}:${line} ${message}`),
    suggestions: [...new Set(comments.flatMap(({ suggestion }) => suggestion ?? []))].slice(0, 10),
  }
}

function createComment(file: string, line: number, [category, severity, , , text]: Rule): ReviewComment {
  const [message = '', suggestion] = text.split(': ')
  return { file, line, severity, category, message, suggestion }
}

function reviewFile({ path, addedLines }: ChangedFile): readonly ReviewComment[] {
  const [fileTextRules = [], fileCodeRules = []] = [textRules, codeRules].map((rules) =>
    rules.filter(([, , files]) => files.test(path)),
  )
  const comments = addedLines.flatMap(({ line, text }) => {
    const start = text.slice(0, maxLineLength)
    const code = removeStringsAndComments(start, path)
    return [
      ...fileTextRules.filter(([, , , pattern]) => pattern.test(start)),
      ...fileCodeRules.filter(([, , , pattern]) => pattern.test(code)),
      ...(text.length > 120 ? [longLineRule] : []),
    ].map((rule) => createComment(path, line, rule))
  })
  const [first] = addedLines
  return first === undefined || addedLines.length <= maxAddedLines
    ? comments
    : [...comments, createComment(path, first.line, largeChangeRule)]
}

function reviewTests(files: readonly ChangedFile[]): readonly ReviewComment[] {
  const addsCode = ({ path, addedLines }: ChangedFile) =>
    (python.test(path) || script.test(path)) && addedLines.length >= 10
  const untestedFile = files.some(({ path }) => isTestPath(path)) ? undefined : files.find(addsCode)
  return untestedFile === undefined
    ? []
    : [createComment(untestedFile.path, untestedFile.addedLines[0]?.line ?? 1, missingTestRule)]
}
