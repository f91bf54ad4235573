/** Places hunks by their lines. The line numbers in headers only decide between equal matches. */
import type { Hunk, HunkLine } from './unified-diff.ts'

/** Replaces `remove` lines from index `at` with `insert`. */
export interface LineChange {
  readonly at: number
  readonly remove: number
  readonly insert: readonly string[]
}

/** A possible position of a hunk: the old lines `[start, end)`. */
export interface Placement {
  readonly start: number
  readonly end: number
  readonly changes: readonly LineChange[]
  readonly fuzz: number
}

/** Maximum number of context lines of a hunk that may differ. */
const maxFuzz = 2

/** A hunk with more placements is ambiguous. */
export const maxPlacements = 2000

export interface IndexedText {
  readonly lines: readonly string[]
  /** Lines without trailing white space. */
  readonly trimmed: readonly string[]
  /** Indices of each trimmed line. */
  readonly indices: ReadonlyMap<string, readonly number[]>
}

export function indexText(lines: readonly string[]): IndexedText {
  const trimmed = lines.map((line) => line.trimEnd())
  const indices = new Map<string, number[]>()
  for (const [index, line] of trimmed.entries()) {
    const known = indices.get(line)
    if (known === undefined) indices.set(line, [index])
    else known.push(index)
  }
  return { lines, trimmed, indices }
}

/**
 * Returns the placements from the first of four searches that finds any. First, every old line must match except for
 * trailing white space. Second, an extra space before every line is removed. Third and fourth, one and two context
 * lines may differ if the header counts the lines correctly and they do not occur elsewhere. Removed lines always
 * match, and inserted lines have a matching neighbour. Stops after `maxPlacements`.
 */
export function findPlacements(text: IndexedText, hunk: Hunk): readonly Placement[] {
  const exact = findExactPlacements(text, hunk.lines)
  if (exact.length > 0) return exact
  const unshifted = removeShift(hunk.lines)
  const moved = unshifted === undefined ? [] : findExactPlacements(text, unshifted)
  if (moved.length > 0) return moved
  const old = listOldLines(hunk.lines)
  const wanted = old.map((line) => line.trimEnd())
  for (let fuzz = 1; fuzz <= (hunk.isCounted ? maxFuzz : 0); fuzz++) {
    if (!hasEnoughContext(old, fuzz)) break
    const near = findFuzzyStarts(text, wanted)
    if (near.length > maxPlacements) break
    const found = near
      .filter((start) => isFuzzyMatch(text, hunk.lines, start, fuzz))
      .map((start) => createPlacement(hunk.lines, start, { length: old.length, fuzz }))
    if (found.length > 0) return found
  }
  return []
}

const listOldLines = (lines: readonly HunkLine[]): readonly string[] =>
  lines.filter(({ op }) => op !== '+').map((line) => line.text)

function findExactPlacements(text: IndexedText, lines: readonly HunkLine[]): readonly Placement[] {
  const old = listOldLines(lines)
  return findStarts(
    text,
    old.map((line) => line.trimEnd()),
  )
    .slice(0, maxPlacements + 1)
    .map((start) => createPlacement(lines, start, { length: old.length, fuzz: 0 }))
}

/** Removes the extra space that some models write after the sign of every line: `+ x` for `+x`. */
function removeShift(lines: readonly HunkLine[]): readonly HunkLine[] | undefined {
  const isBlank = ({ text }: HunkLine) => text.trim() === ''
  if (!lines.every((line) => isBlank(line) || line.text.startsWith(' '))) return undefined
  if (lines.filter((line) => line.op !== '+' && !isBlank(line)).length < 2) return undefined
  return lines.map((line) => (isBlank(line) ? line : { ...line, text: line.text.slice(1) }))
}

function findStarts({ trimmed, indices }: IndexedText, wanted: readonly string[]): readonly number[] {
  if (wanted.length === 0) return trimmed.length === 0 ? [0] : []
  const rarest = sortByRarity(indices, wanted)[0] ?? 0
  return (indices.get(wanted[rarest] ?? '') ?? [])
    .map((index) => index - rarest)
    .filter((start) => start >= 0 && wanted.every((line, index) => trimmed[start + index] === line))
}

function hasEnoughContext(old: readonly string[], fuzz: number): boolean {
  const filled = old.filter((line) => line.trim() !== '').length
  return old.length - fuzz >= 2 * fuzz + 1 && filled - fuzz >= fuzz + 1
}

/** Finds starts where one of the three rarest lines matches, because at most two lines may differ. */
function findFuzzyStarts({ trimmed, indices }: IndexedText, wanted: readonly string[]): readonly number[] {
  const starts = sortByRarity(indices, wanted)
    .slice(0, maxFuzz + 1)
    .flatMap((index) => (indices.get(wanted[index] ?? '') ?? []).map((found) => found - index))
  return [...new Set(starts)]
    .filter((start) => start >= 0 && start + wanted.length <= trimmed.length)
    .sort((a, b) => a - b)
}

function sortByRarity(indices: IndexedText['indices'], wanted: readonly string[]): number[] {
  const count = (index: number): number => indices.get(wanted[index] ?? '')?.length ?? 0
  return [...wanted.keys()].sort((a, b) => count(a) - count(b))
}

function isFuzzyMatch(
  { trimmed, indices }: IndexedText,
  lines: readonly HunkLine[],
  start: number,
  fuzz: number,
): boolean {
  let [line, different] = [start, 0]
  const isMatch = lines.map(({ op, text }) => {
    if (op === '+') return true
    const matches = trimmed[line++] === text.trimEnd()
    const isElsewhere = text.trim() !== '' && indices.has(text.trimEnd())
    if (!matches) different += op === '-' || isElsewhere ? maxFuzz + 1 : 1
    return matches
  })
  return different === fuzz && findBlocks(lines).every((block) => isAnchored(lines, isMatch, block))
}

/**
 * Whether a block of inserted lines has a matching line next to it. On the other side, the adjacent line may differ
 * if the line beyond it matches.
 */
function isAnchored(
  lines: readonly HunkLine[],
  isMatch: readonly boolean[],
  [first, end]: readonly [first: number, end: number],
): boolean {
  if (lines.slice(first, end).some(({ op }) => op === '-')) return true
  const matches = (index: number) => isMatch[index] === true
  if (!matches(first - 1) && !matches(end)) return false
  const isFirm = (index: number, beyond: number) =>
    lines[index] === undefined || matches(index) || matches(beyond)
  return isFirm(first - 1, first - 2) && isFirm(end, end + 1)
}

function findBlocks(lines: readonly HunkLine[]): readonly (readonly [first: number, end: number])[] {
  const blocks: [number, number][] = []
  for (const [index, { op }] of lines.entries()) {
    const last = blocks.at(-1)
    if (op === ' ') continue
    if (last?.[1] === index) last[1] = index + 1
    else blocks.push([index, index + 1])
  }
  return blocks
}

function createPlacement(
  lines: readonly HunkLine[],
  start: number,
  { length, fuzz }: { readonly length: number; readonly fuzz: number },
): Placement {
  const changes = findBlocks(lines).map(([first, end]): LineChange => {
    const block = lines.slice(first, end)
    return {
      at: start + lines.slice(0, first).filter(({ op }) => op !== '+').length,
      remove: block.filter(({ op }) => op === '-').length,
      insert: block.filter(({ op }) => op === '+').map(({ text }) => text),
    }
  })
  return { start, end: start + length, changes, fuzz }
}
