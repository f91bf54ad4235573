import { fontFamily, textSizes, themeColors } from './chart-theme.ts'
import { createInvalidPictureError } from './errors.ts'

/** `undefined` values are omitted. Numbers are rounded to three decimals. */
export type SvgAttributes = Readonly<Record<string, string | number | undefined>>

export interface SvgElement {
  readonly name: string
  readonly attributes: SvgAttributes
  readonly children: readonly (SvgElement | string)[]
}

/** CSS pixels, x to the right and y down. */
export type Point = readonly [x: number, y: number]

export const element = (
  name: string,
  attributes: SvgAttributes = {},
  ...children: readonly (SvgElement | string)[]
): SvgElement => ({ name, attributes, children })

export const group = (attributes: SvgAttributes, ...children: readonly SvgElement[]): SvgElement =>
  element('g', attributes, ...children)

export const text = ([x, y]: Point, content: string, attributes: SvgAttributes = {}): SvgElement =>
  element('text', { x, y, 'font-size': textSizes.label, fill: themeColors.text, ...attributes }, content)

export const circle = ([cx, cy]: Point, r: number, attributes: SvgAttributes = {}): SvgElement =>
  element('circle', { cx, cy, r, ...attributes })

export const line = ([x1, y1]: Point, [x2, y2]: Point, attributes: SvgAttributes = {}): SvgElement =>
  element('line', { x1, y1, x2, y2, stroke: themeColors.text, ...attributes })

export const polyline = (points: readonly Point[], attributes: SvgAttributes = {}): SvgElement =>
  element('polyline', { points: formatPoints(points), fill: 'none', stroke: themeColors.text, ...attributes })

export const polygon = (points: readonly Point[], attributes: SvgAttributes = {}): SvgElement =>
  element('polygon', { points: formatPoints(points), ...attributes })

/** Returns an SVG document with a white background. Throws `INVALID_PICTURE` for non-finite numbers. */
export function drawing(
  { width_px, height_px }: { readonly width_px: number; readonly height_px: number },
  ...children: readonly SvgElement[]
): string {
  return writeElement(
    element(
      'svg',
      {
        xmlns: 'http://www.w3.org/2000/svg',
        width: width_px,
        height: height_px,
        viewBox: `0 0 ${formatNumber(width_px)} ${formatNumber(height_px)}`,
        'font-family': fontFamily,
      },
      element('rect', { width: width_px, height: height_px, fill: 'white' }),
      ...children,
    ),
  )
}

function writeElement({ name, attributes, children }: SvgElement): string {
  const attributeTexts = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(
      ([key, value]) =>
        ` ${key}="${typeof value === 'number' ? formatNumber(value) : escapeText(String(value))}"`,
    )
  const childTexts = children.map((child) =>
    typeof child === 'string' ? escapeText(child) : writeElement(child),
  )
  return childTexts.length === 0
    ? `<${name}${attributeTexts.join('')}/>`
    : `<${name}${attributeTexts.join('')}>${childTexts.join('')}</${name}>`
}

const formatPoints = (points: readonly Point[]): string =>
  points.map(([x, y]) => `${formatNumber(x)},${formatNumber(y)}`).join(' ')

function formatNumber(value: number): string {
  if (!Number.isFinite(value))
    throw createInvalidPictureError(`a number in the drawing is not finite: ${value}`)
  return String(Math.round(value * 1000) / 1000)
}

/** Characters that XML 1.0 cannot represent (https://www.w3.org/TR/xml/#charsets). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is searched for
const invalidXmlCharacters = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF\p{Surrogate}]/gu

const escapeText = (content: string): string =>
  content
    .replace(invalidXmlCharacters, '\uFFFD')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;')
