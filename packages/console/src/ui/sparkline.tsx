import './sparkline.css'

const width = 240
const height = 48

/** A small chart of values in equal intervals, oldest first, from 0 to the maximum. Its label is read instead. */
export function Sparkline({
  label,
  values,
  errors = [],
}: {
  label: string
  values: readonly number[]
  /** A part of the values, drawn over them. */
  errors?: readonly number[]
}) {
  const max = Math.max(1e-9, ...values)
  const toPoints = (shown: readonly number[]): string =>
    shown
      .map((value, at) => {
        const x = (at / Math.max(1, shown.length - 1)) * width
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
