import '../../ui/charts/line-plot.css'
import { formatNumber } from '../../domain/text.ts'
import type { ScorePoint } from '../../domain/trm.ts'

const width = 900
const height = 180
const margins = { left: 36, right: 16, top: 16, bottom: 24 }

/** The list of steps contains the same numbers as text. */
export function ScoreChart({ scores, threshold }: { scores: readonly ScorePoint[]; threshold: number }) {
  if (scores.length === 0) return <p class="muted">No step was evaluated yet.</p>
  const last = Math.max(1, ...scores.map(({ index }) => index))
  const x = (index: number): number => margins.left + ((width - margins.left - margins.right) * index) / last
  const y = (score: number): number =>
    height - margins.bottom - (height - margins.top - margins.bottom) * Math.max(0, Math.min(1, score))
  const live = scores.filter(({ isUndone }) => !isUndone)
  const toPoints = (points: readonly (readonly [number, number])[]): string =>
    points.map((point) => point.join(',')).join(' ')
  const bestScore = scores.find(({ isBest }) => isBest)
  return (
    <figure class="card stack">
      <svg
        class="steps-chart"
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`Scores of ${scores.length} evaluations${bestScore === undefined ? '' : `, best ${formatNumber(bestScore.score)} at step ${bestScore.step}`}`}
      >
        {[0, 0.5, 1].map((score) => (
          <g key={score}>
            <line class="axis" x1={margins.left} x2={width - margins.right} y1={y(score)} y2={y(score)} />
            <text x={margins.left - 6} y={y(score) + 4} text-anchor="end">
              {score}
            </text>
          </g>
        ))}
        <line
          class="threshold"
          x1={margins.left}
          x2={width - margins.right}
          y1={y(threshold)}
          y2={y(threshold)}
        />
        <polyline class="line" points={toPoints(live.map(({ index, score }) => [x(index), y(score)]))} />
        <polyline
          class="average"
          points={toPoints(
            live.flatMap(({ index, average }) => (average === null ? [] : [[x(index), y(average)] as const])),
          )}
        />
        {scores.map(({ index, step, score, isBest, isUndone }) => (
          <g key={index}>
            <circle
              class={isBest ? 'best' : isUndone ? 'undone' : 'dot'}
              cx={x(index)}
              cy={y(score)}
              r={isBest ? 7 : 5}
            />
            {scores.length <= 40 && (
              <text x={x(index)} y={height - 6} text-anchor="middle">
                {step}
              </text>
            )}
          </g>
        ))}
      </svg>
      <figcaption class="row">
        <span class="legend">score</span>
        <span class="legend series2">moving average</span>
        <span class="muted">dotted: threshold {threshold} · large: best · hollow: undone</span>
      </figcaption>
    </figure>
  )
}
