import type { CausewayError } from '@causeway/protocol'
import { createSafeAction } from '../domain/gate.ts'
import { computeNeedShare } from '../domain/observation.ts'
import type { MindState } from '../domain/policy/state.ts'
import { MindsError } from '../errors.ts'
import type { Limits } from '../limits.ts'
import { selectByModel } from '../llm/llm-selector.ts'
import type { ModelFailure } from '../llm/model-failure.ts'
import { sha256 } from '../store/hash.ts'
import { selectByPolicy } from './policy-selector.ts'
import type { Cycle } from './prepare.ts'
import type { Choice, SelectorContext } from './selector.ts'
import type { MindServices } from './services.ts'

export interface Deliberation {
  readonly choice: Choice
  /** Why the policy decided instead of the model: an error code, or `budget`. */
  readonly fallbackReason?: string
  /** Whether the policy decided because nothing relevant changed. */
  readonly isGated?: boolean
  /** The error to throw if `on_llm_failure` is `error`. */
  readonly error?: CausewayError
  /** Digest and time to store if the model decided. */
  readonly gate?: MindState['gate']
}

/** Chooses an action by the model, or by the policy if there is no model, nothing changed, or the model fails. */
export async function chooseAction(context: SelectorContext, services: MindServices): Promise<Deliberation> {
  const { mind, observation } = context.cycle
  const model = services.models.find(mind.config, mind.mind_id)
  if (model === undefined) return { choice: await selectByPolicy(context) }
  const digest = computeSalientDigest(context.cycle, services.limits)
  if (mind.config.llm_gate === 'on_change' && !hasSalientChange(mind.state.gate, digest, observation.time))
    return { choice: await selectByPolicy(context), isGated: true }
  if (await services.models.isOverBudget(mind, observation.time))
    return { choice: await selectByPolicy(context), fallbackReason: 'budget' }
  const choice = await selectByModel(context, model, services.limits)
  return 'code' in choice
    ? fallBackToPolicy(context, choice, await selectByPolicy(context), services)
    : { choice, gate: { digest, at: observation.time } }
}

function fallBackToPolicy(
  { cycle }: SelectorContext,
  { code, message, calls, salvaged }: ModelFailure,
  policyChoice: Choice,
  { log }: MindServices,
): Deliberation {
  const { mind, situation } = cycle
  log.warn(
    { mind_id: mind.mind_id, entity_id: mind.entity_id, code },
    `the policy decides instead: ${message}`,
  )
  const choice: Choice = {
    ...policyChoice,
    ...(salvaged.working_memory === undefined ? {} : { working_memory: salvaged.working_memory }),
    memories: [...salvaged.memories, ...policyChoice.memories],
    explanation: { ...policyChoice.explanation, fallback: { code, message } },
    calls,
  }
  const fallback = { choice, fallbackReason: code }
  if (mind.config.on_llm_failure === 'error') return { ...fallback, error: new MindsError(code, message) }
  if (mind.config.on_llm_failure === 'wait')
    return { ...fallback, choice: { ...choice, action: createSafeAction(situation), goal: null } }
  return fallback
}

/** Game minutes after which a model decides even if nothing changed. */
const maxAgeMinutes = 15

function computeSalientDigest(
  { observation, conversations, events, situation }: Cycle,
  { conversation_messages }: Limits,
): string {
  const needBands = observation.needs.map((need) => [need.name, toBand(computeNeedShare(need))])
  const visibleIds = (observation.entities ?? []).map(({ entity_id }) => entity_id).sort()
  // At the maximum number of messages, only the newest message indicates a change.
  const latestMessages = conversations.map(({ interaction_id, messages }) => {
    const { timestamp, speaker_id, message } = messages.at(-1) ?? {}
    return [interaction_id, Math.min(messages.length, conversation_messages), timestamp, speaker_id, message]
  })
  const eventKeys = events.map(({ event_type, timestamp }) => [event_type, timestamp])
  const bidIds = situation.bids.map(({ bid_id }) => bid_id)
  const currentActivity = [observation.current?.name ?? null, situation.isInteracting]
  return sha256(
    JSON.stringify([needBands, visibleIds, latestMessages, eventKeys, bidIds, currentActivity]),
  ).slice(0, 16)
}

/** Whether a relevant change requires a model (`llm_gate: on_change`). */
const hasSalientChange = (previousGate: MindState['gate'], digest: string, time: number): boolean =>
  previousGate === null ||
  previousGate.digest !== digest ||
  time < previousGate.at ||
  time - previousGate.at > maxAgeMinutes

const toBand = (share: number): 'satisfied' | 'declining' | 'critical' =>
  share >= 0.8 ? 'satisfied' : share >= 0.3 ? 'declining' : 'critical'
