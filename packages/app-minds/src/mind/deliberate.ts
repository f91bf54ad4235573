/** Who decides: the model where there is one and it answers, else the policy, and why it was the policy. */
import { CausewayError } from '@causeway/protocol'
import { safeAction } from '../domain/gate.ts'
import type { CarriedState } from '../domain/policy/state.ts'
import { ModelFailure } from '../llm/model-failure.ts'
import { isSalient, salientDigest } from '../llm/salience.ts'
import type { LlmCallRow } from '../store/types.ts'
import type { MindParts } from './parts.ts'
import { policySelector } from './policy-selector.ts'
import type { Choice, SelectorContext } from './selector.ts'

/** A choice, and how it came about. */
export interface Deliberated {
  readonly choice: Choice
  /** Attempts at a model, those of a failure included. */
  readonly calls: readonly LlmCallRow[]
  /** Code of the error, or `budget`, where the policy stands in for a model. */
  readonly fallbackReason?: string
  /** The policy decided because nothing worth a model's while has changed. */
  readonly isGated?: boolean
  /** What the caller is told instead, for minds that want it so. */
  readonly error?: CausewayError
  /** What the gate saw when a model last decided. */
  readonly gate?: CarriedState['gate']
}

/** Chooses an action. Throws `LLM_NOT_CONFIGURED` for a mind that insists on a model where there is none. */
export async function chooseAction(context: SelectorContext, parts: MindParts): Promise<Deliberated> {
  const { mind, observation } = context.cycle
  const policy = policySelector()
  const model = parts.models.selectorFor(mind.config, mind.mind_id)
  if (model === undefined) return { choice: await policy.select(context), calls: [] }
  const digest = salientDigest(context.cycle)
  if (mind.config.llm_gate === 'on_change' && !isSalient(mind.state.gate, digest, observation.time))
    return { choice: await policy.select(context), calls: [], isGated: true }
  if (await parts.models.isOverBudget(mind, observation.time))
    return { choice: await policy.select(context), calls: [], fallbackReason: 'budget' }
  try {
    const choice = await model.select(context)
    return { choice, calls: choice.calls, gate: { digest, at: observation.time } }
  } catch (failure) {
    if (!(failure instanceof ModelFailure)) throw failure
    return standIn(context, failure, await policy.select(context), parts)
  }
}

/** The policy in the place of a model that failed. What the model said well before it failed is kept. */
function standIn(
  { cycle }: SelectorContext,
  { code, message, calls, salvaged }: ModelFailure,
  policy: Choice,
  { log }: MindParts,
): Deliberated {
  const { mind, situation } = cycle
  log.warn({ mind_id: mind.mind_id, entity_id: mind.entity_id, code }, `the policy stands in: ${message}`)
  const choice: Choice = {
    ...policy,
    ...(salvaged.working_memory === undefined ? {} : { working_memory: salvaged.working_memory }),
    memories: [...salvaged.memories, ...policy.memories],
    explanation: { ...policy.explanation, fallback: { code, message } },
  }
  const degraded = { choice, calls, fallbackReason: code }
  if (mind.config.on_llm_failure === 'error') return { ...degraded, error: new CausewayError(code, message) }
  if (mind.config.on_llm_failure === 'wait')
    return { ...degraded, choice: { ...choice, action: safeAction(situation), goal: null } }
  return degraded
}
