import { useState } from 'preact/hooks'
import { formatCount } from '../../domain/text.ts'
import type { TestMatrix, TestOutcome, TrmSession } from '../../domain/trm.ts'
import { useConsole } from '../../ui/console.ts'
import { ForeignText } from '../../ui/foreign-text.tsx'
import { LoadedView, useLoaded } from '../../ui/state.tsx'
import './test-matrix.css'

/** Number of tests that are shown initially. */
const maxShownTests = 20

const outcomeLabels: Readonly<Record<TestOutcome, readonly [symbol: string, word: string]>> = {
  pass: ['✓', 'passed'],
  fail: ['✕', 'failed'],
  skip: ['–', 'skipped'],
  missing: ['∅', 'did not run'],
  unknown: ['?', 'not known'],
}

interface TestMatrixProps {
  readonly session: TrmSession
  readonly chosenStep: number
  readonly choose: (index: number) => void
}

export function TestMatrixView({ session: { sessionId, steps }, chosenStep, choose }: TestMatrixProps) {
  const { server } = useConsole()
  const [isAll, setAll] = useState(false)
  const loaded = useLoaded(
    (signal) =>
      server.get<TestMatrix>(`/api/apps/trm/sessions/${encodeURIComponent(sessionId)}/tests`, { signal }),
    [sessionId],
    { version: steps.filter(({ status }) => status === 'done').length },
  )
  return (
    <section class="stack" aria-labelledby="tests-title">
      <h2 id="tests-title">
        Tests {loaded.value !== undefined && <span class="muted">{formatCount(loaded.value.count)}</span>}
      </h2>
      <LoadedView loaded={loaded}>
        {({ tests, count }) =>
          count === 0 ? (
            <p class="muted">No report of this session names its tests.</p>
          ) : (
            <>
              <div class="card scroll">
                <table class="test-matrix">
                  <caption class="visually-hidden">Tests by evaluation</caption>
                  <thead>
                    <tr>
                      <th scope="col">Test</th>
                      {steps.map((step, index) => (
                        <th key={index} scope="col">
                          <StepButton
                            step={step}
                            isChosen={index === chosenStep}
                            choose={() => choose(index)}
                          />
                        </th>
                      ))}
                    </tr>
                  </thead>
                  <tbody>
                    {tests.slice(0, isAll ? tests.length : maxShownTests).map(({ id, outcomes }) => (
                      <tr key={id}>
                        <th scope="row" class="mono">
                          <ForeignText text={id} max={120} />
                        </th>
                        {steps.map((_, index) => (
                          <OutcomeCell
                            key={index}
                            outcome={outcomes[index] ?? 'unknown'}
                            isChosen={index === chosenStep}
                          />
                        ))}
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
              <div class="row">
                {!isAll && tests.length > maxShownTests && (
                  <button type="button" class="button" onClick={() => setAll(true)}>
                    Show {formatCount(tests.length)} tests
                  </button>
                )}
                <span class="muted" aria-hidden="true">
                  {Object.values(outcomeLabels)
                    .map(([symbol, word]) => `${symbol} ${word}`)
                    .join(' · ')}
                </span>
                {tests.length < count && (
                  <span class="muted">
                    {formatCount(tests.length)} of {formatCount(count)} tests are listed.
                  </span>
                )}
              </div>
            </>
          )
        }
      </LoadedView>
    </section>
  )
}

interface StepButtonProps {
  readonly step: TrmSession['steps'][number]
  readonly isChosen: boolean
  readonly choose: () => void
}

function StepButton({ step: { step, kind, undone }, isChosen, choose }: StepButtonProps) {
  const name = `${kind === 'baseline' ? 'Baseline' : `Step ${step}`}${undone ? ', undone' : ''}`
  return (
    <button
      type="button"
      class={`button ${undone ? 'undone' : ''}`}
      aria-label={name}
      title={name}
      aria-pressed={isChosen}
      onClick={choose}
    >
      {kind === 'baseline' ? name : step}
    </button>
  )
}

function OutcomeCell({ outcome, isChosen }: { outcome: TestOutcome; isChosen: boolean }) {
  const [symbol, word] = outcomeLabels[outcome]
  return (
    <td class={`outcome ${outcome} ${isChosen ? 'chosen' : ''}`} title={word}>
      <span aria-hidden="true">{symbol}</span>
      <span class="visually-hidden">{word}</span>
    </td>
  )
}
