import './sparkline.css'

const width = 240
const height = 48

/** A small chart of values from 0 to the maximum, oldest first. Screen readers read its label. */
export function Sparkline({
  label,
  values,
  times,
  max = Math.max(1e-9, ...values),
  errors = [],
}: {
  label: string
  values: readonly number[]
  /** Times of the values, in any unit; by default with equal intervals. */
  times?: readonly number[]
  max?: number
  errors?: readonly number[]
}) {
  const [first = 0, last = first] = [times?.[0], times?.at(-1)]
  const toFraction = (at: number, count: number): number =>
    times === undefined
      ? at / Math.max(1, count - 1)
      : ((times[at] ?? first) - first) / Math.max(1e-9, last - first)
  const toPoints = (values: readonly number[]): string =>
    values
      .map((value, at) => {
        const x = toFraction(at, values.length) * width
        return `${x.toFixed(1)},${(height - 1 - (value / max) * (height - 4)).toFixed(1)}`
      })
      .join(' ')
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <polygon class="sparkline-area" points={`0,${height} ${toPoints(values)} ${width},${height}`} />
      <polyline class="sparkline-line" points={toPoints(values)} />
      {errors.some((count) => count > 0) && <polyline class="sparkline-errors" points={toPoints(errors)} />}
    </svg>
  )
}
