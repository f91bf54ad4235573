/** Names beside what they name, none over another: the selected first, and a name without room is left out. */
import { haloText, type Point, type SvgElement, textWidth } from '@causeway/picture'
import type { Frame } from './projection.ts'

/** A name that wants a place. */
export interface Label {
  readonly at: Point
  readonly text: string
  readonly color: string
  readonly isImportant: boolean
}

const size = 13
const longest = 32

interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

/** The names that have room, within the frame and clear of `taken`. */
export function placeLabels(
  labels: readonly Label[],
  frame: Frame,
  taken: readonly Point[],
): readonly SvgElement[] {
  const placed: Box[] = taken.map(([x, y]) => ({ left: x - 4, right: x + 4, top: y - 4, bottom: y + 4 }))
  const ordered = [...labels].sort((a, b) => Number(b.isImportant) - Number(a.isImportant))
  return ordered.flatMap((label) => {
    const content = label.text.length > longest ? `${label.text.slice(0, longest - 1)}…` : label.text
    const width = textWidth(content, size)
    const box = places(label.at, width).find(
      (one) => isWithin(one, frame) && !placed.some((other) => meet(one, other)),
    )
    if (box === undefined) return []
    placed.push(box)
    return haloText([box.left + 2, box.bottom - 4], content, {
      fill: label.color,
      'font-size': size,
      'font-weight': label.isImportant ? 600 : 400,
    })
  })
}

/** Right, left, above and below of a point. */
function places([x, y]: Point, width: number): readonly Box[] {
  const box = (left: number, top: number): Box => ({
    left,
    top,
    right: left + width + 4,
    bottom: top + size + 5,
  })
  const [middle, half] = [y - size / 2 - 2, width / 2]
  return [
    box(x + 8, middle),
    box(x - width - 12, middle),
    box(x - half, y - size - 14),
    box(x - half, y + 9),
    box(x + 10, y - size - 12),
    box(x + 10, y + 8),
  ]
}

const meet = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom

const isWithin = ({ left, top, right, bottom }: Box, frame: Frame): boolean =>
  left >= frame.left &&
  top >= frame.top &&
  right <= frame.left + frame.width &&
  bottom <= frame.top + frame.height
