/** Advance widths in the bundled font, as shares of the font size: letters by their shape, rounded up. */
const shapes: readonly (readonly [letters: RegExp, share: number])[] = [
  [/[ijlI|!'.,:;·]/, 0.3],
  [/[ftr()[\]/\s-]/, 0.4],
  [/[mwMW%@—]/, 0.92],
  [/[A-Z\d+=<>±×→Δμ−]/, 0.68],
]
const otherShape = 0.6

/** Width of one line of text in the bundled font at a size, in the unit of the size: right within a tenth. */
export function textWidth(text: string, size: number): number {
  let shares = 0
  for (const letter of text) shares += shapes.find(([letters]) => letters.test(letter))?.[1] ?? otherShape
  return shares * size
}
