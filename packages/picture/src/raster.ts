import { fileURLToPath } from 'node:url'
import { Resvg } from '@resvg/resvg-js'
import { createInvalidPictureError } from './errors.ts'

/** 16 million pixels take 64 MB of memory. */
const maxPixels = 16_000_000

/** Matches image elements, document types and entities. */
const externalReference = /<(?:[\w.-]+:)?(?:image|feImage)\b|<!(?:DOCTYPE|ENTITY)/i

/** Valid in both `src` and `dist`. */
const resolveFontFile = (weight: string): string =>
  fileURLToPath(new URL(`../font/Inter-${weight}.ttf`, import.meta.url))

/** Without system fonts, pictures are the same on every machine. */
const font = {
  loadSystemFonts: false,
  fontFiles: [resolveFontFile('Regular'), resolveFontFile('SemiBold')],
  defaultFontFamily: 'Inter',
  sansSerifFamily: 'Inter',
}

/**
 * Draws SVG text as a PNG of `width` pixels. Throws `INVALID_PICTURE` if the text is not SVG or contains images or
 * entities, or if the picture has no pixels or exceeds `maxPixels`.
 */
export function renderPng(
  svg: string,
  width: number,
): { readonly png: Uint8Array<ArrayBuffer>; readonly width_px: number; readonly height_px: number } {
  if (externalReference.test(svg)) {
    throw createInvalidPictureError(
      'the drawing contains an image or an XML entity: draw with shapes and text',
    )
  }
  const drawing = loadSvg(svg, width)
  // Checked first, because a failed native allocation ends the process.
  const height = (drawing.height / drawing.width) * width
  if (!(height >= 1 && width * height <= maxPixels)) {
    throw createInvalidPictureError(
      `the picture would be lower than one pixel or have more than ${maxPixels} pixels`,
      {
        data: { width_px: width, height_px: Math.round(height), max_pixels: maxPixels },
      },
    )
  }
  const image = drawing.render()
  return { png: new Uint8Array(image.asPng()), width_px: image.width, height_px: image.height }
}

function loadSvg(svg: string, width: number): Resvg {
  try {
    return new Resvg(svg, { font, fitTo: { mode: 'width', value: width }, background: 'white' })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw createInvalidPictureError(`the drawing is not an SVG document: ${reason}`, { cause })
  }
}
