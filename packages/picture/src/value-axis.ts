/** How values are laid out along a vertical axis: scale, ticks and their labels, up to the largest float64. */

/** Scale asked for: `auto` turns to `log` where most of the curve would lie flat under a peak. */
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
}

/** A peak this many times over the median makes a curve lie flat. */
const flatteningPeak = 1e5

/** Values that differ by less than this share of their size differ by rounding alone. */
const rounding = 1e-9

/**
 * The axis for finite values. `log` becomes symlog where a value is zero or negative, and so does `linear` where the
 * span exceeds float64. Without values the axis goes from 0 to 1.
 */
export function valueAxis(values: readonly number[], wish: ScaleWish): ValueAxis {
  if (values.length === 0) return { type: 'linear', domain: [0, 1], ticks: null, labelExpr: null }
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
  const isFlattened = (sizes.at(-1) ?? 0) / (quantile(sizes, 0.5) ?? 1) >= flatteningPeak
  const isLog = wish === 'log' || (wish === 'auto' && isFlattened) || !Number.isFinite(greatest - least)
  if (!isLog || sizes.length === 0) return linear(least, greatest)
  return least > 0 ? log(least, greatest) : symlog(least, greatest, quantile(sizes, 0.1) ?? 1)
}

function linear(least: number, greatest: number): ValueAxis {
  const size = Math.max(Math.abs(least), Math.abs(greatest))
  const isConstant = greatest - least <= size * rounding
  const half = size === 0 ? 1 : size * 0.05
  const domain = isConstant ? ([least - half, greatest + half] as const) : ([least, greatest] as const)
  const isPlain = size === 0 || (size < 1e6 && size >= 1e-3)
  const digits = Math.ceil(Math.log10(size / ((domain[1] - domain[0]) / 10)))
  return {
    type: 'linear',
    domain,
    ticks: null,
    labelExpr: isPlain ? null : powers(Math.min(Math.max(digits, 1), 15)),
  }
}

function log(least: number, greatest: number): ValueAxis {
  const first = Math.floor(Math.log10(least))
  const last = Math.ceil(Math.log10(greatest))
  const domain = [least, greatest] as const
  // Less than two decades hold too few powers of ten: the scale finds better ticks.
  if (last - first < 2) return { type: 'log', domain, ticks: null, labelExpr: byMagnitude }
  return {
    type: 'log',
    domain: [power(first), power(last)],
    ticks: decades(first, last, 7),
    labelExpr: byMagnitude,
  }
}

function symlog(least: number, greatest: number, typical: number): ValueAxis {
  const first = Math.floor(Math.log10(typical))
  const last = Math.ceil(Math.log10(Math.max(-least, greatest)))
  const steps = decades(first, last, 5)
  const edge = power(last)
  return {
    type: 'symlog',
    domain: [least < 0 ? -edge : 0, greatest > 0 ? edge : 0],
    constant: Math.max(power(first), Number.MIN_VALUE),
    ticks: [...(least < 0 ? steps.map((step) => -step).reverse() : []), 0, ...(greatest > 0 ? steps : [])],
    labelExpr: byMagnitude,
  }
}

/** At most `limit` powers of ten between two exponents, evenly apart, the last one among them. */
function decades(first: number, last: number, limit: number): number[] {
  const step = Math.max(1, Math.ceil((last - first + 1) / limit))
  const exponents: number[] = []
  for (let exponent = last; exponent >= first; exponent -= step) exponents.unshift(exponent)
  return exponents.map(power)
}

/** Exact as a literal is (`10 ** -3` is not 0.001), and never infinite. */
const power = (exponent: number): number => Math.min(Number(`1e${exponent}`), Number.MAX_VALUE)

const quantile = (sorted: readonly number[], share: number): number | undefined =>
  sorted[Math.floor((sorted.length - 1) * share)]

/** 1.5e168 and not 1.5e+168: the axis is narrow. */
const powers = (digits: number): string =>
  `datum.value === 0 ? '0' : replace(format(datum.value, '.${digits}~e'), 'e+', 'e')`

const byMagnitude = `abs(datum.value) >= 1e6 || abs(datum.value) < 1e-3 ? ${powers(2)} : format(datum.value, ',.3~r')`
