/** A review by rules: what changed lines show, with the lines of the new files. */
import { type Category, categories } from '../suggest/finding.ts'
import type { ChangedFile } from './changed-file.ts'
import { codeOf, lineRules, type Severity } from './line-rule.ts'

/** One remark. */
export interface ReviewComment {
  readonly file: string
  /** In the new file, from 1; within the cell where `message` begins with one. */
  readonly line: number
  readonly severity: Severity
  readonly category: Category
  readonly message: string
  readonly suggestion?: string | undefined
}

/** The verdict and what it is made of. */
export interface Review {
  readonly summary: {
    readonly filesChanged: number
    readonly linesAdded: number
    readonly linesRemoved: number
    readonly commentsCount: number
    readonly criticalCount: number
    readonly warningCount: number
    readonly infoCount: number
    readonly assessment: 'approved' | 'needs-changes' | 'comments'
    readonly highlights: readonly string[]
  }
  /** The gravest first, at most `mostComments`. */
  readonly comments: readonly ReviewComment[]
  /** What must change. */
  readonly issues: readonly string[]
  /** What to do, each once. */
  readonly suggestions: readonly string[]
}

/** Comments of an answer; the counts are those of all. */
const mostComments = 50
/** Added lines of a file from which on it is hard to review. */
const manyLines = 200
/** Warnings beyond which a change is not approved with comments. */
const fewWarnings = 5

const severities: readonly Severity[] = ['error', 'warning', 'info']

/** Reviews changed files; `focus` leaves only some concerns. */
export function review(files: readonly ChangedFile[], focus: readonly Category[] = categories): Review {
  const all = [...files.flatMap(ofFile), ...ofTests(files)]
    .filter(({ category }) => focus.includes(category))
    .toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
  const of = (severity: Severity) => all.filter((comment) => comment.severity === severity)
  const [errors, warnings, infos] = [of('error'), of('warning'), of('info')]
  const needsChanges = errors.length > 0 || warnings.length > fewWarnings
  return {
    summary: {
      filesChanged: new Set(files.map(({ path }) => path)).size,
      linesAdded: files.reduce((sum, { added }) => sum + added.length, 0),
      linesRemoved: files.reduce((sum, { removed }) => sum + removed, 0),
      commentsCount: all.length,
      criticalCount: errors.length,
      warningCount: warnings.length,
      infoCount: infos.length,
      assessment: needsChanges ? 'needs-changes' : all.length > 0 ? 'comments' : 'approved',
      highlights: highlights(all),
    },
    comments: all.slice(0, mostComments),
    issues: errors.slice(0, 20).map(({ file, line, message }) => `${file}:${line} ${message}`),
    suggestions: [...new Set(all.flatMap(({ suggestion }) => suggestion ?? []))].slice(0, 10),
  }
}

function ofFile({ path, part, language, added }: ChangedFile): ReviewComment[] {
  const within = part === undefined ? '' : `${part}: `
  const found = added.flatMap(({ line, text }) => {
    const code = codeOf(text, language)
    return lineRules
      .filter(({ languages, looks, isRaw = false }) => {
        return (languages?.includes(language) ?? true) && looks.test(isRaw ? text : code)
      })
      .map(({ severity, category, message, suggestion }): ReviewComment => {
        return { file: path, line, severity, category, message: within + message, suggestion }
      })
  })
  const [first] = added
  if (first === undefined || added.length <= manyLines) return found
  const size: ReviewComment = {
    file: path,
    line: first.line,
    severity: 'warning',
    category: 'size',
    message: `${within}${added.length} lines are added at once`,
    suggestion: 'split the change',
  }
  return [...found, size]
}

const isTest = (path: string): boolean =>
  /(^|\/)(tests?|__tests__|spec)\/|(^|\/)test_|[._](test|spec)\.\w+$|_test\.\w+$/.test(path)
const isCode = (language: string): boolean => /^(pyi?|[cm]?[jt]sx?)$/.test(language)

/** Code that changes without any test. */
function ofTests(files: readonly ChangedFile[]): ReviewComment[] {
  if (files.some(({ path }) => isTest(path))) return []
  const first = files.find(({ language, added }) => isCode(language) && added.length >= 10)
  const line = first?.added[0]?.line
  if (first === undefined || line === undefined) return []
  return [
    {
      file: first.path,
      line,
      severity: 'info',
      category: 'testing',
      message: 'code changes, and no test does',
      suggestion: 'add a test that fails without the change',
    },
  ]
}

/** How often each concern was met, the most frequent first. */
function highlights(all: readonly ReviewComment[]): readonly string[] {
  const counts = new Map<Category, number>()
  for (const { category } of all) counts.set(category, (counts.get(category) ?? 0) + 1)
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 5)
    .map(([category, count]) => `${category}: ${count}`)
}
