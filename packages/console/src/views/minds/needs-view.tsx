import { formatGameTime, listMoods, listNeeds, type MindDecision } from '../../domain/minds.ts'
import { Sparkline } from '../../ui/charts/sparkline.tsx'
import { ForeignText } from '../../ui/foreign-text.tsx'
import './world.css'

const maxNeeds = 20
const maxMoods = 8

/** `decisions` are newest first. */
export function NeedsView({ decisions }: { decisions: readonly MindDecision[] }) {
  const needs = listNeeds(decisions)
  const moods = listMoods(decisions)
  if (needs.length === 0 && moods.length === 0) return null
  return (
    <section class="needs stack" aria-labelledby="needs-title">
      <h2 id="needs-title">Needs and mood</h2>
      <div class="cards">
        {needs.slice(0, maxNeeds).map(({ name, values, times }) => {
          const now = formatPercentage(values.at(-1) ?? 0)
          return (
            <div class="card stack" key={name}>
              <div class="row spread">
                <h3 class="long-line">
                  <ForeignText text={name} max={60} />
                </h3>
                <span class="number">{now}</span>
              </div>
              <Sparkline label={`satisfied to ${now}`} values={values} times={times} max={1} />
              <span class="muted">
                {formatPercentage(Math.min(...values))} to {formatPercentage(Math.max(...values))} since{' '}
                {formatGameTime(times[0] ?? 0)}
              </span>
            </div>
          )
        })}
        {moods.length > 0 && (
          <section class="card stack" aria-label="Mood">
            <h3>Mood</h3>
            <ul class="stack">
              {moods.slice(0, maxMoods).map(({ mood, since }) => (
                <li key={since} class="row spread">
                  <ForeignText text={mood} max={60} />
                  <span class="muted">since {formatGameTime(since)}</span>
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </section>
  )
}

const formatPercentage = (share: number): string => `${Math.round(100 * share)} %`
