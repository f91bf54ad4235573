/** Where a text that was not found most likely stands, to be shown to whoever sent it. */

/** A part of a file as it is, with the numbers of its first and last line, from 1. */
export interface Region {
  readonly start_line: number
  readonly end_line: number
  readonly text: string
}

/** Most lines of a region. */
const tallest = 40
/** Most places at which a repeated line of the wanted text votes. */
const maxPlaces = 50
/** Longest region, in characters. */
const longest = 1500

/**
 * The region of the file that shares most lines with the wanted ones, blanks at the ends of lines aside; undefined
 * where it shares none and no line resembles one. Lines vote for the place at which they would stand.
 */
export function closestRegion(file: readonly string[], wanted: readonly string[]): Region | undefined {
  const offset = votedOffset(file, wanted) ?? similarOffset(file, wanted)
  if (offset === undefined) return undefined
  const start = Math.max(0, Math.min(offset, file.length - 1))
  const end = Math.min(file.length, Math.max(offset + wanted.length, start + 1), start + tallest)
  return { start_line: start + 1, end_line: end, text: file.slice(start, end).join('\n').slice(0, longest) }
}

function votedOffset(file: readonly string[], wanted: readonly string[]): number | undefined {
  const places = new Map<string, number[]>()
  for (const [index, line] of wanted.entries()) {
    const key = line.trim()
    if (key === '') continue
    const known = places.get(key)
    if (known === undefined) places.set(key, [index])
    else if (known.length < maxPlaces) known.push(index)
  }
  const votes = new Map<number, number>()
  for (const [line, text] of file.entries()) {
    // A line as common as a closing brace says less than a long one.
    const weight = Math.min(text.trim().length, 20)
    for (const index of places.get(text.trim()) ?? []) {
      votes.set(line - index, (votes.get(line - index) ?? 0) + weight)
    }
  }
  let [best, most] = [undefined as number | undefined, 2]
  for (const [offset, weight] of votes) if (weight > most) [best, most] = [offset, weight]
  return best
}

/** By the words of the longest line wanted. */
function similarOffset(file: readonly string[], wanted: readonly string[]): number | undefined {
  const longestLine = wanted.reduce(
    (best, line) => (line.trim().length > best.trim().length ? line : best),
    '',
  )
  const words = wordsOf(longestLine)
  if (words.size === 0) return undefined
  let [best, most] = [undefined as number | undefined, 0.5]
  for (const [line, text] of file.entries()) {
    const found = wordsOf(text)
    const shared = [...words].filter((word) => found.has(word)).length
    // What is wanted may be a part of a line.
    const likeness = shared / words.size - Math.max(0, found.size - words.size) / 100
    if (likeness > most) [best, most] = [line, likeness]
  }
  return best === undefined ? undefined : best - wanted.indexOf(longestLine)
}

const wordsOf = (line: string): Set<string> => new Set(line.slice(0, 500).match(/[\p{L}\p{N}_]+/gu) ?? [])
