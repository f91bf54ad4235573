/** `auto` selects `log` if the values diverge. */
export type ScaleOption = 'auto' | 'linear' | 'log'

export interface ValueAxis {
  readonly type: 'linear' | 'log' | 'symlog'
  readonly domain: readonly [number, number]
  /** The symlog scale is linear below this value. */
  readonly constant?: number
  /** Null for Vega's default ticks. */
  readonly ticks: readonly number[] | null
  /** Vega expression, or null for Vega's default labels. */
  readonly labelExpr: string | null
  readonly widestLabel: string
}

/** Minimum peak of a diverging run, in SI units. Noise at rest must not cause a log scale. */
const minDivergingPeak = 1e6

/** Ratio of peak to small values at which the small values become invisible. */
const minFlatteningRatio = 1e5

const maxRoundingError = 1e-9

/** Minimum margin around a constant, because 5 % of the smallest floats is 0. */
const minMargin = 1e-300

/**
 * `log` becomes symlog if a value is zero or negative, and so does `linear` if the range exceeds float64. Values must
 * be finite.
 */
export function createValueAxis(values: readonly number[], scale: ScaleOption): ValueAxis {
  if (values.length === 0) return createLinearAxis(0, 1)
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (const value of values) {
    if (value < min) min = value
    if (value > max) max = value
  }
  const magnitudes = values
    .map(Math.abs)
    .filter((magnitude) => magnitude > 0)
    .sort((a, b) => a - b)
  const maxMagnitude = magnitudes.at(-1) ?? 0
  const smallMagnitude = computeQuantile(magnitudes, 0.1) ?? 1
  const isFlattened = maxMagnitude >= minDivergingPeak && maxMagnitude / smallMagnitude >= minFlatteningRatio
  const isLog = scale === 'log' || (scale === 'auto' && isFlattened) || !Number.isFinite(max - min)
  if (!isLog || isConstant(min, max)) return createLinearAxis(min, max)
  return min > 0 ? createLogAxis(min, max) : createSymlogAxis(min, max, smallMagnitude)
}

const isConstant = (min: number, max: number): boolean =>
  max - min <= Math.max(Math.abs(min), Math.abs(max)) * maxRoundingError

function createLinearAxis(min: number, max: number): ValueAxis {
  const maxMagnitude = Math.max(Math.abs(min), Math.abs(max))
  const margin = maxMagnitude === 0 ? 1 : Math.max(maxMagnitude * 0.05, minMargin)
  const domain = isConstant(min, max)
    ? ([Math.max(min - margin, -Number.MAX_VALUE), Math.min(max + margin, Number.MAX_VALUE)] as const)
    : ([min, max] as const)
  const step = (domain[1] - domain[0]) / 6
  // Digits that distinguish adjacent ticks.
  const digits = Math.min(Math.max(Math.ceil(Math.log10(maxMagnitude / step) + 0.3), 1), 15)
  const exponent = Math.floor(Math.log10(maxMagnitude))
  const isFixedNotation = maxMagnitude === 0 || (exponent >= -3 && exponent < Math.max(6, digits))
  const decimals = Math.min(Math.max(0, -Math.floor(Math.log10(step))), 20)
  const label = isFixedNotation
    ? maxMagnitude.toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
    : maxMagnitude.toExponential(digits)
  return {
    type: 'linear',
    domain,
    ticks: null,
    labelExpr: isFixedNotation ? null : formatPowers(digits),
    widestLabel: min < 0 ? `−${label}` : label,
  }
}

function createLogAxis(min: number, max: number): ValueAxis {
  const first = Math.floor(Math.log10(min))
  const last = Math.ceil(Math.log10(max))
  const widestLabel = '100,000'
  // Below two decades, Vega's default ticks are better.
  if (last - first < 2) {
    return { type: 'log', domain: [min, max], ticks: null, labelExpr: magnitudeLabelExpr, widestLabel }
  }
  const step = Math.ceil((last - first) / 7)
  const stepCount = Math.ceil((last - first) / step)
  const ticks = Array.from({ length: stepCount + 1 }, (_, index) => getPower(first + index * step))
  const domain = [getPower(first), getPower(first + stepCount * step)] as const
  return { type: 'log', domain, ticks, labelExpr: magnitudeLabelExpr, widestLabel }
}

function createSymlogAxis(min: number, max: number, linearThreshold: number): ValueAxis {
  const last = Math.ceil(Math.log10(Math.max(-min, max)))
  // Vega divides by the constant, and the quotient must be a float64.
  const first = Math.max(Math.floor(Math.log10(linearThreshold)), last - 300)
  // Labels of lower ticks would overlap the label of zero.
  const isTwoSided = min < 0 && max > 0
  const ticks = listDecades(first + Math.ceil((last - first) / 10), last, isTwoSided ? 3 : 6)
  const limit = getPower(last)
  return {
    type: 'symlog',
    domain: [min < 0 ? -limit : 0, max > 0 ? limit : 0],
    constant: getPower(first),
    ticks: [...(min < 0 ? ticks.map((tick) => -tick).reverse() : []), 0, ...(max > 0 ? ticks : [])],
    labelExpr: magnitudeLabelExpr,
    widestLabel: '−100,000',
  }
}

function listDecades(first: number, last: number, maxCount: number): number[] {
  const step = Math.max(1, Math.ceil((last - first + 1) / maxCount))
  const exponents: number[] = []
  for (let exponent = last; exponent >= first; exponent -= step) exponents.unshift(exponent)
  return exponents.map(getPower)
}

/** Returns a finite, non-zero power of ten, exact like a literal (`10 ** 23` is not 1e23). */
const getPower = (exponent: number): number =>
  Math.min(Math.max(Number(`1e${exponent}`), Number.MIN_VALUE), Number.MAX_VALUE)

const computeQuantile = (sorted: readonly number[], fraction: number): number | undefined =>
  sorted[Math.floor((sorted.length - 1) * fraction)]

/** Omits plus signs, because the axis is narrow. */
const formatPowers = (digits: number): string =>
  `datum.value === 0 ? '0' : replace(format(datum.value, '.${digits}~e'), 'e+', 'e')`

const magnitudeLabelExpr = `abs(datum.value) >= 1e6 || abs(datum.value) < 1e-3 ? ${formatPowers(2)} : format(datum.value, ',.3~r')`
