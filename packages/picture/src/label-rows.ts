/** Labels above a chart: side by side where there is room, else in rows. */

/** A label that belongs to a place along the axis. */
export interface PlacedLabel<Item> {
  readonly item: Item
  /** left edge, pixels */
  readonly left: number
  /** 0 is the row nearest to the chart */
  readonly row: number
}

/** Room between two labels of one row, pixels. */
const roomBetween = 10

/**
 * Centres each label over its place, inside `[0, width]`, in the lowest row where it touches no other. The first labels
 * choose first; a label that finds no room in `rows` rows is left out.
 */
export function placeLabels<Item>(
  labels: readonly { readonly item: Item; readonly center: number; readonly width: number }[],
  { width, rows }: { readonly width: number; readonly rows: number },
): PlacedLabel<Item>[] {
  const placed: (PlacedLabel<Item> & { readonly right: number })[] = []
  for (const label of labels) {
    const left = Math.max(0, Math.min(label.center - label.width / 2, width - label.width))
    const right = left + label.width
    const isFree = (row: number) =>
      placed.every(
        (other) =>
          other.row !== row || other.left >= right + roomBetween || other.right + roomBetween <= left,
      )
    const row = Array.from({ length: rows }, (_, index) => index).find(isFree)
    if (row !== undefined) placed.push({ item: label.item, left, row, right })
  }
  return placed
}
