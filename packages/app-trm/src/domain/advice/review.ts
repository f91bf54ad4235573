import { type Category, categories } from './category.ts'
import type { ChangedFile } from './changed-file.ts'
import { lineRules, type Severity, stripText } from './line-rules.ts'

/** A comment on a line of the new file, from 1. */
export interface ReviewComment {
  readonly file: string
  readonly line: number
  readonly severity: Severity
  readonly category: Category
  readonly message: string
  readonly suggestion?: string | undefined
}

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
  /** The most severe first, at most `maxComments`. */
  readonly comments: readonly ReviewComment[]
  /** What must change. */
  readonly issues: readonly string[]
  readonly suggestions: readonly string[]
}

/** Maximum comments of a result; the counts include all of them. */
const maxComments = 50
/** A file with more added lines gets a comment. */
const maxAddedLines = 200
/** More warnings mean `needs-changes`. */
const maxWarnings = 5

const severities: readonly Severity[] = ['error', 'warning', 'info']

/** Reviews changed files with fixed rules; `focus` selects categories. */
export function review(files: readonly ChangedFile[], focus: readonly Category[] = categories): Review {
  const found = new CommentList(focus)
  for (const file of files) reviewFile(file, found)
  reviewTests(files, found)
  const { counts } = found
  const commentsCount = counts.error + counts.warning + counts.info
  const needsChanges = counts.error > 0 || counts.warning > maxWarnings
  return {
    summary: {
      filesChanged: new Set(files.map(({ path }) => path)).size,
      linesAdded: files.reduce((sum, { added }) => sum + added.length, 0),
      linesRemoved: files.reduce((sum, { removed }) => sum + removed, 0),
      commentsCount,
      criticalCount: counts.error,
      warningCount: counts.warning,
      infoCount: counts.info,
      assessment: needsChanges ? 'needs-changes' : commentsCount > 0 ? 'comments' : 'approved',
      highlights: found.highlights(),
    },
    comments: found.comments(),
    issues: found.issues(),
    suggestions: found.suggestions(),
  }
}

/** Counts all comments in focus and stores the first of each severity, so that memory does not grow with their number. */
class CommentList {
  readonly counts: Record<Severity, number> = { error: 0, warning: 0, info: 0 }
  readonly #focus: ReadonlySet<Category>
  readonly #first: Record<Severity, ReviewComment[]> = { error: [], warning: [], info: [] }
  readonly #byCategory = new Map<Category, number>()

  constructor(focus: readonly Category[]) {
    this.#focus = new Set(focus)
  }

  add(comment: ReviewComment): void {
    const { severity, category } = comment
    if (!this.#focus.has(category)) return
    this.counts[severity]++
    this.#byCategory.set(category, (this.#byCategory.get(category) ?? 0) + 1)
    if (this.#first[severity].length < maxComments) this.#first[severity].push(comment)
  }

  comments(): readonly ReviewComment[] {
    return severities.flatMap((severity) => this.#first[severity]).slice(0, maxComments)
  }

  issues(): readonly string[] {
    return this.#first.error.slice(0, 20).map(({ file, line, message }) => `${file}:${line} ${message}`)
  }

  suggestions(): readonly string[] {
    const all = severities.flatMap((severity) => this.#first[severity])
    return [...new Set(all.flatMap(({ suggestion }) => suggestion ?? []))].slice(0, 10)
  }

  /** Number of comments of each category, in descending order. */
  highlights(): readonly string[] {
    return [...this.#byCategory]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, 5)
      .map(([category, count]) => `${category}: ${count}`)
  }
}

function reviewFile({ path, language, added }: ChangedFile, found: CommentList): void {
  const rules = lineRules.filter(({ languages }) => languages?.includes(language) ?? true)
  for (const { line, text } of added) {
    const code = stripText(text, language)
    for (const { pattern, isRaw, severity, category, message, suggestion } of rules) {
      if (pattern.test(isRaw ? text : code))
        found.add({ file: path, line, severity, category, message, suggestion })
    }
  }
  const [first] = added
  if (first === undefined || added.length <= maxAddedLines) return
  found.add({
    file: path,
    line: first.line,
    severity: 'warning',
    category: 'size',
    message: `${added.length} lines are added at once`,
    suggestion: 'split the change',
  })
}

const isTest = (path: string): boolean =>
  /(^|\/)(tests?|__tests__|spec)\/|(^|\/)test_|[._](test|spec)\.\w+$|_test\.\w+$/.test(path)

/** Adds a comment if code changes and no test does. */
function reviewTests(files: readonly ChangedFile[], found: CommentList): void {
  if (files.some(({ path }) => isTest(path))) return
  const isCode = /^(pyi?|[cm]?[jt]sx?)$/
  const first = files.find(({ language, added }) => isCode.test(language) && added.length >= 10)
  const line = first?.added[0]?.line
  if (first === undefined || line === undefined) return
  found.add({
    file: first.path,
    line,
    severity: 'info',
    category: 'testing',
    message: 'the code changes and no test does',
    suggestion: 'add a test that fails without the change',
  })
}
