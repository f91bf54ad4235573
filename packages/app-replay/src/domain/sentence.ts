/** Words for summaries: numbers that a reader takes in at a glance, and countable nouns. */
import type { BodyId, Value, Vector } from '@causeway/recording'

/** Four significant digits; very large and very small ones with an exponent, `1.234e195`. */
export function readable(value: Value): string {
  if (value === null || Number.isNaN(value)) return 'unknown'
  if (!Number.isFinite(value)) return value > 0 ? 'infinite' : '-infinite'
  const size = Math.abs(value)
  if (size !== 0 && (size >= 1e6 || size < 1e-3)) return trimmed(value.toExponential(3)).replace('e+', 'e')
  return trimmed(size >= 1000 ? String(Math.round(value * 10) / 10) : value.toPrecision(4))
}

const trimmed = (text: string): string => text.replace(/(\.\d*?)0+(?=e|$)/, '$1').replace(/\.(?=e|$)/, '')

/** `readable` with its unit. */
export const quantity = (value: Value, unit: string): string =>
  value === null ? 'unknown' : `${readable(value)} ${unit}`

/** `1 contact`, `2 contacts`; irregular plurals are given. */
export const count = (n: number, noun: string, plural = `${noun}s`): string =>
  `${n} ${n === 1 ? noun : plural}`

/** `bodies 2 and 2147483649` */
export const pairName = (a: BodyId, b: BodyId): string => `bodies ${a} and ${b}`

/** A list of ids, cut after the first few: `3, 4, 5 and 7 more`. */
export function several(ids: readonly number[], shown = 5): string {
  const rest = ids.length - shown
  return rest > 0 ? `${ids.slice(0, shown).join(', ')} and ${rest} more` : ids.join(', ')
}

/** The axis along which most of a vector lies, ` (0.002 m in X)`; empty where it has no main axis. */
export function mainAxis({ x, y, z }: Vector, unit: string): string {
  if (x === null || y === null || z === null) return ''
  const length = Math.hypot(x, y, z)
  const axes = [
    ['X', x],
    ['Y', y],
    ['Z', z],
  ] as const
  const main = axes.find(([, part]) => length > 0 && Math.abs(part) > 0.9 * length)
  return main === undefined ? '' : ` (${quantity(main[1], unit)} in ${main[0]})`
}
