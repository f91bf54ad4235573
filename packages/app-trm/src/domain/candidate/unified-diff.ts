/** What a unified diff says, read as tolerantly as can be done without guessing: line numbers and counts are hints. */
import { CausewayError } from '@causeway/protocol'
import { blankHeader, type DiffHeader, isFilePair, withFilePair, withLine } from './diff-header.ts'
import { checkLineCount } from './edited-text.ts'

/** One line of a hunk: context, removed or added. */
export interface HunkLine {
  readonly op: ' ' | '-' | '+'
  readonly text: string
}

/** A hunk. */
export interface Hunk {
  readonly lines: readonly HunkLine[]
  /** First old line by the header, from 1; undefined for a bare `@@`. */
  readonly stated: number | undefined
  /** First new line by the header. */
  readonly statedNew: number | undefined
  /** True where the header's counts are those of the lines, as in a diff that a program made. */
  readonly isCounted: boolean
  /** True where a mark says that the old, the new last line has no end. */
  readonly oldUnended: boolean
  readonly newUnended: boolean
  /** True where the added lines end in CRLF and the header in LF: they are so in the file, and not only on their way. */
  readonly isCrLf: boolean
}

/** What a diff does to one file. */
export interface FileDiff extends DiffHeader {
  readonly hunks: readonly Hunk[]
}

interface Draft {
  header: DiffHeader
  isPaired: boolean
  readonly hunks: Hunk[]
}

/**
 * Reads a unified diff of any number of files, as git, diff or a model writes it: within Markdown fences, with prose
 * around it, with wrong counts, bare `@@`, or blank lines that lost their space. A hunk that is cut off by something
 * else while added or removed lines follow is refused, as reading on would lose them. Throws `INVALID_DIFF`,
 * `FILE_TOO_LARGE`.
 */
export function readDiff(text: string): readonly FileDiff[] {
  checkLineCount([text], 'the diff')
  // What follows the last line end is no line: as a blank one it could be taken for context.
  const written = text.replace(/^\ufeff|\n$/g, '').split('\n')
  const lines = written.map((line) => line.replace(/\r$/, ''))
  const drafts: Draft[] = []
  const open = (): Draft => {
    const opened: Draft = { header: blankHeader, isPaired: false, hunks: [] }
    drafts.push(opened)
    return opened
  }
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? ''
    const last = drafts.at(-1)
    if (line.startsWith('@@@')) throw invalid(at, 'starts a combined diff, of a merge')
    if (line.startsWith('@@')) {
      const { hunk, next } = readHunk(lines, at)
      refuseLost(lines, next)
      if (last === undefined) refuseHeadless(lines, at)
      const file = last ?? open()
      file.hunks.push({ ...hunk, isCrLf: isCrLf(written.slice(at, next)) })
      at = next
    } else if (isFilePair(lines, at)) {
      const isOpen = last !== undefined && !last.isPaired && last.hunks.length === 0 && !last.header.isBinary
      const file = isOpen ? last : open()
      file.header = withFilePair(file.header, lines.slice(at, at + 2))
      file.isPaired = true
      at += 2
      refuseLost(lines, at)
    } else {
      const isOpening = /^(diff --git |Index: )/.test(line)
      const file = isOpening ? open() : last
      if (file) file.header = withLine(file.header, line)
      at++
      if (isOpening) refuseLost(lines, at)
    }
  }
  return drafts.map(({ header, hunks }) => ({ ...header, hunks }))
}

const invalid = (at: number, reason: string): CausewayError =>
  new CausewayError('INVALID_DIFF', `line ${at + 1} of the diff ${reason}`, { data: { line: at + 1 } })

const isCrLf = ([header = '', ...body]: readonly string[]): boolean =>
  !header.endsWith('\r') && body.every((line) => !line.startsWith('+') || line.endsWith('\r'))

interface Counts {
  old: number
  new: number
}

const isEqual = (a: Counts, b: Counts | undefined): boolean => a.old === b?.old && a.new === b.new

function readHunk(
  lines: readonly string[],
  at: number,
): { readonly hunk: Omit<Hunk, 'isCrLf'>; readonly next: number } {
  const numbers = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(lines[at] ?? '')
  const [, start, olds = '1', newStart, news = '1'] = numbers ?? []
  const wanted = numbers === null ? undefined : { old: Number(olds), new: Number(news) }
  const seen: Counts = { old: 0, new: 0 }
  const body: HunkLine[] = []
  let [oldUnended, newUnended] = [false, false]
  let next = at + 1
  for (; next < lines.length; next++) {
    const line = lines[next] ?? ''
    const last = body.at(-1)
    if (line.startsWith('\\')) {
      if (last?.op !== '+') oldUnended = true
      if (last?.op !== '-') newUnended = true
      continue
    }
    const op = line === '' ? ' ' : line[0]
    if (op !== ' ' && op !== '-' && op !== '+') break
    if (endsHunk(lines, next, seen, wanted)) break
    body.push({ op, text: line.slice(1) })
    if (op !== '+') seen.old++
    if (op !== '-') seen.new++
  }
  dropTrail(body, seen, wanted)
  // A hunk without old lines names the line that it follows.
  const stated = wanted === undefined ? undefined : Number(start) + (wanted.old === 0 ? 1 : 0)
  const statedNew = wanted === undefined ? undefined : Number(newStart)
  return {
    hunk: { lines: body, stated, statedNew, isCounted: isEqual(seen, wanted), oldUnended, newUnended },
    next,
  }
}

/**
 * True for a line that looks like one of a hunk and is none: the signature below a mail, and headers of a file, unless
 * the counts say that a removed `-- x` or an added `++ y` belongs there.
 */
function endsHunk(lines: readonly string[], at: number, seen: Counts, wanted: Counts | undefined): boolean {
  const line = lines[at] ?? ''
  if (/^-- ?$/.test(line)) return isEqual(seen, wanted)
  const followedBy = (index: number) => (lines[index] ?? '').startsWith('@@')
  if (isFilePair(lines, at) && followedBy(at + 2)) {
    return !isEqual({ old: seen.old + 1, new: seen.new + 1 }, wanted)
  }
  if (!/^(---|\+\+\+) \S/.test(line) || !followedBy(at + 1)) return false
  const isAdded = line.startsWith('+')
  return !isEqual({ old: seen.old + (isAdded ? 0 : 1), new: seen.new + (isAdded ? 1 : 0) }, wanted)
}

/** Blank lines at the end are rather the end of the text than context, unless the counts include them. */
function dropTrail(body: HunkLine[], seen: Counts, wanted: Counts | undefined): void {
  while (!isEqual(seen, wanted) && body.at(-1)?.op === ' ' && body.at(-1)?.text === '') {
    body.pop()
    seen.old--
    seen.new--
  }
}

/**
 * Refuses added and removed lines that stand under no `@@`: behind a hunk or a file header, up to the next one. Behind
 * a fence or the signature of a mail stands prose, or the rest of a hunk of which that line is one that lost its blank:
 * what looks like a change and not like a list is refused there, too.
 */
function refuseLost(lines: readonly string[], from: number): void {
  let isProse = false
  for (let at = from; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (/^(diff --git |Index: |@@|GIT binary patch)/.test(line) || isFilePair(lines, at)) return
    isProse ||= isFence(line) || /^-- ?$/.test(line)
    if (isProse ? isChange(lines, at) : /^[+-]/.test(line)) throw invalid(at, 'belongs to no hunk')
  }
}

/** The same above the first hunk of a diff without file headers. */
function refuseHeadless(lines: readonly string[], to: number): void {
  for (let at = to - 1; at >= 0 && !isFence(lines[at]); at--) {
    if (isChange(lines, at)) throw invalid(at, 'belongs to no hunk')
  }
}

const isFence = (line = ''): boolean => /^(```|~~~)/.test(line)

/** An added or removed line; `- text` is rather a list in the prose around a diff, unless context stands beside it. */
function isChange(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? ''
  const isBeside = [at - 1, at + 1].some((index) => /^ +\S/.test(lines[index] ?? ''))
  return /^(\+|-(?! \S|- ?$))/.test(line) || (/^- \S/.test(line) && isBeside)
}
