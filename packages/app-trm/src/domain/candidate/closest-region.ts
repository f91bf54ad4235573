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
export function findClosestRegion(source: readonly string[], lines: readonly string[]): Region | undefined {
  const offset = findVotedOffset(source, lines) ?? findSimilarOffset(source, lines)
  if (offset === undefined) return undefined
  const start = Math.max(0, Math.min(offset, source.length - 1))
  const end = Math.min(source.length, Math.max(offset + lines.length, start + 1), start + maxLines)
  const text = source.slice(start, end).join('\n').slice(0, maxCharacters)
  return { start_line: start + 1, end_line: end, text }
}

function findVotedOffset(source: readonly string[], lines: readonly string[]): number | undefined {
  const positions = new Map<string, number[]>()
  for (const [index, line] of lines.entries()) {
    const key = line.trim()
    if (key === '') continue
    const indices = positions.get(key)
    if (indices === undefined) positions.set(key, [index])
    else if (indices.length < maxPositions) indices.push(index)
  }
  const votes = new Map<number, number>()
  for (const [line, text] of source.entries()) {
    // Short lines, such as a closing brace, count less.
    const weight = Math.min(text.trim().length, 20)
    for (const index of positions.get(text.trim()) ?? [])
      votes.set(line - index, (votes.get(line - index) ?? 0) + weight)
  }
  let [bestOffset, maxWeight] = [undefined as number | undefined, 2]
  for (const [offset, weight] of votes) if (weight > maxWeight) [bestOffset, maxWeight] = [offset, weight]
  return bestOffset
}

function findSimilarOffset(source: readonly string[], lines: readonly string[]): number | undefined {
  const longest = lines.reduce((best, line) => (line.trim().length > best.trim().length ? line : best), '')
  const words = findWords(longest)
  if (words.size === 0) return undefined
  let [bestLine, maxSimilarity] = [undefined as number | undefined, 0.5]
  for (const [line, text] of source.entries()) {
    const fileWords = findWords(text)
    const sharedCount = [...words].filter((word) => fileWords.has(word)).length
    // The searched text can be part of a longer line, so additional words have a low weight.
    const similarity = sharedCount / words.size - Math.max(0, fileWords.size - words.size) / 100
    if (similarity > maxSimilarity) [bestLine, maxSimilarity] = [line, similarity]
  }
  return bestLine === undefined ? undefined : bestLine - lines.indexOf(longest)
}

const findWords = (line: string): Set<string> => new Set(line.slice(0, 500).match(/[\p{L}\p{N}_]+/gu) ?? [])
