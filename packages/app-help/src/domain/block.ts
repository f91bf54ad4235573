/** A block of lines. Lines count from 0, and `end` is exclusive. */
export interface Block {
  readonly kind: 'heading' | 'fence' | 'table' | 'text' | 'blank'
  readonly start: number
  readonly end: number
  /** Level of a heading, 1 to 6. */
  readonly level?: number
  readonly title?: string
  /** Explicit id of a heading, written `{#id}`. */
  readonly id?: string
  /** Info word of a fence, such as `js`. */
  readonly language?: string
}

const fenceStart = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)/
const atxHeading = /^ {0,3}(#{1,6})(?:[ \t]+(?![ \t])(.*?))?(?:(?<![ \t])[ \t]+#+)?(?:(?<![ \t])[ \t]+)?$/
const tableRow = /^ {0,3}\|.*\|\s*$/

/** Splits Markdown into consecutive blocks that cover every line from `from`. An unclosed fence extends to the end. */
export function splitBlocks(lines: readonly string[], from = 0): Block[] {
  const blocks: Block[] = []
  for (let lineIndex = from; lineIndex < lines.length; ) {
    const block = readBlock(lines, lineIndex)
    blocks.push(block)
    lineIndex = block.end
  }
  return blocks
}

function readBlock(lines: readonly string[], start: number): Block {
  const line = lines[start] ?? ''
  if (line.trim() === '')
    return { kind: 'blank', start, end: findRunEnd(lines, start, (next) => next.trim() === '') }
  const fence = fenceStart.exec(line)
  if (fence !== null) return readFence(lines, start, fence)
  if (/^ {0,3}<!--/.test(line)) return { kind: 'text', start, end: findCommentEnd(lines, start) }
  const heading = atxHeading.exec(line)
  if (heading !== null)
    return {
      kind: 'heading',
      start,
      end: start + 1,
      level: heading[1]?.length ?? 1,
      ...readTitle(heading[2] ?? ''),
    }
  const setextHeading = readSetext(lines, start)
  if (setextHeading !== undefined) return setextHeading
  if (tableRow.test(line))
    return { kind: 'table', start, end: findRunEnd(lines, start, (next) => tableRow.test(next)) }
  return { kind: 'text', start, end: findRunEnd(lines, start, isParagraphLine) }
}

function readFence(lines: readonly string[], start: number, match: RegExpExecArray): Block {
  const [, marker = '', language = ''] = match
  const closingFence = new RegExp(`^ {0,3}${marker[0]}{${marker.length},}\\s*$`)
  const close = lines.findIndex((line, i) => i > start && closingFence.test(line))
  return { kind: 'fence', start, end: close < 0 ? lines.length : close + 1, language }
}

function findCommentEnd(lines: readonly string[], start: number): number {
  const close = lines.findIndex((line, i) => i >= start && line.includes('-->'))
  return close < 0 ? lines.length : close + 1
}

function readSetext(lines: readonly string[], start: number): Block | undefined {
  const marker = /^ {0,3}(=+|-+)\s*$/.exec(lines[start + 1] ?? '')?.[1]
  if (marker === undefined || marker.length < 2) return undefined
  if (/^ {0,3}([-*+>]|\d+[.)])\s/.test(lines[start] ?? '')) return undefined
  const level = marker.startsWith('=') ? 1 : 2
  return { kind: 'heading', start, end: start + 2, level, ...readTitle(lines[start] ?? '') }
}

const isParagraphLine = (line: string): boolean =>
  line.trim() !== '' && !fenceStart.test(line) && !atxHeading.test(line) && !/^ {0,3}<!--/.test(line)

function findRunEnd(lines: readonly string[], start: number, isIncluded: (line: string) => boolean): number {
  let end = start + 1
  while (end < lines.length && isIncluded(lines[end] ?? '')) end++
  return end
}

function readTitle(text: string): Pick<Block, 'title' | 'id'> {
  const id = /\{#([^\s{}]{1,200})\}$/.exec(text.trimEnd())?.[1]
  return { title: toPlainTitle(text), ...(id === undefined ? {} : { id }) }
}

const maxTitleLength = 1000

function toPlainTitle(text: string): string {
  return text
    .slice(0, maxTitleLength)
    .replace(/<[^>]*>/g, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replace(/[`*]+/g, '')
    .replace(/\s*\{#[^}]*\}\s*$/, '')
    .trim()
}
