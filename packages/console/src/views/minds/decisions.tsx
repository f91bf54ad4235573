import { useRef } from 'preact/hooks'
import { formatAction, formatGameTime, type MindDecision } from '../../domain/minds.ts'
import { useShortcuts } from '../../ui/console.ts'
import { Chip } from '../../ui/state.tsx'

interface DecisionListProps {
  readonly decisions: readonly MindDecision[]
  readonly chosenId: string | undefined
  readonly choose: (requestId: string) => void
}

export function DecisionList({ decisions, chosenId, choose }: DecisionListProps) {
  const shownId = chosenId ?? decisions[0]?.request_id
  return (
    <section class="stack" aria-labelledby="decisions-title">
      <h2 id="decisions-title">Decisions</h2>
      {decisions.length === 0 && <p class="muted">This mind has not decided yet.</p>}
      <DecisionKeys decisions={decisions} shownId={shownId} choose={choose} />
      <div class="entries">
        {decisions.map((decision) => (
          <button
            type="button"
            class="entry"
            key={decision.request_id}
            aria-pressed={decision.request_id === shownId}
            onClick={() => choose(decision.request_id)}
          >
            <span class="muted number">{formatGameTime(decision.current_simulation_time)}</span>
            <bdi class="clip">{formatAction(decision.action)}</bdi>
            <Chip severity={decision.status === 'success' ? 'ok' : 'err'}>{decision.decided_by}</Chip>
          </button>
        ))}
      </div>
    </section>
  )
}

function DecisionKeys({
  decisions,
  shownId,
  choose,
}: {
  decisions: readonly MindDecision[]
  shownId: string | undefined
  choose: (requestId: string) => void
}) {
  const latest = useRef({ decisions, shownId, choose })
  latest.current = { decisions, shownId, choose }
  const move = (by: number): void => {
    const { decisions, shownId, choose } = latest.current
    const next = decisions[decisions.findIndex(({ request_id }) => request_id === shownId) + by]
    if (next !== undefined) choose(next.request_id)
  }
  useShortcuts(() => [
    { keys: '[', label: 'Earlier decision', run: () => move(1) },
    { keys: ']', label: 'Later decision', run: () => move(-1) },
  ])
  return null
}
