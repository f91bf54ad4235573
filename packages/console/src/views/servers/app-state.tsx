import type { AppState } from '../../data/types.ts'
import { ForeignText } from '../../ui/foreign-text.tsx'
import { Chip, type Severity, toSeverity } from '../../ui/state.tsx'
import { describeState } from './server-state.ts'

/** Returns a warning for a server that is idle after an error. */
export function describeApp({ status, state, last_error }: AppState): { severity: Severity; word: string } {
  if (state === undefined) return { severity: toSeverity(status), word: status }
  return state === 'idle' && last_error !== undefined
    ? { severity: 'warn', word: 'failed' }
    : describeState(state)
}

export const AppChip = ({ state }: { state: AppState }) => {
  const { severity, word } = describeApp(state)
  return <Chip severity={severity}>{word}</Chip>
}

export const AppError = ({ state: { reason, message, remedy, last_error } }: { state: AppState }) => {
  const code = reason ?? last_error?.code
  if (code === undefined) return null
  return (
    <>
      <code>{code}</code> <ForeignText text={message ?? last_error?.message ?? ''} max={500} />
      {remedy !== undefined && <div class="muted">{remedy}</div>}
    </>
  )
}
