import { type Block, splitBlocks } from './block.ts'
import { type Section, splitSections } from './section.ts'

/** Sizes in characters. */
export interface ChunkSize {
  readonly size: number
  /** Maximum overlap with the previous chunk of the section. */
  readonly overlap: number
}

/** Lines count from 1 and are inclusive. `text` is exactly these lines, or some columns of one line. */
export interface Chunk {
  readonly position: number
  readonly heading: string
  readonly heading_level: number
  readonly anchor: string
  readonly start_line: number
  readonly end_line: number
  /** Columns of a part of one long line, from 0. The end is exclusive. */
  readonly columns: readonly [number, number] | null
  /** Language of the code fence in which the chunk begins. */
  readonly fence: string | null
  readonly text: string
}

export const defaultSize: ChunkSize = { size: 1600, overlap: 200 }
/** A section with fewer characters is merged with the next section. */
const minSectionLength = 200

/** A range of lines, from 0, with columns if a line is split. */
interface Piece {
  readonly start: number
  readonly end: number
  readonly columns?: readonly [number, number]
  readonly fence?: string
}

/** `from` is the first line after the front matter. */
export function splitChunks(
  lines: readonly string[],
  from: number,
  { size, overlap }: ChunkSize = defaultSize,
): Chunk[] {
  const chunks: Chunk[] = []
  for (const section of mergeSections(splitSections(splitBlocks(lines, from)), lines, size)) {
    for (const { start, end, columns, fence } of splitPieces(section, lines, { size, overlap })) {
      const text =
        columns === undefined ? lines.slice(start, end).join('\n') : (lines[start] ?? '').slice(...columns)
      if (text.trim() === '') continue
      chunks.push({
        position: chunks.length,
        heading: section.path.join(' > ') || 'Overview',
        heading_level: section.level,
        anchor: section.anchor,
        start_line: start + 1,
        end_line: end,
        columns: columns ?? null,
        fence: fence ?? null,
        text,
      })
    }
  }
  return chunks
}

/** Merges a short section with the next if both fit into one chunk and the next is not at a higher level. */
function mergeSections(sections: readonly Section[], lines: readonly string[], size: number): Section[] {
  const mergedSections: Section[] = []
  for (const section of sections) {
    const previous = mergedSections.at(-1)
    const canJoin =
      previous !== undefined &&
      previous.level <= section.level &&
      measureLength(lines, previous.start, previous.end) < minSectionLength &&
      measureLength(lines, previous.start, section.end) <= size
    if (!canJoin) mergedSections.push(section)
    else
      mergedSections[mergedSections.length - 1] = {
        // For siblings, the path of the first section is used for both.
        ...(section.level > previous.level ? section : previous),
        anchor: previous.anchor || section.anchor,
        start: previous.start,
        end: section.end,
        blocks: [...previous.blocks, ...section.blocks],
      }
  }
  return mergedSections
}

function* splitPieces(section: Section, lines: readonly string[], chunkSize: ChunkSize): Generator<Piece> {
  let open: { start: number; end: number } | undefined
  const fits = (start: number, block: Block): boolean =>
    measureLength(lines, start, block.end) <= chunkSize.size
  for (const block of section.blocks) {
    if (open !== undefined && fits(open.start, block)) {
      open = { start: open.start, end: block.end }
      continue
    }
    if (open !== undefined) yield open
    const start: number = open === undefined ? block.start : findOverlapStart(open, lines, chunkSize.overlap)
    if (fits(start, block)) open = { start, end: block.end }
    else if (fits(block.start, block)) open = { start: block.start, end: block.end }
    else {
      open = undefined
      yield* splitLines(block, lines, chunkSize)
    }
  }
  if (open !== undefined) yield open
}

function* splitLines(block: Block, lines: readonly string[], { size, overlap }: ChunkSize): Generator<Piece> {
  const fence = block.kind === 'fence' ? (block.language ?? '') : undefined
  const markPiece = (piece: Piece): Piece =>
    fence === undefined || piece.start === block.start ? piece : { ...piece, fence }
  let open: { start: number; end: number } | undefined
  for (let lineIndex = block.start; lineIndex < block.end; lineIndex++) {
    if (open !== undefined && measureLength(lines, open.start, lineIndex + 1) <= size) {
      open = { start: open.start, end: lineIndex + 1 }
      continue
    }
    if (open !== undefined) yield markPiece(open)
    if ((lines[lineIndex]?.length ?? 0) > size) {
      open = undefined
      yield* splitColumns(lineIndex, lines[lineIndex] ?? '', size)
      continue
    }
    const start: number = open === undefined ? lineIndex : findOverlapStart(open, lines, overlap)
    open = {
      start: measureLength(lines, start, lineIndex + 1) <= size ? start : lineIndex,
      end: lineIndex + 1,
    }
  }
  if (open !== undefined) yield markPiece(open)
}

function* splitColumns(line: number, text: string, size: number): Generator<Piece> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + size, text.length)
    const space = text.lastIndexOf(' ', to)
    if (to < text.length && space > from + size / 2) to = space
    // Prevents splitting a surrogate pair.
    if (to < text.length && /[\uDC00-\uDFFF]/.test(text.charAt(to))) to--
    yield { start: line, end: line + 1, columns: [from, to] }
    from = to
  }
}

/** Returns the first line of the next chunk, which repeats whole lines of at most `overlap` characters. */
function findOverlapStart(
  open: { start: number; end: number },
  lines: readonly string[],
  overlap: number,
): number {
  let start = open.end
  while (start - 1 > open.start && measureLength(lines, start - 1, open.end) <= overlap) start--
  return start
}

function measureLength(lines: readonly string[], start: number, end: number): number {
  let sum = end - start - 1
  for (let lineIndex = start; lineIndex < end; lineIndex++) sum += lines[lineIndex]?.length ?? 0
  return sum
}
