/** SVG text from plain values: what is written is always well-formed, whatever stands in a name or a label. */
import { fontFamily, inks, textSizes } from './chart-theme.ts'
import { invalidPicture } from './invalid-picture.ts'

/** Attributes by name; undefined leaves one out. Numbers are written with at most three decimals. */
export type SvgAttributes = Readonly<Record<string, string | number | undefined>>

/** An element and what stands in it; a string is text. */
export interface SvgElement {
  readonly name: string
  readonly attributes: SvgAttributes
  readonly children: readonly (SvgElement | string)[]
}

/** A place, CSS pixels: x to the right, y down. */
export type Point = readonly [x: number, y: number]

/** An element of any name, as SVG 2 spells it (https://www.w3.org/TR/SVG2/eltindex.html). */
export const element = (
  name: string,
  attributes: SvgAttributes = {},
  ...children: readonly (SvgElement | string)[]
): SvgElement => ({ name, attributes, children })

/** Elements under common attributes, as fill, stroke or transform. */
export const group = (attributes: SvgAttributes, ...children: readonly SvgElement[]): SvgElement =>
  element('g', attributes, ...children)

/** One line of text from its start at a place; `text-anchor`, `font-weight` and the like as attributes. */
export const text = ([x, y]: Point, content: string, attributes: SvgAttributes = {}): SvgElement =>
  element('text', { x, y, 'font-size': textSizes.label, fill: inks.text, ...attributes }, content)

/** A circle by its centre and radius. */
export const circle = ([cx, cy]: Point, r: number, attributes: SvgAttributes = {}): SvgElement =>
  element('circle', { cx, cy, r, ...attributes })

/** A straight line. */
export const line = ([x1, y1]: Point, [x2, y2]: Point, attributes: SvgAttributes = {}): SvgElement =>
  element('line', { x1, y1, x2, y2, stroke: inks.text, ...attributes })

/** An open path of straight lines; not filled. */
export const polyline = (points: readonly Point[], attributes: SvgAttributes = {}): SvgElement =>
  element('polyline', { points: places(points), fill: 'none', stroke: inks.text, ...attributes })

/** A closed outline. */
export const polygon = (points: readonly Point[], attributes: SvgAttributes = {}): SvgElement =>
  element('polygon', { points: places(points), ...attributes })

/**
 * A whole document on white, in the bundled font.
 *
 * Throws `INVALID_PICTURE` where a number is not finite: it has no place in a picture.
 */
export function drawing(
  { width_px, height_px }: { readonly width_px: number; readonly height_px: number },
  ...children: readonly SvgElement[]
): string {
  return write(
    element(
      'svg',
      {
        xmlns: 'http://www.w3.org/2000/svg',
        width: width_px,
        height: height_px,
        viewBox: `0 0 ${number(width_px)} ${number(height_px)}`,
        'font-family': fontFamily,
      },
      element('rect', { width: width_px, height: height_px, fill: 'white' }),
      ...children,
    ),
  )
}

function write({ name, attributes, children }: SvgElement): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${typeof value === 'number' ? number(value) : escaped(String(value))}"`)
  const inside = children.map((child) => (typeof child === 'string' ? escaped(child) : write(child)))
  return inside.length === 0
    ? `<${name}${written.join('')}/>`
    : `<${name}${written.join('')}>${inside.join('')}</${name}>`
}

const places = (points: readonly Point[]): string =>
  points.map(([x, y]) => `${number(x)},${number(y)}`).join(' ')

function number(value: number): string {
  if (!Number.isFinite(value)) throw invalidPicture(`a place or size in the drawing is ${value}`)
  return String(Math.round(value * 1000) / 1000)
}

/** Characters that XML 1.0 has no way to write (https://www.w3.org/TR/xml/#charsets). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is searched for
const unwritable = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF\p{Surrogate}]/gu

const escaped = (content: string): string =>
  content
    .replace(unwritable, '\uFFFD')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;')
