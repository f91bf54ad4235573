import { formatAction, formatGameTime, type MindCandidate, type MindDecision } from '../../domain/minds.ts'
import { formatMs, formatNumber } from '../../domain/text.ts'
import { ForeignText } from '../../ui/foreign-text.tsx'

export function DecisionView({ decision }: { decision: MindDecision | undefined }) {
  if (decision === undefined) return null
  const { action, explanation, current_simulation_time, decided_by } = decision
  const { because, fallback_reason, candidates = [], queries = [], recalled = [], per_step_ms } = explanation
  return (
    <section class="card stack" aria-labelledby="decision-title">
      <div class="row spread">
        <h2 id="decision-title" class="long-line">
          <bdi>{formatAction(action)}</bdi>
        </h2>
        <span class="muted">
          {formatGameTime(current_simulation_time)} · {decided_by === 'llm' ? 'language model' : decided_by}
        </span>
      </div>
      {because !== undefined && (
        <p class="long-line">
          Because: <bdi>{because.slice(0, 1000)}</bdi>
        </p>
      )}
      {fallback_reason !== undefined && (
        <div class="notice warn">
          <bdi>{fallback_reason}</bdi>
        </div>
      )}
      {candidates.length > 0 && <Candidates candidates={candidates} />}
      {queries.length > 0 && (
        <p class="long-line">
          Asked its memory for: <ForeignText text={queries.join(' · ')} max={600} />
        </p>
      )}
      {recalled.length > 0 && (
        <div class="stack">
          <h3>Recalled memories</h3>
          {recalled.map(({ id, content, score, terms = {} }) => (
            <div class="excerpt" key={id}>
              <span class="long-line">
                <bdi>{content.slice(0, 1000)}</bdi>
              </span>
              <span class="muted">
                {[['score', score] as const, ...Object.entries(terms)]
                  .map(([name, value]) => `${name} ${formatNumber(value)}`)
                  .join(', ')}
              </span>
            </div>
          ))}
        </div>
      )}
      {per_step_ms !== undefined && (
        <p class="muted">
          {Object.entries(per_step_ms)
            .map(([step, ms]) => `${step.replaceAll('_', ' ')} ${formatMs(ms)} ms`)
            .join(', ')}
        </p>
      )}
      <p class="muted mono long-line">{decision.request_id.slice(0, 256)}</p>
    </section>
  )
}

function Candidates({ candidates }: { candidates: readonly MindCandidate[] }) {
  const maxScore = Math.max(1e-9, ...candidates.map(({ score }) => Math.abs(score)))
  return (
    <table>
      <caption class="visually-hidden">Candidates with the terms of their scores</caption>
      <thead>
        <tr>
          <th>Candidate</th>
          <th class="number">Score</th>
          <th style={{ width: '90px' }}>
            <span class="visually-hidden">Score as a bar</span>
          </th>
          <th>Terms</th>
        </tr>
      </thead>
      <tbody>
        {candidates.map(({ action, score, terms }, index) => (
          <tr key={index}>
            <td class="long-line">
              <bdi>{formatAction(action)}</bdi>
            </td>
            <td class="number">{formatNumber(score)}</td>
            <td>
              <svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                <rect class="track" width="100" height="8" rx="3" />
                <rect
                  class={score < 0 ? 'negative' : 'value'}
                  width={(100 * Math.abs(score)) / maxScore}
                  height="8"
                  rx="3"
                />
              </svg>
            </td>
            <td class="muted">
              {Object.entries(terms)
                .map(([name, value]) => `${name} ${formatNumber(value)}`)
                .join(', ')}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
