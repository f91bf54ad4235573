import { CausewayError, type ErrorCode } from '@causeway/protocol'
import { closestRegion } from './closest.ts'
import { editedText, linesOf, type Span, startOf, written } from './edited-text.ts'
import { mostWays, type Placement, placements, type SearchedText, searchedText } from './place-hunk.ts'
import type { HunkPlacement } from './types.ts'
import type { Hunk } from './unified-diff.ts'

/** A text with the hunks of a diff applied. */
export interface DiffedText {
  readonly text: string
  readonly hunks: readonly HunkPlacement[]
}

/** What is known of a hunk once all of them were looked for. */
interface Search {
  readonly hunk: Hunk
  /** From 1. */
  readonly number: number
  readonly ways: readonly Placement[]
}

/**
 * Applies hunks to a text, all or none. A hunk goes where its lines stand. Where they stand more than once, its place
 * among the others decides, then the number in its header if that agrees; else it is refused. Throws `HUNK_MISMATCH`
 * with `data.closest`, `HUNK_AMBIGUOUS` with `data.lines`, `EDIT_OVERLAP`.
 */
export function applyDiff(content: string, hunks: readonly Hunk[], path: string): DiffedText {
  const edited = editedText(content)
  const text = searchedText(linesOf(edited))
  const searches = hunks.map((hunk, index): Search => {
    const search = { hunk, number: index + 1, ways: placements(text, hunk) }
    if (search.ways.length === 0) throw mismatch(text, search, path)
    if (search.ways.length > mostWays) throw ambiguous(search, path)
    return search
  })
  const placed = searches.map((search) => chosen(searches, search, path))
  refuseOverlap(placed, path)
  const spans = placed.flatMap(({ changes }) =>
    changes.map(
      ({ at, remove, insert }): Span => ({
        start: startOf(edited, at),
        end: startOf(edited, at + remove),
        text: insert.map((line) => `${line}\n`).join(''),
      }),
    ),
  )
  return {
    text: written(edited, spans, isEnded(searches, placed, text.lines.length) ?? edited.isEnded),
    hunks: searches.map(({ hunk, number }, index): HunkPlacement => {
      const line = (placed[index]?.start ?? 0) + 1
      const offset = hunk.stated === undefined ? null : line - hunk.stated
      return { path, hunk: number, line, offset, fuzz: placed[index]?.fuzz ?? 0 }
    }),
  }
}

/** The one placement that the other hunks and the header leave. */
function chosen(searches: readonly Search[], search: Search, path: string): Placement {
  const [only, ...others] = search.ways
  if (only !== undefined && others.length === 0) return only
  const sure = ({ ways, number }: Search) => (number !== search.number && ways.length === 1 ? ways : [])
  const above = searches
    .slice(0, search.number - 1)
    .flatMap(sure)
    .at(-1)
  const below = searches.slice(search.number).flatMap(sure)[0]
  const between = search.ways.filter(
    ({ start, end }) =>
      (above === undefined || start >= above.start) && (below === undefined || end <= below.end),
  )
  const found = between.length === 1 ? between[0] : atStatedLine(searches, search, between)
  if (found !== undefined) return found
  throw ambiguous(search, path)
}

function ambiguous({ ways, number }: Search, path: string): CausewayError {
  const lines = ways.slice(0, 50).map(({ start }) => start + 1)
  const message = `hunk ${number} fits at lines ${lines.slice(0, 8).join(', ')}: ${path}`
  return new CausewayError('HUNK_AMBIGUOUS', message, { data: { path, hunk: number, lines } })
}

/** The placement at the line of the header, shifted as its surest neighbour was; a lone header must be exact. */
function atStatedLine(
  searches: readonly Search[],
  { hunk, number }: Search,
  ways: readonly Placement[],
): Placement | undefined {
  if (hunk.stated === undefined) return undefined
  const known = searches.filter((other) => other.ways.length === 1 && other.hunk.stated !== undefined)
  const nearest = known.toSorted((a, b) => Math.abs(a.number - number) - Math.abs(b.number - number))[0]
  if (nearest === undefined && !hunk.isCounted) return undefined
  const shift = (nearest?.ways[0]?.start ?? 0) + 1 - (nearest?.hunk.stated ?? 1)
  return ways.find(({ start, fuzz }) => fuzz === 0 && start + 1 === (hunk.stated ?? 0) + shift)
}

/** Whether the last line has an end after the diff, where a hunk that reaches it says so. */
function isEnded(
  searches: readonly Search[],
  placed: readonly Placement[],
  count: number,
): boolean | undefined {
  const last = placed.findIndex(({ changes }) => changes.some(({ at, remove }) => at + remove >= count))
  const hunk = searches[last]?.hunk
  if (hunk?.newUnended) return false
  return hunk?.oldUnended ? true : undefined
}

function refuseOverlap(placed: readonly Placement[], path: string): void {
  const changes = placed.flatMap(({ changes }, index) =>
    changes.map((change) => ({ ...change, hunk: index + 1 })),
  )
  let widest: (typeof changes)[number] | undefined
  for (const change of changes.toSorted((a, b) => a.at - b.at || a.remove - b.remove)) {
    const isTwice = widest?.at === change.at && widest.hunk !== change.hunk && widest.remove === change.remove
    if (widest !== undefined && (change.at < widest.at + widest.remove || isTwice)) {
      const edits = [widest.hunk, change.hunk].toSorted((a, b) => a - b)
      const message = `hunks ${edits[0]} and ${edits[1]} change the same lines, at line ${change.at + 1}: ${path}`
      throw new CausewayError('EDIT_OVERLAP', message, { data: { path, edits, line: change.at + 1 } })
    }
    if (widest === undefined || change.at + change.remove >= widest.at + widest.remove) widest = change
  }
}

function mismatch(text: SearchedText, { hunk, number }: Search, path: string): CausewayError {
  const old = hunk.lines.filter(({ op }) => op !== '+').map((line) => line.text)
  const refuse = (
    code: ErrorCode,
    reason: string,
    { remedy, ...data }: Readonly<Record<string, unknown>> & { readonly remedy?: string } = {},
  ) =>
    new CausewayError(code, `hunk ${number} ${reason}: ${path}`, {
      data: { path, hunk: number, ...data },
      ...(remedy === undefined ? {} : { remedy }),
    })
  if (old.length === 0) return refuse('HUNK_AMBIGUOUS', 'has no line of the file', { lines: [] })
  const closest = closestRegion(text.lines, old)
  const shifted = reindented(text, hunk)
  if (shifted !== undefined)
    return refuse('HUNK_MISMATCH', 'is indented otherwise than the file', {
      closest,
      shifted,
      remedy: 'send the hunk with the indentation of the file, as in data.shifted',
    })
  const absent = old.filter((line) => line.trim() !== '' && !text.places.has(line.trimEnd())).slice(0, 5)
  return refuse('HUNK_MISMATCH', 'fits nowhere', { closest, absent })
}

/** The hunk with the indentation of the one place at which it fits but for that; undefined where there is none. */
function reindented(text: SearchedText, hunk: Hunk): string | undefined {
  const shifts = hunk.lines
    .filter(({ op, text: line }) => op !== '+' && line.trim() !== '')
    .slice(0, 1)
    .flatMap(({ text: line }) => {
      const own = indentOf(line)
      const found = text.lines.filter((other) => other.trim() === line.trim()).map(indentOf)
      return [...new Set(found)].map((theirs) => ({ own, theirs }))
    })
  const moved = shifts
    .map(({ own, theirs }): Hunk => {
      const shift = (line: string) => (line.startsWith(own) ? theirs + line.slice(own.length) : line)
      return {
        ...hunk,
        lines: hunk.lines.map(({ op, text: line }) => ({ op, text: line.trim() && shift(line) })),
      }
    })
    .filter((candidate) => placements(text, candidate).length === 1)
  return moved.length === 1 ? moved[0]?.lines.map(({ op, text: line }) => op + line).join('\n') : undefined
}

const indentOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? ''
