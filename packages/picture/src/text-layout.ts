/** Advance widths in the bundled font as fractions of the font size, rounded up. */
const characterWidths: readonly (readonly [characters: RegExp, width: number])[] = [
  [/[ijlI|!'.,:;·]/, 0.3],
  [/[ftr()[\]/\s-]/, 0.4],
  [/[mwMW%@—]/, 0.92],
  [/[A-Z\d+=<>±×→Δμ−]/, 0.68],
]
const defaultCharacterWidth = 0.6

/** Returns the width of a line in the bundled font, in the unit of `size`, with an error below 10 %. */
export function measureText(text: string, size: number): number {
  let relativeWidth = 0
  for (const character of text)
    relativeWidth +=
      characterWidths.find(([characters]) => characters.test(character))?.[1] ?? defaultCharacterWidth
  return relativeWidth * size
}

interface PlacedLabel<Item> {
  readonly item: Item
  readonly left: number
  readonly row: number
}

/** Minimum gap in pixels. */
const labelGap = 10

/**
 * Centres each label inside `[0, width]`, in the first row without overlap. Earlier labels take precedence. Omits
 * labels that do not fit into any of the `rows` rows.
 */
export function placeLabels<Item>(
  labels: readonly { readonly item: Item; readonly center: number; readonly width: number }[],
  { width, rows }: { readonly width: number; readonly rows: number },
): PlacedLabel<Item>[] {
  const placedLabels: (PlacedLabel<Item> & { readonly right: number })[] = []
  for (const label of labels) {
    const left = Math.max(0, Math.min(label.center - label.width / 2, width - label.width))
    const right = left + label.width
    const isFree = (row: number) =>
      placedLabels.every(
        (other) => other.row !== row || other.left >= right + labelGap || other.right + labelGap <= left,
      )
    const row = Array.from({ length: rows }, (_, index) => index).find(isFree)
    if (row !== undefined) placedLabels.push({ item: label.item, left, row, right })
  }
  return placedLabels
}
