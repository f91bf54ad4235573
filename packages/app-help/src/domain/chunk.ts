/** A page cut into the pieces that search finds. Every piece is a range of lines of the page, so it can be shown and opened. */
import { type Block, blocks } from './block.ts'
import { type Section, sections } from './section.ts'

/** How pages are cut, in characters. */
export interface ChunkSize {
  /** Most characters of a piece. */
  readonly size: number
  /** Characters that a piece repeats of the one before it in the same section, at most. */
  readonly overlap: number
}

/** One piece. Lines count from 1, both ends included; `text` is exactly those lines, or of one line the columns named. */
export interface Chunk {
  readonly position: number
  readonly heading: string
  readonly heading_level: number
  readonly anchor: string
  readonly start_line: number
  readonly end_line: number
  /** Of a piece of one long line: its first column and the one after its last, from 0. */
  readonly columns: readonly [number, number] | null
  /** Language of the code fence within which the piece begins, else null. */
  readonly fence: string | null
  readonly text: string
}

/** What is measured best for size; a section shorter than `mergeBelow` goes with the next. */
export const defaultSize: ChunkSize = { size: 1600, overlap: 200 }
const mergeBelow = 200

/** A range of lines from 0, with columns where a line is divided. */
interface Piece {
  readonly start: number
  readonly end: number
  readonly columns?: readonly [number, number]
  readonly fence?: string
}

/** Cuts the lines of a page from `from` on; the lines before are its front matter. */
export function chunks(
  lines: readonly string[],
  from: number,
  { size, overlap }: ChunkSize = defaultSize,
): Chunk[] {
  const found: Chunk[] = []
  for (const section of merged(sections(blocks(lines, from)), lines, size)) {
    for (const { start, end, columns, fence } of pieces(section, lines, { size, overlap })) {
      const text =
        columns === undefined ? lines.slice(start, end).join('\n') : (lines[start] ?? '').slice(...columns)
      if (text.trim() === '') continue
      found.push({
        position: found.length,
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
  return found
}

/** Joins a short section to the one after it, if that is no step outwards and both fit in one piece. */
function merged(all: readonly Section[], lines: readonly string[], size: number): Section[] {
  const kept: Section[] = []
  for (const section of all) {
    const before = kept.at(-1)
    const isJoined =
      before !== undefined &&
      before.level <= section.level &&
      length(lines, before.start, before.end) < mergeBelow &&
      length(lines, before.start, section.end) <= size
    if (!isJoined) kept.push(section)
    else
      kept[kept.length - 1] = {
        // A parent is named in the path of its child; of siblings the first one names both.
        ...(section.level > before.level ? section : before),
        anchor: before.anchor || section.anchor,
        start: before.start,
        end: section.end,
        blocks: [...before.blocks, ...section.blocks],
      }
  }
  return kept
}

function* pieces(section: Section, lines: readonly string[], limits: ChunkSize): Generator<Piece> {
  let open: { start: number; end: number } | undefined
  const isRoom = (start: number, block: Block): boolean => length(lines, start, block.end) <= limits.size
  for (const block of section.blocks) {
    if (open !== undefined && isRoom(open.start, block)) {
      open = { start: open.start, end: block.end }
      continue
    }
    if (open !== undefined) yield open
    const start: number = open === undefined ? block.start : overlapStart(open, lines, limits.overlap)
    if (isRoom(start, block)) open = { start, end: block.end }
    else if (isRoom(block.start, block)) open = { start: block.start, end: block.end }
    else {
      open = undefined
      yield* linePieces(block, lines, limits)
    }
  }
  if (open !== undefined) yield open
}

/** A block that is too long by its lines, and a line that is too long by its characters. */
function* linePieces(block: Block, lines: readonly string[], { size, overlap }: ChunkSize): Generator<Piece> {
  const fence = block.kind === 'fence' ? (block.language ?? '') : undefined
  const marked = (piece: Piece): Piece =>
    fence === undefined || piece.start === block.start ? piece : { ...piece, fence }
  let open: { start: number; end: number } | undefined
  for (let at = block.start; at < block.end; at++) {
    if (open !== undefined && length(lines, open.start, at + 1) <= size) {
      open = { start: open.start, end: at + 1 }
      continue
    }
    if (open !== undefined) yield marked(open)
    if ((lines[at]?.length ?? 0) > size) {
      open = undefined
      yield* columnPieces(at, lines[at] ?? '', size)
      continue
    }
    const start: number = open === undefined ? at : overlapStart(open, lines, overlap)
    open = { start: length(lines, start, at + 1) <= size ? start : at, end: at + 1 }
  }
  if (open !== undefined) yield marked(open)
}

function* columnPieces(line: number, text: string, size: number): Generator<Piece> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + size, text.length)
    const space = text.lastIndexOf(' ', to)
    if (to < text.length && space > from + size / 2) to = space
    // Both halves of a character beyond the basic plane stay together.
    if (to < text.length && /[\uDC00-\uDFFF]/.test(text.charAt(to))) to--
    yield { start: line, end: line + 1, columns: [from, to] }
    from = to
  }
}

/** Where the next piece begins so that it repeats at most `overlap` characters of whole lines. */
function overlapStart(
  open: { start: number; end: number },
  lines: readonly string[],
  overlap: number,
): number {
  let start = open.end
  while (start - 1 > open.start && length(lines, start - 1, open.end) <= overlap) start--
  return start
}

function length(lines: readonly string[], start: number, end: number): number {
  let sum = end - start - 1
  for (let at = start; at < end; at++) sum += lines[at]?.length ?? 0
  return sum
}
