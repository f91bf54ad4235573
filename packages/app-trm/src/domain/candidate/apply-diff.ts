import type { CausewayError } from '@causeway/protocol'
import { TrmError } from '../../errors.ts'
import { findClosestRegion } from './closest-region.ts'
import { checkOverlap, lineStart, type OwnedSpan, parseText, replaceSpans, toLines } from './edited-text.ts'
import { findPlacements, type IndexedText, indexText, maxPlacements, type Placement } from './place-hunk.ts'
import type { CandidateWarning } from './types.ts'
import type { Hunk } from './unified-diff.ts'

interface Search {
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
  const searches = hunks.map((hunk, index): Search => {
    const search = { hunk, number: index + 1, placements: findPlacements(text, hunk) }
    if (search.placements.length === 0) throw createMismatch(text, search, path)
    if (search.placements.length > maxPlacements) throw createAmbiguous(search, path)
    return search
  })
  const placed = searches.map((search) => choosePlacement(searches, search, path))
  const spans = placed.flatMap(({ changes }, index) =>
    changes.map(
      ({ at, remove, insert }): OwnedSpan => ({
        start: lineStart(parsed, at),
        end: lineStart(parsed, at + remove),
        text: insert.map((line) => `${line}\n`).join(''),
        edit: index + 1,
      }),
    ),
  )
  checkOverlap(parsed, spans, { name: path, owner: 'hunks' })
  return {
    text: replaceSpans(parsed, spans, isEnded(searches, placed, text.lines.length) ?? parsed.isEnded),
    warnings: placed.flatMap(({ start, fuzz }, index): CandidateWarning[] => {
      const message = `hunk ${index + 1} was placed at line ${start + 1} although ${fuzz} of its context lines differ from the file`
      return fuzz === 0 ? [] : [{ code: 'FUZZY_HUNK', path, message }]
    }),
  }
}

/**
 * Returns the only placement. If there are several, returns the exact placement at the header's line or the only
 * placement between the neighbouring hunks. Throws `HUNK_AMBIGUOUS` if these two differ or neither exists.
 */
function choosePlacement(searches: readonly Search[], search: Search, path: string): Placement {
  const [only, ...others] = search.placements
  if (only !== undefined && others.length === 0) return only
  const atHeader = findAtHeaderLine(searches, search)
  const between = listBetween(searches, search)
  const ordered = between.length === 1 ? between[0] : undefined
  const found = atHeader ?? ordered
  if (found !== undefined && (ordered === undefined || found.start === ordered.start)) return found
  throw createAmbiguous(search, path)
}

/** Returns an empty list if the hunks are not in order. */
function listBetween(searches: readonly Search[], search: Search): readonly Placement[] {
  const isOrdered = (numbers: readonly number[]) =>
    numbers.every((one, index) => one >= (numbers[index - 1] ?? one))
  const unique = searches.filter(({ placements }) => placements.length === 1)
  const starts = unique.flatMap(({ placements }) => placements[0]?.start ?? [])
  const stated = searches.flatMap(({ hunk }) => hunk.oldStart ?? [])
  if (!isOrdered(starts) || !isOrdered(stated)) return []
  const above = unique.findLast(({ number }) => number < search.number)?.placements[0]
  const below = unique.find(({ number }) => number > search.number)?.placements[0]
  return search.placements.filter(
    ({ start, end }) =>
      (above === undefined || start >= above.start) && (below === undefined || end <= below.end),
  )
}

/**
 * Finds the exact placement at the header's line, shifted by the offset of the nearest hunk with a single placement.
 * Without such a hunk, the header must count its lines correctly.
 */
function findAtHeaderLine(
  searches: readonly Search[],
  { hunk, number, placements }: Search,
): Placement | undefined {
  const { oldStart } = hunk
  if (oldStart === undefined) return undefined
  const unique = searches.filter((one) => one.placements.length === 1 && one.hunk.oldStart !== undefined)
  const nearest = unique.toSorted((a, b) => Math.abs(a.number - number) - Math.abs(b.number - number))[0]
  if (nearest === undefined && !hunk.isCounted) return undefined
  const shift = (nearest?.placements[0]?.start ?? 0) + 1 - (nearest?.hunk.oldStart ?? 1)
  return placements.find(({ start, fuzz }) => fuzz === 0 && start + 1 === oldStart + shift)
}

/** Whether the new text ends with a line ending, or `undefined` if no hunk determines this. */
function isEnded(
  searches: readonly Search[],
  placed: readonly Placement[],
  count: number,
): boolean | undefined {
  const last = placed.findIndex(({ changes }) => changes.some(({ at, remove }) => at + remove >= count))
  const hunk = searches[last]?.hunk
  if (hunk?.isNewUnended) return false
  return hunk?.isOldUnended ? true : undefined
}

function createAmbiguous({ placements, number }: Search, path: string): CausewayError {
  const lines = placements.slice(0, 50).map(({ start }) => start + 1)
  const message = `hunk ${number} fits at lines ${lines.slice(0, 8).join(', ')}: ${path}`
  return new TrmError('HUNK_AMBIGUOUS', message, { data: { path, hunk: number, lines } })
}

function createMismatch(text: IndexedText, { hunk, number }: Search, path: string): CausewayError {
  const data = { path, hunk: number }
  const old = hunk.lines.filter(({ op }) => op !== '+').map((line) => line.text)
  if (old.length === 0)
    return new TrmError('HUNK_AMBIGUOUS', `hunk ${number} has no line of the file: ${path}`, {
      data: { ...data, lines: [] },
    })
  const closest = findClosestRegion(text.lines, old)
  const absent = old.filter((line) => line.trim() !== '' && !text.indices.has(line.trimEnd())).slice(0, 5)
  return new TrmError('HUNK_MISMATCH', `hunk ${number} fits nowhere: ${path}`, {
    data: { ...data, closest, absent },
  })
}
