import { haloText, line, measureText, type Point, type SvgElement } from '@causeway/picture'
import type { Frame } from './projection.ts'

export interface Label {
  readonly anchor: Point
  /** Possible centres of the label, in order of preference. By default, positions around `anchor`. */
  readonly centres?: readonly Point[]
  readonly lines: readonly string[]
  readonly color: string
  readonly isImportant: boolean
  /** Whether to omit the label if it would cover a line. */
  readonly isOptional: boolean
  /** Pixels. */
  readonly size?: number
}

const defaultSize = 13
const maxLabelLength = 32

export interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

interface Obstacles {
  readonly points: readonly Point[]
  readonly boxes: readonly Box[]
}

/** Places labels inside the frame without overlap, important ones first. Omits labels that do not fit. */
export function placeLabels(
  labels: readonly Label[],
  frame: Frame,
  { points, boxes }: Obstacles,
): readonly SvgElement[] {
  const occupiedBoxes = [...boxes]
  const obstacles = new ObstacleGrid(points)
  const sortedLabels = [...labels].sort((a, b) => Number(b.isImportant) - Number(a.isImportant))
  return sortedLabels.flatMap((label) => {
    const { size = defaultSize, centres } = label
    const lines = label.lines.map(shorten)
    const extent: Point = [
      Math.max(...lines.map((text) => measureText(text, size))) + 4,
      lines.length * computeLineHeight(size) + 2,
    ]
    const candidates =
      centres === undefined
        ? listPositions(label.anchor, extent)
        : centres.map((center) => createCentredBox(center, extent))
    const freeBoxes = candidates.filter(
      (candidate) =>
        isBoxInFrame(candidate, frame) && !occupiedBoxes.some((other) => areOverlapping(candidate, other)),
    )
    const box = findClearest(freeBoxes, obstacles, label.isOptional)
    if (box === undefined) return []
    occupiedBoxes.push(box)
    return [
      ...(centres === undefined ? drawLeader(label, box) : []),
      ...lines.map((text, index) =>
        haloText(
          [
            centres === undefined ? box.left + 2 : (box.left + box.right) / 2,
            box.top + (index + 1) * computeLineHeight(size) - 4,
          ],
          text,
          {
            'text-anchor': centres === undefined ? 'start' : 'middle',
            fill: label.color,
            'font-size': size,
            'font-weight': label.isImportant ? 600 : 400,
          },
        ),
      ),
    ]
  })
}

const shorten = (text: string): string =>
  text.length > maxLabelLength ? `${text.slice(0, maxLabelLength - 1)}…` : text

const computeLineHeight = (size: number): number => size + 4

/** Returns the box with the fewest obstacles. For an optional label, returns only a box without obstacles. */
function findClearest(boxes: readonly Box[], obstacles: ObstacleGrid, isOptional: boolean): Box | undefined {
  let bestBox: Box | undefined
  let minHits = isOptional ? 1 : Number.POSITIVE_INFINITY
  for (const box of boxes) {
    const hits = obstacles.count(box)
    if (hits < minHits) [bestBox, minHits] = [box, hits]
    if (hits === 0) break
  }
  return bestBox
}

/** Minimum distance at which a line connects a label with its point, in pixels. */
const minLeaderDistance = 18

function drawLeader({ anchor: [x, y], color }: Label, box: Box): readonly SvgElement[] {
  const end: Point = [
    Math.max(box.left, Math.min(box.right, x)),
    Math.max(box.top + 2, Math.min(box.bottom - 2, y)),
  ]
  const distance = Math.hypot(end[0] - x, end[1] - y)
  if (distance < minLeaderDistance) return []
  return [line([x, y], end, { stroke: color, 'stroke-width': 0.8, 'stroke-opacity': 0.7 })]
}

/** Side of a grid cell, in pixels. */
const cellSize = 32

class ObstacleGrid {
  readonly #cells = new Map<string, Point[]>()

  constructor(points: readonly Point[]) {
    for (const point of points) {
      const key = `${Math.floor(point[0] / cellSize)},${Math.floor(point[1] / cellSize)}`
      const cellPoints = this.#cells.get(key)
      if (cellPoints === undefined) this.#cells.set(key, [point])
      else cellPoints.push(point)
    }
  }

  count({ left, top, right, bottom }: Box): number {
    let count = 0
    for (let column = Math.floor(left / cellSize); column <= Math.floor(right / cellSize); column++)
      for (let row = Math.floor(top / cellSize); row <= Math.floor(bottom / cellSize); row++)
        for (const [x, y] of this.#cells.get(`${column},${row}`) ?? [])
          if (x > left && x < right && y > top && y < bottom) count++
    return count
  }
}

/** Distances between a label and its point, in pixels. */
const labelDistances = [8, 22, 40]

/** Returns boxes around a point, nearest first. */
const listPositions = ([x, y]: Point, extent: Point): readonly Box[] =>
  labelDistances.flatMap((distance) => {
    const [dx, dy] = [distance + extent[0] / 2, distance + extent[1] / 2]
    const centres: readonly Point[] = [
      [x + dx, y],
      [x - dx, y],
      [x, y - dy],
      [x, y + dy],
      [x + dx, y - dy],
      [x + dx, y + dy],
      [x - dx, y - dy],
      [x - dx, y + dy],
    ]
    return centres.map((center) => createCentredBox(center, extent))
  })

const createCentredBox = ([x, y]: Point, [width, height]: Point): Box => ({
  left: x - width / 2,
  top: y - height / 2,
  right: x + width / 2,
  bottom: y + height / 2,
})

const areOverlapping = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom

const isBoxInFrame = ({ left, top, right, bottom }: Box, frame: Frame): boolean =>
  left >= frame.left &&
  top >= frame.top &&
  right <= frame.left + frame.width &&
  bottom <= frame.top + frame.height
