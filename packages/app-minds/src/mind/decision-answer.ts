/** What `decide_action` answers: the members of the original, and beside them who decided and what it took. */
import type { Action } from '../domain/action.ts'
import { type Telemetry, telemetryOf } from '../llm/telemetry.ts'
import type { Deliberated } from './deliberate.ts'
import type { Step } from './selector.ts'

/** A decision as it is answered. Members that say nothing are absent. */
export interface DecisionAnswer {
  readonly status: 'success'
  readonly action: Action
  readonly error_message: null
  readonly request_id: string
  readonly protocol_version: 1
  readonly decided_by: 'llm' | 'policy'
  readonly degraded?: true
  readonly fallback_reason?: string
  readonly gated?: true
  readonly replayed?: boolean
  readonly warnings?: readonly string[]
  readonly telemetry: Telemetry
  readonly explanation?: unknown
}

/** Makes the answer. */
export function successAnswer({
  requestId,
  action,
  deliberated,
  warnings,
  perStep,
  serverMs,
  queueMs,
}: {
  readonly requestId: string
  readonly action: Action
  readonly deliberated: Deliberated
  readonly warnings: readonly string[]
  readonly perStep: ReadonlyMap<Step, number>
  readonly serverMs: number
  readonly queueMs: number
}): DecisionAnswer {
  const { choice, calls, fallbackReason, isGated } = deliberated
  return {
    status: 'success',
    action,
    error_message: null,
    request_id: requestId,
    protocol_version: 1,
    decided_by: choice.decided_by,
    ...(fallbackReason === undefined ? {} : { degraded: true, fallback_reason: fallbackReason }),
    ...(isGated === true ? { gated: true } : {}),
    ...(warnings.length === 0 ? {} : { warnings }),
    telemetry: telemetryOf(calls, choice.model, { perStep, serverMs, queueMs }),
  }
}
