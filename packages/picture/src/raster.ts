import { fileURLToPath } from 'node:url'
import { Resvg } from '@resvg/resvg-js'
import { invalidPicture } from './invalid-picture.ts'

/** Largest PNG that is made, pixels: 16 million take 64 MB while they are drawn. */
const maxPixels = 16_000_000

/** Elements that the rasteriser would fill from a file, and entities that could hide one. */
const reachingOutside = /<(?:[\w.-]+:)?(?:image|feImage)\b|<!(?:DOCTYPE|ENTITY)/i

/** From `src` and from `dist` alike. */
const fontFile = (weight: string): string =>
  fileURLToPath(new URL(`../font/Inter-${weight}.ttf`, import.meta.url))

/** No font of the machine: the picture is the same everywhere. */
const font = {
  loadSystemFonts: false,
  fontFiles: [fontFile('Regular'), fontFile('SemiBold')],
  defaultFontFamily: 'Inter',
  sansSerifFamily: 'Inter',
}

/**
 * Draws SVG text as a PNG of `width` pixels; the height follows from the proportions.
 *
 * Throws `INVALID_PICTURE` for text that is no SVG, reaches for files or images, or would exceed `maxPixels`.
 */
export function rasterise(
  svg: string,
  width: number,
): { readonly png: Uint8Array<ArrayBuffer>; readonly width_px: number; readonly height_px: number } {
  if (reachingOutside.test(svg)) {
    throw invalidPicture('the drawing holds an image or an XML entity: draw with shapes and text')
  }
  const drawing = load(svg, width)
  // Checked before a pixel is allocated: a native allocation that fails ends the whole process.
  const height = (drawing.height / drawing.width) * width
  if (!(height >= 1 && width * height <= maxPixels)) {
    throw invalidPicture(`the picture would be lower than one pixel or have more than ${maxPixels} pixels`, {
      data: { width_px: width, height_px: Math.round(height), max_pixels: maxPixels },
    })
  }
  const image = drawing.render()
  // A copy of its own, so that it can be moved to another thread.
  return { png: new Uint8Array(image.asPng()), width_px: image.width, height_px: image.height }
}

function load(svg: string, width: number): Resvg {
  try {
    return new Resvg(svg, { font, fitTo: { mode: 'width', value: width }, background: 'white' })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw invalidPicture(`the drawing is not an SVG document: ${reason}`, { cause })
  }
}
