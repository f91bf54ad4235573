import { isCausewayError } from '@causeway/protocol'
import type { Action } from '../domain/action.ts'
import { createSafeAction, validateAction } from '../domain/gate.ts'
import type { WordRelations } from '../domain/word-relations.ts'
import { MindsError } from '../errors.ts'
import { summarizeCalls } from '../llm/telemetry.ts'
import { getWeights, recall } from '../memory/recall.ts'
import { sha256 } from '../store/hash.ts'
import type { MindRow, MindSnapshot } from '../store/types.ts'
import { readEvents } from '../wire/read-messages.ts'
import { type ParsedObservation, readObservation } from '../wire/read-observation.ts'
import { commitDecision, type DecisionResult } from './commit-decision.ts'
import { chooseAction, type Deliberation } from './deliberate.ts'
import { type Cycle, prepareCycle } from './prepare.ts'
import { type SelectorContext, type Step, steps } from './selector.ts'
import type { MindServices } from './services.ts'

export interface DecideRequest {
  readonly mind_id: string
  readonly observation: unknown
  readonly events: unknown
  readonly request_id: string
  /** Whether the caller gave the request id. If not, the call joins a running call with the same observation. */
  readonly hasRequestId: boolean
  readonly explain: boolean
  readonly progress: (doneSteps: number, total?: number, message?: string) => void
}

interface Attempt {
  readonly request: DecideRequest
  readonly parsed: ParsedObservation
  readonly hash: string
  readonly waitedMs: number
  readonly startedMs: number
}

/** Decides actions. Completes and stores a decision even if its caller disconnects. */
export class Decider {
  readonly #services: MindServices
  readonly #onFull: (mindId: string) => void
  /** Running decisions without a given request id. */
  readonly #running = new Map<string, Promise<DecisionResult>>()

  /** `onFull` is called for a mind with too many daily memories. */
  constructor(services: MindServices, onFull: (mindId: string) => void) {
    this.#services = services
    this.#onFull = onFull
  }

  async decide(request: DecideRequest): Promise<DecisionResult> {
    const parsed = readObservation(request.observation, this.#services.limits)
    const hash = sha256(JSON.stringify([request.observation, request.events ?? null]))
    const key = `${request.mind_id}|${hash}`
    const runningDecision = request.hasRequestId ? undefined : this.#running.get(key)
    if (runningDecision !== undefined) return { ...(await runningDecision), replayed: true }
    const decision = this.#enqueue(request, parsed, key)
    if (!request.hasRequestId) this.#running.set(key, decision)
    try {
      return await decision
    } finally {
      if (this.#running.get(key) === decision) this.#running.delete(key)
    }
  }

  #enqueue(request: DecideRequest, parsed: ParsedObservation, hash: string): Promise<DecisionResult> {
    const { file, queue, now } = this.#services
    const { mind_id, request_id } = request
    const interactions = parsed.observation.conversations.map(({ interaction_id }) => interaction_id)
    return queue.run(mind_id, this.#maxWaiting(mind_id), async (waitedMs) => {
      const attempt = { request, parsed, hash, waitedMs, startedMs: now() }
      const decideOnce = async (): Promise<DecisionResult> => {
        const start = await file.read((tables) => {
          const repeatableRequest = { mind_id, request_id, tool: 'decide_action' }
          const storedResult = tables.records.findAnswer<DecisionResult>(repeatableRequest)
          if (storedResult !== undefined) return { storedResult }
          return { snapshot: tables.world.createSnapshot(tables.minds.get(mind_id), interactions) }
        })
        return start.storedResult ?? this.#run(attempt, start.snapshot)
      }
      return decideOnce().catch((error: unknown) => {
        // The mind changed during the decision. Repeats the decision once.
        if (isCausewayError(error) && error.data.conflict === true) return decideOnce()
        throw error
      })
    })
  }

  async #maxWaiting(mindId: string): Promise<number> {
    const { file, models, limits } = this.#services
    if (!models.isConfigured) return limits.queue
    const { config } = await file.read(({ minds }) => minds.get(mindId))
    return models.canDecide(config) ? limits.model_queue : limits.queue
  }

  async #run(attempt: Attempt, snapshot: MindSnapshot): Promise<DecisionResult> {
    const { file, limits, log } = this.#services
    const { request, hash } = attempt
    const { observation, warnings: parseWarnings, unknownFields } = attempt.parsed
    const { mind } = snapshot
    requireSameEntity(mind, observation.entity_id)
    const events = readEvents(request.events, observation.time, limits)
    const cycle = prepareCycle(snapshot, { observation, events, limits })
    const perStep = new Map<Step, number>(steps.map((step) => [step, 0]))
    const relations = await this.#services.relations.get()
    const context = this.#makeContext(cycle, relations, { request, perStep })
    const deliberation = await chooseAction(context, this.#services)
    const { choice } = deliberation
    const newUnknownFields = unknownFields.filter((name) => !mind.state.warned.includes(name))
    const warnings = [
      ...cycle.warnings,
      ...parseWarnings,
      ...(newUnknownFields.length === 0 ? [] : [`unknown and ignored: ${newUnknownFields.join(', ')}`]),
      ...choice.warnings,
    ]
    const action = this.#validate(choice.action, cycle)
    const result = this.#makeResult(attempt, { action, deliberation, warnings, perStep })
    const decision = {
      snapshot,
      cycle,
      deliberation,
      action,
      result,
      perStep,
      newUnknownFields,
      hash,
    }
    const newMemoryCount = await file.write((tables) => commitDecision(tables, decision, limits))
    this.#services.markChanged(mind.mind_id)
    const { mind_id, entity_id } = mind
    const { decided_by } = choice
    log.info({ mind_id, entity_id, action: action.action, decided_by, sim_time: observation.time }, 'decided')
    if (mind.daily_count + newMemoryCount > limits.daily_memories) this.#onFull(mind_id)
    if (deliberation.error !== undefined) throw deliberation.error
    return request.explain ? { ...result, explanation: choice.explanation } : result
  }

  #makeContext(
    cycle: Cycle,
    relations: WordRelations,
    { request, perStep }: { readonly request: DecideRequest; readonly perStep: Map<Step, number> },
  ): SelectorContext {
    const { now } = this.#services
    const { mind, observation } = cycle
    const options = {
      now: observation.time,
      weights: getWeights(mind),
      includesToday: mind.config.recall_daily,
    }
    let doneSteps = 0
    return {
      cycle,
      relations,
      recall: (queries) => recall(mind, queries, options, this.#services),
      async step(name, work) {
        const startMs = now()
        try {
          return await work()
        } finally {
          perStep.set(name, (perStep.get(name) ?? 0) + now() - startMs)
          request.progress(++doneSteps, steps.length, name)
        }
      },
    }
  }

  #validate(action: Action, { mind, situation }: Cycle): Action {
    const validation = validateAction(action, situation)
    if ('action' in validation) return validation.action
    const { problems } = validation
    this.#services.log.error({ mind_id: mind.mind_id, problems }, 'the selector chose an illegal action')
    return createSafeAction(situation)
  }

  #makeResult(
    { request, waitedMs, startedMs }: Attempt,
    {
      action,
      deliberation,
      warnings,
      perStep,
    }: {
      readonly action: Action
      readonly deliberation: Deliberation
      readonly warnings: readonly string[]
      readonly perStep: ReadonlyMap<Step, number>
    },
  ): DecisionResult {
    const { choice, fallbackReason, isGated } = deliberation
    const serverMs = this.#services.now() - startedMs
    return {
      status: 'success',
      action,
      error_message: null,
      request_id: request.request_id,
      protocol_version: 1,
      decided_by: choice.decided_by,
      ...(fallbackReason === undefined ? {} : { degraded: true, fallback_reason: fallbackReason }),
      ...(isGated === true ? { gated: true } : {}),
      ...(warnings.length === 0 ? {} : { warnings }),
      telemetry: summarizeCalls(choice.calls, choice.model, { perStep, serverMs, queueMs: waitedMs }),
    }
  }
}

function requireSameEntity(mind: MindRow, entityId: string): void {
  if (mind.entity_id === entityId) return
  throw new MindsError(
    'ENTITY_MISMATCH',
    `Mind ${mind.mind_id} drives ${mind.entity_id}, but the observation is from ${entityId}`,
    { data: { mind_id: mind.mind_id, entity_id: mind.entity_id, observed: entityId } },
  )
}
