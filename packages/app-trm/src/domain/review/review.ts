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
  const found = new CommentList(focus)
  for (const file of files) reviewLines(file, found)
  reviewTests(files, found)
  const { counts } = found
  const commentsCount = counts.error + counts.warning + counts.info
  const needsChanges = counts.error > 0 || counts.warning > fewWarnings
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
  readonly #suggestions: Record<Severity, Set<string>> = {
    error: new Set(),
    warning: new Set(),
    info: new Set(),
  }
  readonly #byCategory = new Map<Category, number>()

  constructor(focus: readonly Category[]) {
    this.#focus = new Set(focus)
  }

  add(comment: ReviewComment): void {
    const { severity, category, suggestion } = comment
    if (!this.#focus.has(category)) return
    this.counts[severity]++
    this.#byCategory.set(category, (this.#byCategory.get(category) ?? 0) + 1)
    if (this.#first[severity].length < mostComments) this.#first[severity].push(comment)
    if (suggestion !== undefined) this.#suggestions[severity].add(suggestion)
  }

  comments(): readonly ReviewComment[] {
    return severities.flatMap((severity) => this.#first[severity]).slice(0, mostComments)
  }

  issues(): readonly string[] {
    return this.#first.error.slice(0, 20).map(({ file, line, message }) => `${file}:${line} ${message}`)
  }

  suggestions(): readonly string[] {
    return [...new Set(severities.flatMap((severity) => [...this.#suggestions[severity]]))].slice(0, 10)
  }

  /** Number of comments of each category, in descending order. */
  highlights(): readonly string[] {
    return [...this.#byCategory]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, 5)
      .map(([category, count]) => `${category}: ${count}`)
  }
}

function reviewLines({ path, part, language, added }: ChangedFile, found: CommentList): void {
  const within = part === undefined ? '' : `${part}: `
  const rules = lineRules.filter(({ languages }) => languages?.includes(language) ?? true)
  for (const { line, text } of added) {
    const code = codeOf(text, language)
    for (const { looks, isRaw, severity, category, message, suggestion } of rules) {
      if (looks.test(isRaw ? text : code))
        found.add({ file: path, line, severity, category, message: within + message, suggestion })
    }
  }
  const [first] = added
  if (first === undefined || added.length <= manyLines) return
  found.add({
    file: path,
    line: first.line,
    severity: 'warning',
    category: 'size',
    message: `${within}${added.length} lines are added at once`,
    suggestion: 'split the change',
  })
}

const isTest = (path: string): boolean =>
  /(^|\/)(tests?|__tests__|spec)\/|(^|\/)test_|[._](test|spec)\.\w+$|_test\.\w+$/.test(path)
const isCode = (language: string): boolean => /^(pyi?|[cm]?[jt]sx?)$/.test(language)

/** Adds a comment if code changes and no test does. */
function reviewTests(files: readonly ChangedFile[], found: CommentList): void {
  if (files.some(({ path }) => isTest(path))) return
  const first = files.find(({ language, added }) => isCode(language) && added.length >= 10)
  const line = first?.added[0]?.line
  if (first === undefined || line === undefined) return
  found.add({
    file: first.path,
    line,
    severity: 'info',
    category: 'testing',
    message: 'code changes, and no test does',
    suggestion: 'add a test that fails without the change',
  })
}
