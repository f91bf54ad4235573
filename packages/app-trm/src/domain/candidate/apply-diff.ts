import type { CausewayError } from '@causeway/protocol'
import { TrmError } from '../../errors.ts'
import { findClosestRegion } from './closest-region.ts'
import { checkOverlap, type EditSpan, getLineStart, parseText, replaceSpans, toLines } from './edited-text.ts'
import { findPlacements, type IndexedText, indexText, maxPlacements, type Placement } from './place-hunk.ts'
import type { CandidateWarning } from './types.ts'
import type { Hunk } from './unified-diff.ts'

interface HunkSearch {
  readonly hunk: Hunk
  /** Number of the hunk, from 1. */
  readonly number: number
  readonly placements: readonly Placement[]
}

/**
 * Applies all hunks to a text, or none. Places a hunk by its lines. If its lines match several times, the line number
 * in its header and the neighbouring hunks decide.
 */
export function applyDiff(content: string, hunks: readonly Hunk[], path: string) {
  const parsed = parseText(content)
  const text = indexText(toLines(parsed))
  const searches = hunks.map((hunk, index): HunkSearch => {
    const search = { hunk, number: index + 1, placements: findPlacements(text, hunk) }
    if (search.placements.length === 0) throw createMismatchError(text, search, path)
    if (search.placements.length > maxPlacements) throw createAmbiguousError(search, path)
    return search
  })
  const placements = searches.map((search) => choosePlacement(searches, search, path))
  const spans = placements.flatMap(({ changes }, index) =>
    changes.map(
      ({ lineIndex, removeCount, newLines }): EditSpan => ({
        start: getLineStart(parsed, lineIndex),
        end: getLineStart(parsed, lineIndex + removeCount),
        text: newLines.map((line) => `${line}\n`).join(''),
        editNumber: index + 1,
      }),
    ),
  )
  checkOverlap(parsed, spans, { name: path, owner: 'hunks' })
  return {
    text: replaceSpans(
      parsed,
      spans,
      hasFinalNewline(searches, placements, text.lines.length) ?? parsed.hasFinalNewline,
    ),
    warnings: placements.flatMap(({ start, fuzz }, index): CandidateWarning[] => {
      const message = `hunk ${index + 1} was placed at line ${start + 1} although ${fuzz} of its context lines differ from the file`
      return fuzz === 0 ? [] : [{ code: 'FUZZY_HUNK', path, message }]
    }),
  }
}

/**
 * Returns the only placement. If there are several, returns the exact placement at the header's line or the only
 * placement between the neighbouring hunks. Throws `HUNK_AMBIGUOUS` if these two differ or neither exists.
 */
function choosePlacement(searches: readonly HunkSearch[], search: HunkSearch, path: string): Placement {
  const [firstPlacement, ...others] = search.placements
  if (firstPlacement !== undefined && others.length === 0) return firstPlacement
  const headerPlacement = findAtHeaderLine(searches, search)
  const orderedPlacements = listOrderedPlacements(searches, search)
  const orderedPlacement = orderedPlacements.length === 1 ? orderedPlacements[0] : undefined
  const placement = headerPlacement ?? orderedPlacement
  if (
    placement !== undefined &&
    (orderedPlacement === undefined || placement.start === orderedPlacement.start)
  )
    return placement
  throw createAmbiguousError(search, path)
}

/** Returns the placements between the unique neighbours, or an empty list if the hunks are not in order. */
function listOrderedPlacements(searches: readonly HunkSearch[], search: HunkSearch): readonly Placement[] {
  const isSorted = (numbers: readonly number[]) =>
    numbers.every((number, index) => number >= (numbers[index - 1] ?? number))
  const unique = searches.filter(({ placements }) => placements.length === 1)
  const starts = unique.flatMap(({ placements }) => placements[0]?.start ?? [])
  const headerStarts = searches.flatMap(({ hunk }) => hunk.oldStart ?? [])
  if (!isSorted(starts) || !isSorted(headerStarts)) return []
  const above = unique.findLast(({ number }) => number < search.number)?.placements[0]
  const below = unique.find(({ number }) => number > search.number)?.placements[0]
  return search.placements.filter(
    ({ start, end }) =>
      (above === undefined || start >= above.start) && (below === undefined || end <= below.end),
  )
}

/**
 * Finds the exact placement at the header's line, shifted by the offset of the nearest hunk with a single placement.
 * Without such a hunk, returns `undefined` if the header's line counts are wrong.
 */
function findAtHeaderLine(
  searches: readonly HunkSearch[],
  { hunk, number, placements }: HunkSearch,
): Placement | undefined {
  const { oldStart } = hunk
  if (oldStart === undefined) return undefined
  const unique = searches.filter(
    (search) => search.placements.length === 1 && search.hunk.oldStart !== undefined,
  )
  const nearest = unique.toSorted((a, b) => Math.abs(a.number - number) - Math.abs(b.number - number))[0]
  if (nearest === undefined && !hunk.isCounted) return undefined
  const lineOffset = (nearest?.placements[0]?.start ?? 0) + 1 - (nearest?.hunk.oldStart ?? 1)
  return placements.find(({ start, fuzz }) => fuzz === 0 && start + 1 === oldStart + lineOffset)
}

/** Whether the new text ends with a line ending, or `undefined` if no hunk determines this. */
function hasFinalNewline(
  searches: readonly HunkSearch[],
  placements: readonly Placement[],
  lineCount: number,
): boolean | undefined {
  const lastIndex = placements.findIndex(({ changes }) =>
    changes.some(({ lineIndex, removeCount }) => lineIndex + removeCount >= lineCount),
  )
  const hunk = searches[lastIndex]?.hunk
  if (hunk?.isNewUnterminated) return false
  return hunk?.isOldUnterminated ? true : undefined
}

function createAmbiguousError({ placements, number }: HunkSearch, path: string): CausewayError {
  const lines = placements.slice(0, 50).map(({ start }) => start + 1)
  const message = `hunk ${number} fits at lines ${lines.slice(0, 8).join(', ')}: ${path}`
  return new TrmError('HUNK_AMBIGUOUS', message, { data: { path, hunk: number, lines } })
}

function createMismatchError(text: IndexedText, { hunk, number }: HunkSearch, path: string): CausewayError {
  const data = { path, hunk: number }
  const oldLines = hunk.lines.filter(({ op }) => op !== '+').map((line) => line.text)
  if (oldLines.length === 0)
    return new TrmError('HUNK_AMBIGUOUS', `hunk ${number} has no line of the file: ${path}`, {
      data: { ...data, lines: [] },
    })
  const closest = findClosestRegion(text.lines, oldLines)
  const absentLines = oldLines
    .filter((line) => line.trim() !== '' && !text.positions.has(line.trimEnd()))
    .slice(0, 5)
  return new TrmError('HUNK_MISMATCH', `hunk ${number} fits nowhere: ${path}`, {
    data: { ...data, closest, absent: absentLines },
  })
}
