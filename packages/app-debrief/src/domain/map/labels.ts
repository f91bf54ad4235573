import { haloText, type Point, type SvgElement, textWidth } from '@causeway/picture'
import type { Frame } from './projection.ts'

export interface Label {
  readonly at: Point
  readonly text: string
  readonly color: string
  readonly isImportant: boolean
  /** Pixels. */
  readonly size?: number
}

const defaultSize = 13
const maxLength = 32

interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

/** Places labels without overlap, selected ones first, in the frame and away from `taken`. Omits labels without space. */
export function placeLabels(
  labels: readonly Label[],
  frame: Frame,
  taken: readonly Point[],
): readonly SvgElement[] {
  const placed: Box[] = []
  const obstacles = new ObstacleGrid(taken)
  const ordered = [...labels].sort((a, b) => Number(b.isImportant) - Number(a.isImportant))
  return ordered.flatMap((label) => {
    const content = label.text.length > maxLength ? `${label.text.slice(0, maxLength - 1)}…` : label.text
    const { size = defaultSize } = label
    const free = listPositions(label.at, textWidth(content, size), size).filter(
      (one) => isWithin(one, frame) && !placed.some((other) => overlap(one, other)),
    )
    // A name over a track is better than none; a time is not.
    const box = free.find((one) => !obstacles.hits(one)) ?? (label.size === undefined ? free[0] : undefined)
    if (box === undefined) return []
    placed.push(box)
    return haloText([box.left + 2, box.bottom - 4], content, {
      fill: label.color,
      'font-size': size,
      'font-weight': label.isImportant ? 600 : 400,
    })
  })
}

/** Side of a cell, pixels. */
const cell = 32

/** Points that labels avoid, by cell. */
class ObstacleGrid {
  readonly #cells = new Map<string, Point[]>()

  constructor(points: readonly Point[]) {
    for (const point of points) {
      const key = `${Math.floor(point[0] / cell)},${Math.floor(point[1] / cell)}`
      const known = this.#cells.get(key)
      if (known === undefined) this.#cells.set(key, [point])
      else known.push(point)
    }
  }

  hits({ left, top, right, bottom }: Box): boolean {
    for (let column = Math.floor(left / cell); column <= Math.floor(right / cell); column++)
      for (let row = Math.floor(top / cell); row <= Math.floor(bottom / cell); row++)
        if (
          this.#cells
            .get(`${column},${row}`)
            ?.some(([x, y]) => x > left && x < right && y > top && y < bottom)
        )
          return true
    return false
  }
}

function listPositions([x, y]: Point, width: number, size: number): readonly Box[] {
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

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom

const isWithin = ({ left, top, right, bottom }: Box, frame: Frame): boolean =>
  left >= frame.left &&
  top >= frame.top &&
  right <= frame.left + frame.width &&
  bottom <= frame.top + frame.height
