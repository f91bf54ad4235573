import type { CausewayError } from '@causeway/protocol'
import { TrmError } from '../../errors.ts'
import { addFileHeader, addHeaderLine, type DiffHeader, emptyHeader, isFileHeader } from './diff-header.ts'
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
  /** Whether `\ No newline at end of file` follows the last old line. */
  readonly isOldUnterminated: boolean
  readonly isNewUnterminated: boolean
  /** Whether added lines end with CRLF and headers with LF, which means that the file has CRLF line endings. */
  readonly isCrLf: boolean
}

export interface FileDiff extends DiffHeader {
  readonly hunks: readonly Hunk[]
}

interface FileDraft {
  header: DiffHeader
  hasFileHeader: boolean
  readonly hunks: Hunk[]
}

/**
 * Reads a unified diff of git, diff or a model. Accepts Markdown fences, surrounding prose, wrong counts, bare `@@`,
 * and empty context lines without their space. Rejects changed lines outside a hunk.
 */
export function readDiff(text: string): readonly FileDiff[] {
  checkLineCount([text], 'the diff')
  // The empty line after the last line ending could be mistaken for context.
  const rawLines = text.replace(/^\ufeff|\n$/g, '').split('\n')
  const lines = rawLines.map((line) => line.replace(/\r$/, ''))
  const drafts: FileDraft[] = []
  const openDraft = (): FileDraft => {
    const draft: FileDraft = { header: emptyHeader, hasFileHeader: false, hunks: [] }
    drafts.push(draft)
    return draft
  }
  let isProse = false
  /** Index of the last added or removed line above the first hunk or header. */
  let suspectIndex: number | undefined
  for (let index = 0; index < lines.length; ) {
    const line = lines[index] ?? ''
    const last = drafts.at(-1)
    if (line.startsWith('@@@')) throw createDiffError(index, 'starts a combined diff of a merge')
    if (line.startsWith('@@')) {
      const { hunk, next } = readHunk(lines, index)
      if (hunk.lines.length > 0 && hunk.lines.every(({ op }) => op === ' '))
        throw createDiffError(index, 'starts a hunk without an added or removed line')
      if (last === undefined && suspectIndex !== undefined)
        throw createDiffError(suspectIndex, 'is not in a hunk')
      const file = last ?? openDraft()
      file.hunks.push({ ...hunk, isCrLf: hasCrLf(rawLines.slice(index, next)) })
      isProse = false
      index = next
    } else if (isFileHeader(lines, index)) {
      const isOpen =
        last !== undefined && !last.hasFileHeader && last.hunks.length === 0 && !last.header.isBinary
      const file = isOpen ? last : openDraft()
      file.header = addFileHeader(file.header, lines.slice(index, index + 2))
      file.hasFileHeader = true
      isProse = false
      index += 2
    } else {
      const isOpening = /^(diff --git |Index: )/.test(line)
      const file = isOpening ? openDraft() : last
      if (file) file.header = addHeaderLine(file.header, line)
      // Text after a fence or a signature and above a header may contain lists.
      isProse = !isOpening && (isProse || isFence(line) || /^-- ?$/.test(line))
      if (last === undefined)
        suspectIndex = isFence(line) ? undefined : isChange(lines, index) ? index : suspectIndex
      else if (!last.header.isBinary && (isProse ? isChange(lines, index) : /^[+-]/.test(line)))
        throw createDiffError(index, 'is not in a hunk')
      index++
    }
  }
  return drafts.map(({ header, hunks }) => ({ ...header, hunks }))
}

const createDiffError = (index: number, reason: string): CausewayError =>
  new TrmError('INVALID_DIFF', `line ${index + 1} of the diff ${reason}`, { data: { line: index + 1 } })

const hasCrLf = ([header = '', ...body]: readonly string[]): boolean =>
  !header.endsWith('\r') && body.every((line) => !line.startsWith('+') || line.endsWith('\r'))

interface Counts {
  old: number
  new: number
}

const isEqual = (a: Counts, b: Counts | undefined): boolean => a.old === b?.old && a.new === b.new

function readHunk(
  lines: readonly string[],
  index: number,
): { readonly hunk: Omit<Hunk, 'isCrLf'>; readonly next: number } {
  const numbers = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(lines[index] ?? '')
  const [, start, oldCount = '1', newStart, newCount = '1'] = numbers ?? []
  const expected = numbers === null ? undefined : { old: Number(oldCount), new: Number(newCount) }
  const counts: Counts = { old: 0, new: 0 }
  const body: HunkLine[] = []
  let [isOldUnterminated, isNewUnterminated] = [false, false]
  let next = index + 1
  for (; next < lines.length; next++) {
    const line = lines[next] ?? ''
    const last = body.at(-1)
    if (line.startsWith('\\')) {
      if (last?.op !== '+') isOldUnterminated = true
      if (last?.op !== '-') isNewUnterminated = true
      continue
    }
    const op = line === '' ? ' ' : line[0]
    if (op !== ' ' && op !== '-' && op !== '+') break
    if (endsHunk(lines, next, counts, expected)) break
    body.push({ op, text: line.slice(1) })
    if (op !== '+') counts.old++
    if (op !== '-') counts.new++
  }
  checkCounts(index, counts, expected)
  if (next === lines.length && expected !== undefined) checkTruncation(next, body, counts, expected)
  checkEnd(lines, next, isEqual(counts, expected) ? 'complete' : expected === undefined ? 'unknown' : 'short')
  // Blank lines at the end are context only if the counts include them. Only an empty line above a header or prose is
  // certainly a separator.
  const isSeparated = lines[next - 1] === '' && next < lines.length && !lines[next]?.startsWith('@@')
  const countedLength = isEqual(counts, expected) ? body.length : body.length - (isSeparated ? 1 : 0)
  while (!isEqual(counts, expected) && body.at(-1)?.op === ' ' && body.at(-1)?.text === '') {
    body.pop()
    counts.old--
    counts.new--
  }
  checkCounts(index, counts, expected)
  return {
    hunk: {
      lines: body,
      // If a hunk has no old lines, its header contains the number of the preceding line.
      oldStart: expected === undefined ? undefined : Number(start) + (expected.old === 0 ? 1 : 0),
      newStart: expected === undefined ? undefined : Number(newStart),
      isCounted: isEqual(counts, expected) && body.length === countedLength,
      isOldUnterminated,
      isNewUnterminated,
    },
    next,
  }
}

/** Rejects a last hunk that has fewer lines than its header states, and less context at its end than at its start. */
function checkTruncation(end: number, body: readonly HunkLine[], counts: Counts, expected: Counts): void {
  if (isEqual(counts, expected) || counts.old > expected.old || counts.new > expected.new) return
  const start = body.findIndex(({ op }) => op !== ' ')
  const last = body.findLastIndex(({ op }) => op !== ' ')
  if (body.length - 1 - last >= start) return
  const reason = `states ${expected.old} old and ${expected.new} new lines, but has ${counts.old} and ${counts.new}`
  throw createDiffError(end - 1, `ends a hunk that ${reason}: it is cut off`)
}

/** Larger differences between the counts are treated as counting mistakes. */
const maxDifference = 10

/**
 * Rejects text directly after an incomplete hunk, because a line without its first character ends a hunk too early.
 */
function checkEnd(lines: readonly string[], index: number, state: 'complete' | 'unknown' | 'short'): void {
  const line = lines[index]
  if (line === undefined || state === 'complete' || /^(@@|diff --git |Index: |-- ?$)/.test(line)) return
  if (isFence(line) || isFileHeader(lines, index) || (state === 'unknown' && lines[index - 1] === '')) return
  throw createDiffError(index, 'is not in a hunk')
}

/**
 * Rejects a hunk if exactly one count in its header is correct, because a line is then missing or has lost its `+` or
 * `-`. Models that miscount get both counts wrong.
 */
function checkCounts(index: number, counts: Counts, expected: Counts | undefined): void {
  if (expected === undefined || (counts.old === expected.old) === (counts.new === expected.new)) return
  if (Math.abs(counts.old - expected.old) + Math.abs(counts.new - expected.new) > maxDifference) return
  const reason = `states ${expected.old} old and ${expected.new} new lines, but the hunk has ${counts.old} and ${counts.new}`
  throw createDiffError(index, `${reason}: a line is missing, or lacks its + or -`)
}

/**
 * Whether a line is a mail signature or a file header. The counts distinguish these from a removed `-- x` or an added
 * `++ y`.
 */
function endsHunk(
  lines: readonly string[],
  index: number,
  counts: Counts,
  expected: Counts | undefined,
): boolean {
  const line = lines[index] ?? ''
  if (/^-- ?$/.test(line)) return isEqual(counts, expected)
  const isHunk = (index: number) => (lines[index] ?? '').startsWith('@@')
  if (isFileHeader(lines, index) && isHunk(index + 2))
    return !isEqual({ old: counts.old + 1, new: counts.new + 1 }, expected)
  if (!/^(---|\+\+\+) \S/.test(line) || !isHunk(index + 1)) return false
  const isAdded = line.startsWith('+')
  return !isEqual({ old: counts.old + (isAdded ? 0 : 1), new: counts.new + (isAdded ? 1 : 0) }, expected)
}

const isFence = (line = ''): boolean => /^(```|~~~)/.test(line)

/** Whether a line is added or removed. `- text` is a list item unless it is next to context. */
function isChange(lines: readonly string[], index: number): boolean {
  const line = lines[index] ?? ''
  const isNearContext = [index - 1, index + 1].some((index) => /^ +\S/.test(lines[index] ?? ''))
  return /^(\+|-(?! \S|- ?$))/.test(line) || (/^- \S/.test(line) && isNearContext)
}
