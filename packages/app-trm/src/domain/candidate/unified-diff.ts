import type { CausewayError } from '@causeway/protocol'
import { TrmError } from '../../errors.ts'
import { addFilePair, addHeaderLine, type DiffHeader, emptyHeader, isFilePair } from './diff-header.ts'
import { checkLineCount } from './edited-text.ts'

export interface HunkLine {
  readonly op: ' ' | '-' | '+'
  readonly text: string
}

export interface Hunk {
  readonly lines: readonly HunkLine[]
  /** First old line in the hunk header, from 1, or `undefined` for a bare `@@`. */
  readonly oldStart: number | undefined
  readonly newStart: number | undefined
  /** Whether the header counts the lines correctly. */
  readonly isCounted: boolean
  /** Whether `\ No newline at end of file` follows the last old or new line. */
  readonly isOldUnended: boolean
  readonly isNewUnended: boolean
  /** Whether added lines end with CRLF and headers with LF, which means that the file has CRLF line endings. */
  readonly isCrLf: boolean
}

export interface FileDiff extends DiffHeader {
  readonly hunks: readonly Hunk[]
}

interface Draft {
  header: DiffHeader
  isPaired: boolean
  readonly hunks: Hunk[]
}

/**
 * Reads a unified diff of git, diff or a model. Accepts Markdown fences, surrounding prose, wrong counts, bare `@@`,
 * and empty context lines without their space. Rejects changed lines outside a hunk.
 */
export function readDiff(text: string): readonly FileDiff[] {
  checkLineCount([text], 'the diff')
  // The empty line after the last line ending could be mistaken for context.
  const written = text.replace(/^\ufeff|\n$/g, '').split('\n')
  const lines = written.map((line) => line.replace(/\r$/, ''))
  const drafts: Draft[] = []
  const open = (): Draft => {
    const opened: Draft = { header: emptyHeader, isPaired: false, hunks: [] }
    drafts.push(opened)
    return opened
  }
  let isProse = false
  /** Index of the last added or removed line above the first hunk or header. */
  let suspect: number | undefined
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? ''
    const last = drafts.at(-1)
    if (line.startsWith('@@@')) throw createInvalid(at, 'starts a combined diff of a merge')
    if (line.startsWith('@@')) {
      const { hunk, next } = readHunk(lines, at)
      if (hunk.lines.length > 0 && hunk.lines.every(({ op }) => op === ' '))
        throw createInvalid(at, 'starts a hunk without an added or removed line')
      if (last === undefined && suspect !== undefined) throw createInvalid(suspect, 'is not in a hunk')
      const file = last ?? open()
      file.hunks.push({ ...hunk, isCrLf: hasCrLf(written.slice(at, next)) })
      isProse = false
      at = next
    } else if (isFilePair(lines, at)) {
      const isOpen = last !== undefined && !last.isPaired && last.hunks.length === 0 && !last.header.isBinary
      const file = isOpen ? last : open()
      file.header = addFilePair(file.header, lines.slice(at, at + 2))
      file.isPaired = true
      isProse = false
      at += 2
    } else {
      const isOpening = /^(diff --git |Index: )/.test(line)
      const file = isOpening ? open() : last
      if (file) file.header = addHeaderLine(file.header, line)
      // Text after a fence or a signature and above a header may contain lists.
      isProse = !isOpening && (isProse || isFence(line) || /^-- ?$/.test(line))
      if (last === undefined) suspect = isFence(line) ? undefined : isChange(lines, at) ? at : suspect
      else if (!last.header.isBinary && (isProse ? isChange(lines, at) : /^[+-]/.test(line)))
        throw createInvalid(at, 'is not in a hunk')
      at++
    }
  }
  return drafts.map(({ header, hunks }) => ({ ...header, hunks }))
}

const createInvalid = (at: number, reason: string): CausewayError =>
  new TrmError('INVALID_DIFF', `line ${at + 1} of the diff ${reason}`, { data: { line: at + 1 } })

const hasCrLf = ([header = '', ...body]: readonly string[]): boolean =>
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
  const stated = numbers === null ? undefined : { old: Number(olds), new: Number(news) }
  const seen: Counts = { old: 0, new: 0 }
  const body: HunkLine[] = []
  let [isOldUnended, isNewUnended] = [false, false]
  let next = at + 1
  for (; next < lines.length; next++) {
    const line = lines[next] ?? ''
    const last = body.at(-1)
    if (line.startsWith('\\')) {
      if (last?.op !== '+') isOldUnended = true
      if (last?.op !== '-') isNewUnended = true
      continue
    }
    const op = line === '' ? ' ' : line[0]
    if (op !== ' ' && op !== '-' && op !== '+') break
    if (endsHunk(lines, next, seen, stated)) break
    body.push({ op, text: line.slice(1) })
    if (op !== '+') seen.old++
    if (op !== '-') seen.new++
  }
  checkCounts(at, seen, stated)
  if (next === lines.length && stated !== undefined) checkCutOff(next, body, seen, stated)
  checkEnd(lines, next, isEqual(seen, stated) ? 'complete' : stated === undefined ? 'unknown' : 'short')
  // Blank lines at the end are context only if the counts include them. Only an empty line above a header or prose is
  // certainly a separator.
  const isSeparated = lines[next - 1] === '' && next < lines.length && !lines[next]?.startsWith('@@')
  const countedLength = isEqual(seen, stated) ? body.length : body.length - (isSeparated ? 1 : 0)
  while (!isEqual(seen, stated) && body.at(-1)?.op === ' ' && body.at(-1)?.text === '') {
    body.pop()
    seen.old--
    seen.new--
  }
  checkCounts(at, seen, stated)
  return {
    hunk: {
      lines: body,
      // If a hunk has no old lines, its header contains the number of the preceding line.
      oldStart: stated === undefined ? undefined : Number(start) + (stated.old === 0 ? 1 : 0),
      newStart: stated === undefined ? undefined : Number(newStart),
      isCounted: isEqual(seen, stated) && body.length === countedLength,
      isOldUnended,
      isNewUnended,
    },
    next,
  }
}

/** Rejects a last hunk that has fewer lines than its header states, and less context at its end than at its start. */
function checkCutOff(end: number, body: readonly HunkLine[], seen: Counts, stated: Counts): void {
  if (isEqual(seen, stated) || seen.old > stated.old || seen.new > stated.new) return
  const start = body.findIndex(({ op }) => op !== ' ')
  const last = body.findLastIndex(({ op }) => op !== ' ')
  if (body.length - 1 - last >= start) return
  const reason = `states ${stated.old} old and ${stated.new} new lines, but has ${seen.old} and ${seen.new}`
  throw createInvalid(end - 1, `ends a hunk that ${reason}: it is cut off`)
}

/** Larger differences between the counts are treated as counting mistakes. */
const maxDamage = 10

/**
 * Rejects text directly after an incomplete hunk, because a line without its first character ends a hunk too early.
 */
function checkEnd(lines: readonly string[], at: number, state: 'complete' | 'unknown' | 'short'): void {
  const line = lines[at]
  if (line === undefined || state === 'complete' || /^(@@|diff --git |Index: |-- ?$)/.test(line)) return
  if (isFence(line) || isFilePair(lines, at) || (state === 'unknown' && lines[at - 1] === '')) return
  throw createInvalid(at, 'is not in a hunk')
}

/**
 * Rejects a hunk if exactly one count in its header is correct, because a line is then missing or has lost its `+` or
 * `-`. Models that miscount get both counts wrong.
 */
function checkCounts(at: number, seen: Counts, stated: Counts | undefined): void {
  if (stated === undefined || (seen.old === stated.old) === (seen.new === stated.new)) return
  if (Math.abs(seen.old - stated.old) + Math.abs(seen.new - stated.new) > maxDamage) return
  const reason = `states ${stated.old} old and ${stated.new} new lines, but the hunk has ${seen.old} and ${seen.new}`
  throw createInvalid(at, `${reason}: a line is missing, or lacks its + or -`)
}

/**
 * Whether a line is a mail signature or a file header. The counts distinguish these from a removed `-- x` or an added
 * `++ y`.
 */
function endsHunk(lines: readonly string[], at: number, seen: Counts, stated: Counts | undefined): boolean {
  const line = lines[at] ?? ''
  if (/^-- ?$/.test(line)) return isEqual(seen, stated)
  const isHunk = (index: number) => (lines[index] ?? '').startsWith('@@')
  if (isFilePair(lines, at) && isHunk(at + 2))
    return !isEqual({ old: seen.old + 1, new: seen.new + 1 }, stated)
  if (!/^(---|\+\+\+) \S/.test(line) || !isHunk(at + 1)) return false
  const isAdded = line.startsWith('+')
  return !isEqual({ old: seen.old + (isAdded ? 0 : 1), new: seen.new + (isAdded ? 1 : 0) }, stated)
}

const isFence = (line = ''): boolean => /^(```|~~~)/.test(line)

/** Whether a line is added or removed. `- text` is a list item unless it is next to context. */
function isChange(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? ''
  const isNearContext = [at - 1, at + 1].some((index) => /^ +\S/.test(lines[index] ?? ''))
  return /^(\+|-(?! \S|- ?$))/.test(line) || (/^- \S/.test(line) && isNearContext)
}
