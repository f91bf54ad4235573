/** Where the hunks of a diff belong in a text, by what their lines say; the numbers of headers only decide ties. */
import type { Hunk, HunkLine } from './unified-diff.ts'

/** A change of whole lines: `remove` lines from index `at` on give way to `insert`. */
export interface LineChange {
  readonly at: number
  readonly remove: number
  readonly insert: readonly string[]
}

/** One way to place a hunk. */
export interface Placement {
  /** Index of the line at which the hunk starts. */
  readonly start: number
  /** Index of the line after the last one that it covers. */
  readonly end: number
  readonly changes: readonly LineChange[]
  /** Context lines that differ from those of the text: exchanged, missing here or missing there. */
  readonly fuzz: number
}

/** Most context lines of a hunk that may differ. */
const mostFuzz = 2

/** Most ways that are told apart; a hunk with more of them says nothing of its place. */
export const mostWays = 2000

/** A text prepared for search: its lines, without blanks at their ends, and where each of them stands. */
export interface SearchedText {
  readonly lines: readonly string[]
  readonly trimmed: readonly string[]
  readonly places: ReadonlyMap<string, readonly number[]>
}

/** Prepares a text for search. */
export function searchedText(lines: readonly string[]): SearchedText {
  const trimmed = lines.map((line) => line.trimEnd())
  const places = new Map<string, number[]>()
  for (const [index, line] of trimmed.entries()) {
    const known = places.get(line)
    if (known) known.push(index)
    else places.set(line, [index])
  }
  return { lines, trimmed, places }
}

/**
 * The best ways to place a hunk, all equally good: those where every old line stands as it is, else up to blanks at
 * the ends of lines, else with one, else with two other context lines. Removed lines always match, and what is
 * inserted keeps a neighbour that does. Ways that come to the same change count once. Ends one after `mostWays`.
 */
export function placements(text: SearchedText, hunk: Hunk): readonly Placement[] {
  const old = hunk.lines.filter(({ op }) => op !== '+').map((line) => line.text)
  const starts = startsOf(text, old)
  const exact = starts.filter((start) => old.every((line, index) => text.lines[start + index] === line))
  const close = (exact.length > 0 ? exact : starts).slice(0, mostWays + 1)
  if (close.length > 0) return distinct(close.flatMap((start) => aligned(text, hunk.lines, start, 0)))
  for (let fuzz = 1; fuzz <= mostFuzz; fuzz++) {
    if (!isStrongEnough(old, fuzz)) break
    const near = fuzzyStarts(text, old)
    if (near.length > mostWays) break
    const ways = distinct(near.flatMap((start) => aligned(text, hunk.lines, start, fuzz)))
    if (ways.length > 0) return ways
  }
  return []
}

/** Indices from which on all lines stand, blanks at their ends aside. */
function startsOf({ trimmed, places }: SearchedText, old: readonly string[]): readonly number[] {
  if (old.length === 0) return trimmed.length === 0 ? [0] : []
  const wanted = old.map((line) => line.trimEnd())
  const rarest = byRarity(places, wanted)[0] ?? 0
  return (places.get(wanted[rarest] ?? '') ?? [])
    .map((place) => place - rarest)
    .filter((start) => start >= 0 && wanted.every((line, index) => trimmed[start + index] === line))
}

/** Enough lines must be left that say where a hunk belongs. */
function isStrongEnough(old: readonly string[], fuzz: number): boolean {
  const said = old.filter((line) => line.trim() !== '').length
  return old.length - fuzz >= 2 * fuzz + 1 && said - fuzz >= fuzz + 1
}

/** Where a hunk may start: of any three lines at least one matches, if no more than two differ. */
function fuzzyStarts({ trimmed, places }: SearchedText, old: readonly string[]): readonly number[] {
  const wanted = old.map((line) => line.trimEnd())
  const starts = new Set<number>()
  for (const index of byRarity(places, wanted).slice(0, mostFuzz + 1)) {
    for (const place of places.get(wanted[index] ?? '') ?? []) {
      for (let shift = -mostFuzz; shift <= mostFuzz; shift++) starts.add(place - index + shift)
    }
  }
  return [...starts].filter((start) => start >= 0 && start < trimmed.length).sort((a, b) => a - b)
}

/** Indices of the lines, those first that stand least often in the text. */
const byRarity = (places: SearchedText['places'], wanted: readonly string[]): number[] =>
  [...wanted.keys()].sort((a, b) => count(places, wanted[a]) - count(places, wanted[b]))

const count = (places: SearchedText['places'], line = ''): number => places.get(line)?.length ?? 0

function distinct(ways: readonly Placement[]): readonly Placement[] {
  const found = new Map<string, Placement>()
  for (const way of ways) {
    const key = way.changes.map(({ at, remove }) => `${at} ${remove}`).join()
    if (!found.has(key)) found.set(key, way)
  }
  return [...found.values()]
}

/** What became of a line of a hunk: it matches the text (an added one always does), differs, or is absent from it. */
interface Aligned {
  /** Its line in the text; for an added or an absent one the line that follows it. */
  readonly line: number
  readonly is: 'match' | 'other' | 'absent'
}

/** The ways to align a hunk with the text from `start` on, with exactly `fuzz` differences. */
function aligned(
  { trimmed }: SearchedText,
  ops: readonly HunkLine[],
  start: number,
  fuzz: number,
): readonly Placement[] {
  const ways: (readonly Aligned[])[] = []
  const walk = (begun: readonly Aligned[], from: number, left: number): void => {
    const done = [...begun]
    let line = from
    let current = ops[done.length]
    for (; current !== undefined; current = ops[done.length]) {
      if (current.op !== '+' && trimmed[line] !== current.text.trimEnd()) break
      done.push({ line, is: 'match' })
      if (current.op !== '+') line++
    }
    if (current === undefined && left === 0) ways.push([...done, { line, is: 'match' }])
    if (current === undefined || left === 0) return
    const isContext = current.op === ' '
    if (isContext && line < trimmed.length) walk([...done, { line, is: 'other' }], line + 1, left - 1)
    if (isContext) walk([...done, { line, is: 'absent' }], line, left - 1)
    // A line that the hunk does not show may stand beside context.
    const before = ops[done.length - 1]?.op
    if (before === ' ' || (before === '-' && isContext)) walk(done, line + 1, left - 1)
  }
  walk([], start, fuzz)
  return ways
    .filter((way) => isAnchored(ops, way))
    .map((way) => ({ start, end: way.at(-1)?.line ?? start, changes: changesOf(ops, way), fuzz }))
}

/**
 * What is inserted without anything being removed must stay where the hunk shows it: directly beside a line that
 * matches; on the other side a line may differ where the one behind it matches again.
 */
function isAnchored(ops: readonly HunkLine[], way: readonly Aligned[]): boolean {
  return blocksOf(ops).every(([first, last]) => {
    if (ops.slice(first, last).some(({ op }) => op === '-')) return true
    // Without any old line the text is empty.
    if (last - first === ops.length) return true
    const isMatch = (index: number) => ops[index] !== undefined && way[index]?.is === 'match'
    const isContinuous = way[first - 1] === undefined || way[last - 1]?.line === lineAfter(way[first - 1])
    const [above, below] = [isMatch(first - 1), isMatch(last)]
    if (!isContinuous || (!above && !below)) return false
    const isFirm = (index: number, behind: number) =>
      ops[index] === undefined || isMatch(index) || (way[index]?.is === 'other' && isMatch(behind))
    return isFirm(first - 1, first - 2) && isFirm(last, last + 1)
  })
}

const lineAfter = (aligned: Aligned | undefined): number | undefined =>
  aligned && aligned.line + (aligned.is === 'absent' ? 0 : 1)

/** Ranges of lines between context, `[first, last)`. */
function blocksOf(ops: readonly HunkLine[]): readonly (readonly [number, number])[] {
  const borders = [...ops.keys(), ops.length].filter(
    (index) => (ops[index]?.op ?? ' ') === ' ' || (ops[index - 1]?.op ?? ' ') === ' ',
  )
  return borders
    .map((first, index) => [first, borders[index + 1] ?? ops.length] as const)
    .filter(([first]) => ops[first] !== undefined && ops[first]?.op !== ' ')
}

/** What the blocks of removed and added lines do to the text. */
function changesOf(ops: readonly HunkLine[], way: readonly Aligned[]): readonly LineChange[] {
  return blocksOf(ops).map(([first, last]) => {
    const block = ops.slice(first, last)
    return {
      at: way[first]?.line ?? 0,
      remove: block.filter(({ op }) => op === '-').length,
      insert: block.filter(({ op }) => op === '+').map(({ text }) => text),
    }
  })
}
