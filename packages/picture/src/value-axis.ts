/** How values are laid out along a vertical axis: scale, ticks and their labels, up to the largest float64. */

/** Scale asked for: `auto` turns to `log` where the run blows up and all before it would lie flat. */
export type ScaleWish = 'auto' | 'linear' | 'log'

/** A vertical axis, in the words of Vega-Lite. */
export interface ValueAxis {
  readonly type: 'linear' | 'log' | 'symlog'
  readonly domain: readonly [number, number]
  /** symlog: below this the scale is linear, in the unit of the values */
  readonly constant?: number
  /** where ticks stand; null leaves it to the scale */
  readonly ticks: readonly number[] | null
  /** Vega expression of a tick's label; null leaves it to the scale */
  readonly labelExpr: string | null
  /** the longest label, or one as long */
  readonly widestLabel: string
}

/** No healthy scene comes so far in SI units; noise of 1e-17 around a body at rest is no reason for a log scale. */
const blowUp = 1e6

/** A peak this many times over the small values makes them lie flat. */
const flattening = 1e5

/** Values that differ by less than this share of their size differ by rounding alone. */
const rounding = 1e-9

/** Room around a constant of the smallest floats, whose twentieth part is nothing. */
const smallestMargin = 1e-300

/**
 * The axis for finite values. `log` becomes symlog where a value is zero or negative, and so does `linear` where the
 * span exceeds float64. Without values the axis goes from 0 to 1.
 */
export function valueAxis(values: readonly number[], wish: ScaleWish): ValueAxis {
  if (values.length === 0) return linear(0, 1)
  let least = Number.POSITIVE_INFINITY
  let greatest = Number.NEGATIVE_INFINITY
  for (const value of values) {
    if (value < least) least = value
    if (value > greatest) greatest = value
  }
  const sizes = values
    .map(Math.abs)
    .filter((size) => size > 0)
    .sort((a, b) => a - b)
  const largest = sizes.at(-1) ?? 0
  const small = quantile(sizes, 0.1) ?? 1
  const isFlattened = largest >= blowUp && largest / small >= flattening
  const isLog = wish === 'log' || (wish === 'auto' && isFlattened) || !Number.isFinite(greatest - least)
  if (!isLog || isConstant(least, greatest)) return linear(least, greatest)
  return least > 0 ? log(least, greatest) : symlog(least, greatest, small)
}

const isConstant = (least: number, greatest: number): boolean =>
  greatest - least <= Math.max(Math.abs(least), Math.abs(greatest)) * rounding

function linear(least: number, greatest: number): ValueAxis {
  const size = Math.max(Math.abs(least), Math.abs(greatest))
  const half = size === 0 ? 1 : Math.max(size * 0.05, smallestMargin)
  const domain = isConstant(least, greatest)
    ? ([Math.max(least - half, -Number.MAX_VALUE), Math.min(greatest + half, Number.MAX_VALUE)] as const)
    : ([least, greatest] as const)
  const step = (domain[1] - domain[0]) / 6
  // What neighbouring ticks need to differ.
  const digits = Math.min(Math.max(Math.ceil(Math.log10(size / step) + 0.3), 1), 15)
  const magnitude = Math.floor(Math.log10(size))
  const isPlain = size === 0 || (magnitude >= -3 && magnitude < Math.max(6, digits))
  const decimals = Math.min(Math.max(0, -Math.floor(Math.log10(step))), 20)
  const label = isPlain
    ? size.toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
    : size.toExponential(digits)
  return {
    type: 'linear',
    domain,
    ticks: null,
    labelExpr: isPlain ? null : powers(digits),
    widestLabel: least < 0 ? `−${label}` : label,
  }
}

function log(least: number, greatest: number): ValueAxis {
  const first = Math.floor(Math.log10(least))
  const last = Math.ceil(Math.log10(greatest))
  const widestLabel = '100,000'
  // Less than two decades hold too few powers of ten: the scale finds better ticks.
  if (last - first < 2) {
    return { type: 'log', domain: [least, greatest], ticks: null, labelExpr: byMagnitude, widestLabel }
  }
  const step = Math.ceil((last - first) / 7)
  const steps = Math.ceil((last - first) / step)
  const ticks = Array.from({ length: steps + 1 }, (_, index) => power(first + index * step))
  const domain = [power(first), power(first + steps * step)] as const
  return { type: 'log', domain, ticks, labelExpr: byMagnitude, widestLabel }
}

function symlog(least: number, greatest: number, typical: number): ValueAxis {
  const last = Math.ceil(Math.log10(Math.max(-least, greatest)))
  // Vega divides by the constant: the quotient must stay a float64.
  const first = Math.max(Math.floor(Math.log10(typical)), last - 300)
  // The lowest decades lie so near to zero that their labels would touch its label.
  const isTwoSided = least < 0 && greatest > 0
  const ticks = decades(first + Math.ceil((last - first) / 10), last, isTwoSided ? 3 : 6)
  const edge = power(last)
  return {
    type: 'symlog',
    domain: [least < 0 ? -edge : 0, greatest > 0 ? edge : 0],
    constant: power(first),
    ticks: [...(least < 0 ? ticks.map((tick) => -tick).reverse() : []), 0, ...(greatest > 0 ? ticks : [])],
    labelExpr: byMagnitude,
    widestLabel: '−100,000',
  }
}

/** At most `limit` powers of ten between two exponents, evenly apart, the last one among them. */
function decades(first: number, last: number, limit: number): number[] {
  const step = Math.max(1, Math.ceil((last - first + 1) / limit))
  const exponents: number[] = []
  for (let exponent = last; exponent >= first; exponent -= step) exponents.unshift(exponent)
  return exponents.map(power)
}

/** Exact as a literal is (`10 ** -3` is not 0.001), never infinite and never zero. */
const power = (exponent: number): number =>
  Math.min(Math.max(Number(`1e${exponent}`), Number.MIN_VALUE), Number.MAX_VALUE)

const quantile = (sorted: readonly number[], share: number): number | undefined =>
  sorted[Math.floor((sorted.length - 1) * share)]

/** 1.5e168 and not 1.5e+168: the axis is narrow. */
const powers = (digits: number): string =>
  `datum.value === 0 ? '0' : replace(format(datum.value, '.${digits}~e'), 'e+', 'e')`

const byMagnitude = `abs(datum.value) >= 1e6 || abs(datum.value) < 1e-3 ? ${powers(2)} : format(datum.value, ',.3~r')`
