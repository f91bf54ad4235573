/** An inclusive range of lines, counted from 1. */
export interface Region {
  readonly start_line: number
  readonly end_line: number
  readonly text: string
}

const maxLines = 40
const maxCharacters = 1500
/** Maximum number of positions for which a repeated line votes. */
const maxPositions = 50

/**
 * Returns the region most similar to `lines`, or `undefined`. Each matching line votes for the position at which
 * `lines` would start.
 */
export function findClosestRegion(file: readonly string[], lines: readonly string[]): Region | undefined {
  const offset = findVotedOffset(file, lines) ?? findSimilarOffset(file, lines)
  if (offset === undefined) return undefined
  const start = Math.max(0, Math.min(offset, file.length - 1))
  const end = Math.min(file.length, Math.max(offset + lines.length, start + 1), start + maxLines)
  const text = file.slice(start, end).join('\n').slice(0, maxCharacters)
  return { start_line: start + 1, end_line: end, text }
}

function findVotedOffset(file: readonly string[], lines: readonly string[]): number | undefined {
  const positions = new Map<string, number[]>()
  for (const [index, line] of lines.entries()) {
    const key = line.trim()
    if (key === '') continue
    const known = positions.get(key)
    if (known === undefined) positions.set(key, [index])
    else if (known.length < maxPositions) known.push(index)
  }
  const votes = new Map<number, number>()
  for (const [line, text] of file.entries()) {
    // Short lines, such as a closing brace, count less.
    const weight = Math.min(text.trim().length, 20)
    for (const index of positions.get(text.trim()) ?? [])
      votes.set(line - index, (votes.get(line - index) ?? 0) + weight)
  }
  let [best, maxWeight] = [undefined as number | undefined, 2]
  for (const [offset, weight] of votes) if (weight > maxWeight) [best, maxWeight] = [offset, weight]
  return best
}

function findSimilarOffset(file: readonly string[], lines: readonly string[]): number | undefined {
  const longest = lines.reduce((best, line) => (line.trim().length > best.trim().length ? line : best), '')
  const words = findWords(longest)
  if (words.size === 0) return undefined
  let [best, maxLikeness] = [undefined as number | undefined, 0.5]
  for (const [line, text] of file.entries()) {
    const found = findWords(text)
    const shared = [...words].filter((word) => found.has(word)).length
    // The wanted text can be part of a longer line, so additional words count little.
    const likeness = shared / words.size - Math.max(0, found.size - words.size) / 100
    if (likeness > maxLikeness) [best, maxLikeness] = [line, likeness]
  }
  return best === undefined ? undefined : best - lines.indexOf(longest)
}

const findWords = (line: string): Set<string> => new Set(line.slice(0, 500).match(/[\p{L}\p{N}_]+/gu) ?? [])
