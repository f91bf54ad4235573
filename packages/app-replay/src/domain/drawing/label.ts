import { haloText, measureText, type Point, type SvgElement } from '@causeway/picture'

export interface Label {
  readonly text: string
  /** Middle of the baseline, px. */
  readonly at: Point
  /** Font size, px. */
  readonly size: number
  readonly weight: 600 | 700
  readonly color?: string
}

interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** Minimum distance between labels, px. */
const labelGap = 2

/** Offsets to try, in widths and heights of the label, nearest first. */
const labelOffsets: readonly Point[] = [0, 1, 2, 3, 4, 5].flatMap((ring): Point[] =>
  ring === 0
    ? [[0, 0]]
    : [
        [0, -ring],
        [0, ring],
        [ring / 2, 0],
        [-ring / 2, 0],
        [ring / 2, -ring],
        [-ring / 2, -ring],
        [ring / 2, ring],
        [-ring / 2, ring],
      ],
)

/** Earlier labels take precedence. A label overlaps others if every offset is occupied. */
export function separateLabels(labels: readonly Label[], area: Box): Label[] {
  const placedBoxes: Box[] = []
  return labels.map((label) => {
    const [width, height] = measureLabel(label)
    const candidates = labelOffsets.map(([x, y]): Label => {
      const at: Point = [label.at[0] + x * (width + labelGap), label.at[1] + y * (height + labelGap)]
      return moveInside({ ...label, at }, area)
    })
    const freeLabel = candidates.find((candidate) =>
      placedBoxes.every((box) => !doOverlap(box, getBox(candidate))),
    )
    const result = freeLabel ?? moveInside(label, area)
    placedBoxes.push(getBox(result))
    return result
  })
}

export const drawLabel = ({ text, at, size, weight, color }: Label): SvgElement =>
  haloText(at, text, {
    'text-anchor': 'middle',
    'font-weight': weight,
    'font-size': size,
    ...(color !== undefined && { fill: color }),
  })

const measureLabel = ({ text, size }: Label): Point => [measureText(text, size), size]

function getBox(label: Label): Box {
  const [width, height] = measureLabel(label)
  const [x, y] = label.at
  return {
    left: x - width / 2 - labelGap / 2,
    right: x + width / 2 + labelGap / 2,
    top: y - 0.8 * height - labelGap / 2,
    bottom: y + 0.2 * height + labelGap / 2,
  }
}

const doOverlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom

function moveInside(label: Label, area: Box): Label {
  const { left, right, top, bottom } = getBox(label)
  const [x, y] = label.at
  return {
    ...label,
    at: [
      x + Math.max(0, area.left - left) - Math.max(0, right - area.right),
      y + Math.max(0, area.top - top) - Math.max(0, bottom - area.bottom),
    ],
  }
}
