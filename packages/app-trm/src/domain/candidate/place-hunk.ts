/** Places hunks by their lines. The line numbers in headers only decide between equal matches. */
import type { Hunk, HunkLine } from './unified-diff.ts'

/** Replaces `removeCount` lines from `lineIndex` with `newLines`. */
export interface LineChange {
  readonly lineIndex: number
  readonly removeCount: number
  readonly newLines: readonly string[]
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
  readonly trimmedLines: readonly string[]
  /** Line indices by trimmed line. */
  readonly positions: ReadonlyMap<string, readonly number[]>
}

export function indexText(lines: readonly string[]): IndexedText {
  const trimmedLines = lines.map((line) => line.trimEnd())
  const positions = new Map<string, number[]>()
  for (const [index, line] of trimmedLines.entries()) {
    const lineIndices = positions.get(line)
    if (lineIndices === undefined) positions.set(line, [index])
    else lineIndices.push(index)
  }
  return { lines, trimmedLines, positions }
}

/**
 * Returns the placements of the first search that finds any:
 * 1. Every old line matches, except for trailing white space.
 * 2. The same without an extra space before every line.
 * 3. One context line differs; 4. two differ. Requires a header with the correct line counts, and differing lines that
 *    do not occur elsewhere.
 *
 * Removed lines always match, and inserted lines have a matching neighbour. Stops after `maxPlacements`.
 */
export function findPlacements(text: IndexedText, hunk: Hunk): readonly Placement[] {
  const exactPlacements = findExactPlacements(text, hunk.lines)
  if (exactPlacements.length > 0) return exactPlacements
  const unshiftedLines = removeShift(hunk.lines)
  const shiftedPlacements = unshiftedLines === undefined ? [] : findExactPlacements(text, unshiftedLines)
  if (shiftedPlacements.length > 0) return shiftedPlacements
  const oldLines = listOldLines(hunk.lines)
  const pattern = oldLines.map((line) => line.trimEnd())
  for (let fuzz = 1; fuzz <= (hunk.isCounted ? maxFuzz : 0); fuzz++) {
    if (!hasEnoughContext(oldLines, fuzz)) break
    const fuzzyStarts = findFuzzyStarts(text, pattern)
    if (fuzzyStarts.length > maxPlacements) break
    const placements = fuzzyStarts
      .filter((start) => isFuzzyMatch(text, hunk.lines, start, fuzz))
      .map((start) => createPlacement(hunk.lines, start, { length: oldLines.length, fuzz }))
    if (placements.length > 0) return placements
  }
  return []
}

const listOldLines = (lines: readonly HunkLine[]): readonly string[] =>
  lines.filter(({ op }) => op !== '+').map((line) => line.text)

function findExactPlacements(text: IndexedText, lines: readonly HunkLine[]): readonly Placement[] {
  const oldLines = listOldLines(lines)
  return findStarts(
    text,
    oldLines.map((line) => line.trimEnd()),
  )
    .slice(0, maxPlacements + 1)
    .map((start) => createPlacement(lines, start, { length: oldLines.length, fuzz: 0 }))
}

/** Removes the extra space that some models write after the sign of every line: `+ x` for `+x`. */
function removeShift(lines: readonly HunkLine[]): readonly HunkLine[] | undefined {
  const isBlank = ({ text }: HunkLine) => text.trim() === ''
  if (!lines.every((line) => isBlank(line) || line.text.startsWith(' '))) return undefined
  if (lines.filter((line) => line.op !== '+' && !isBlank(line)).length < 2) return undefined
  return lines.map((line) => (isBlank(line) ? line : { ...line, text: line.text.slice(1) }))
}

function findStarts({ trimmedLines, positions }: IndexedText, pattern: readonly string[]): readonly number[] {
  if (pattern.length === 0) return trimmedLines.length === 0 ? [0] : []
  const rarestIndex = sortByRarity(positions, pattern)[0] ?? 0
  return (positions.get(pattern[rarestIndex] ?? '') ?? [])
    .map((index) => index - rarestIndex)
    .filter((start) => start >= 0 && pattern.every((line, index) => trimmedLines[start + index] === line))
}

function hasEnoughContext(oldLines: readonly string[], fuzz: number): boolean {
  const nonBlankCount = oldLines.filter((line) => line.trim() !== '').length
  return oldLines.length - fuzz >= 2 * fuzz + 1 && nonBlankCount - fuzz >= fuzz + 1
}

/** Finds starts where one of the three rarest lines matches, because at most two lines may differ. */
function findFuzzyStarts(
  { trimmedLines, positions }: IndexedText,
  pattern: readonly string[],
): readonly number[] {
  const starts = sortByRarity(positions, pattern)
    .slice(0, maxFuzz + 1)
    .flatMap((index) => (positions.get(pattern[index] ?? '') ?? []).map((position) => position - index))
  return [...new Set(starts)]
    .filter((start) => start >= 0 && start + pattern.length <= trimmedLines.length)
    .sort((a, b) => a - b)
}

function sortByRarity(indices: IndexedText['positions'], pattern: readonly string[]): number[] {
  const count = (index: number): number => indices.get(pattern[index] ?? '')?.length ?? 0
  return [...pattern.keys()].sort((a, b) => count(a) - count(b))
}

function isFuzzyMatch(
  { trimmedLines, positions }: IndexedText,
  lines: readonly HunkLine[],
  start: number,
  fuzz: number,
): boolean {
  let [line, differenceCount] = [start, 0]
  const lineMatches = lines.map(({ op, text }) => {
    if (op === '+') return true
    const matches = trimmedLines[line++] === text.trimEnd()
    const occursElsewhere = text.trim() !== '' && positions.has(text.trimEnd())
    if (!matches) differenceCount += op === '-' || occursElsewhere ? maxFuzz + 1 : 1
    return matches
  })
  return differenceCount === fuzz && findBlocks(lines).every((block) => isAnchored(lines, lineMatches, block))
}

/**
 * Whether a changed block removes lines or has a matching line next to it. On the other side, the adjacent line may
 * differ if the line beyond it matches.
 */
function isAnchored(
  lines: readonly HunkLine[],
  lineMatches: readonly boolean[],
  [first, end]: readonly [first: number, end: number],
): boolean {
  if (lines.slice(first, end).some(({ op }) => op === '-')) return true
  const matches = (index: number) => lineMatches[index] === true
  if (!matches(first - 1) && !matches(end)) return false
  const isAdjacentMatch = (index: number, nextIndex: number) =>
    lines[index] === undefined || matches(index) || matches(nextIndex)
  return isAdjacentMatch(first - 1, first - 2) && isAdjacentMatch(end, end + 1)
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
      lineIndex: start + lines.slice(0, first).filter(({ op }) => op !== '+').length,
      removeCount: block.filter(({ op }) => op === '-').length,
      newLines: block.filter(({ op }) => op === '+').map(({ text }) => text),
    }
  })
  return { start, end: start + length, changes, fuzz }
}
