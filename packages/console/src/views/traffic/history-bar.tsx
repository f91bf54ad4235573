import type { CallHistory } from '../../data/call-history.ts'
import { ErrorNotice } from '../../ui/state.tsx'

interface HistoryBarProps {
  readonly history: CallHistory
  readonly load: () => void
}

export function HistoryBar({ history, load }: HistoryBarProps) {
  const { value: error } = history.error
  if (error !== undefined) return <ErrorNotice error={error} retry={load} />
  if (history.state.value === 'complete') return <p class="muted">The audit has no older calls to show.</p>
  if (history.state.value === 'loading')
    return (
      <p class="muted" role="status" data-loading>
        Searching the audit…
      </p>
    )
  return (
    <div class="row">
      <button type="button" class="button" onClick={load}>
        Load older calls
      </button>
    </div>
  )
}
