import type { AppState } from '../../data/types.ts'
import { ForeignText } from '../../ui/foreign-text.tsx'
import { Chip, toSeverity } from '../../ui/state.tsx'
import { describeState } from './server-state.ts'

/** The state of an app; of a hosted server, that of its processes. After an error, an idle server is a warning. */
export const AppChip = ({ state: { status, state, last_error } }: { state: AppState }) => {
  const { severity, word } =
    state === undefined ? { severity: toSeverity(status), word: status } : describeState(state)
  const hasFailed = state === 'idle' && last_error !== undefined
  return <Chip severity={hasFailed ? 'warn' : severity}>{hasFailed ? 'failed' : word}</Chip>
}

/** Why an app failed, or the last error of a hosted server. */
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
