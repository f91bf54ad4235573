import { useState } from 'preact/hooks'
import type { Diagnosis, Finding } from '../../data/replay.ts'
import { formatFinding } from '../../domain/diagnosis.ts'
import { ForeignText } from '../../ui/foreign-text.tsx'
import './finding-list.css'

const maxShownFindings = 5

export const severityMarks = { error: '◆', warning: '▲', info: '●' } as const

export function FindingList({
  diagnosis,
  chosenFinding,
  open,
}: {
  diagnosis: Diagnosis
  chosenFinding: string | undefined
  open: (finding: Finding) => void
}) {
  const [isExpanded, setExpanded] = useState(false)
  const { findings, count } = diagnosis
  const shownFindings = isExpanded ? findings : findings.slice(0, maxShownFindings)
  return (
    <section class="stack" aria-labelledby="findings-title" style={{ gap: '8px' }}>
      <h2 id="findings-title">Findings {count > 0 && <span class="muted">{count}</span>}</h2>
      {count === 0 && (
        <p>
          <span class="chip ok">● no finding</span> in {diagnosis.frames_checked} frames
        </p>
      )}
      <p class="visually-hidden" role="status">
        {findings.filter(({ id }) => id === chosenFinding).map(formatFinding)}
      </p>
      <ul class="findings">
        {shownFindings.map((finding) => (
          <li key={finding.id}>
            <button
              type="button"
              class="finding"
              aria-pressed={finding.id === chosenFinding}
              onClick={() => open(finding)}
            >
              <span class={`mark-sign ${finding.severity}`}>
                <span aria-hidden="true">{severityMarks[finding.severity]}</span>
                <span class="visually-hidden">{finding.severity}</span>
              </span>
              <span class="wrap">
                <ForeignText text={formatFinding(finding)} max={400} />
              </span>
              <span class="muted number">{formatFrames(finding)}</span>
            </button>
          </li>
        ))}
      </ul>
      {findings.length > shownFindings.length && (
        <div>
          <button type="button" class="button" onClick={() => setExpanded(true)}>
            Show all {findings.length}
          </button>
        </div>
      )}
      <Coverage diagnosis={diagnosis} />
    </section>
  )
}

const formatFrames = ({ frames: { first, last } }: Finding): string =>
  first === last ? `frame ${first}` : `${first}–${last}`

const formatLaws = (laws: readonly string[]): string => laws.join(', ').replaceAll('_', ' ')

function Coverage({ diagnosis }: { diagnosis: Diagnosis }) {
  const { checked = [], not_applicable: notApplicable = [], not_checked: notChecked = [] } = diagnosis
  if (checked.length + notApplicable.length + notChecked.length === 0) return null
  return (
    <details class="coverage">
      <summary>
        {checked.length === 1 ? '1 law' : `${checked.length} laws`} checked
        {notApplicable.length > 0 && `, ${notApplicable.length} did not apply`}
        {notChecked.length > 0 && (
          <>
            {', '}
            <strong>{notChecked.length} not or partly</strong>
          </>
        )}
      </summary>
      {notChecked.length > 0 && (
        <ul class="stack" style={{ gap: '6px' }}>
          {notChecked.map(({ law, frames, missing: data, how_to_record }) => (
            <li key={`${law} ${frames.first}`}>
              <strong>○ {law.replaceAll('_', ' ')}</strong>{' '}
              <span class="muted">
                frames {frames.first}–{frames.last}: no {data.join(', ')}
              </span>
              <br />
              <span class="muted">To check it: {how_to_record}</span>
            </li>
          ))}
        </ul>
      )}
      {checked.length > 0 && <p class="muted">Checked: {formatLaws(checked)}</p>}
      {notApplicable.length > 0 && <p class="muted">Did not apply: {formatLaws(notApplicable)}</p>}
    </details>
  )
}
