import type { Value, Vector } from '@causeway/recording'

/** Rounds a derived number to six significant digits. */
export const roundDerived = <T extends Value>(value: T): T =>
  (value === null ? null : Number(value.toPrecision(6))) as T

/** Formats four to six significant digits. Very large and small numbers have an exponent: `1.234e195`. */
export function formatNumber(value: Value): string {
  if (value === null || Number.isNaN(value)) return 'unknown'
  if (!Number.isFinite(value)) return value > 0 ? 'infinite' : '-infinite'
  const size = Math.abs(value)
  if (size !== 0 && (size >= 1e6 || size < 1e-3)) return trimZeros(value.toExponential(3)).replace('e+', 'e')
  return trimZeros(size >= 1000 ? String(roundDerived(Math.round(value * 10) / 10)) : value.toPrecision(4))
}

const trimZeros = (text: string): string => text.replace(/(\.\d*?)0+(?=e|$)/, '$1').replace(/\.(?=e|$)/, '')

/** `e` is the coefficient of restitution. */
const ratioUnits = ['', '1', 'e']

/** Omits the unit of ratios. */
export const formatQuantity = (value: Value, unit: string): string =>
  value === null || !Number.isFinite(value) || ratioUnits.includes(unit)
    ? formatNumber(value)
    : `${formatNumber(value)} ${unit}`

export const capitalize = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

export const toSentence = (clause: string): string => `${capitalize(clause)}.`

export const formatCount = (n: number, noun: string, plural = `${noun}s`): string =>
  `${n} ${n === 1 ? noun : plural}`

export const formatFrames = (first: number, last: number): string =>
  first === last ? `frame ${first}` : `frames ${first} to ${last}`

/** Returns text such as `3, 4, 5 and 7 more`. */
export function formatList(ids: readonly number[], maxShown = 5): string {
  const moreCount = ids.length - maxShown
  return moreCount > 0 ? `${ids.slice(0, maxShown).join(', ')} and ${moreCount} more` : ids.join(', ')
}

/** Returns the axis with over 90 % of a vector's length, such as ` (0.002 m in X)`; otherwise ''. */
export function formatMainAxis({ x, y, z }: Vector, unit: string): string {
  if (x === null || y === null || z === null) return ''
  const length = Math.hypot(x, y, z)
  const axes = [
    ['X', x],
    ['Y', y],
    ['Z', z],
  ] as const
  const mainAxis = axes.find(([, part]) => length > 0 && Math.abs(part) > 0.9 * length)
  return mainAxis === undefined ? '' : ` (${formatQuantity(mainAxis[1], unit)} in ${mainAxis[0]})`
}
