/** One decision: observe, remember, choose, and store all of it at once. */
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { gate, safeAction } from '../domain/gate.ts'
import { recall, weightsOf } from '../memory/recall.ts'
import { sha256 } from '../store/hash.ts'
import type { MindRow, MindSnapshot } from '../store/types.ts'
import { readEvents } from '../wire/read-messages.ts'
import { type ReadObservation, readObservation } from '../wire/read-observation.ts'
import { type DecisionAnswer, successAnswer } from './decision-answer.ts'
import { decisionChange } from './decision-change.ts'
import { chooseAction } from './deliberate.ts'
import type { MindParts } from './parts.ts'
import { prepareCycle } from './prepare.ts'
import { type SelectorContext, type Step, steps } from './selector.ts'

/** What `decide_action` is asked. */
export interface DecideRequest {
  readonly mind_id: string
  readonly observation: unknown
  readonly events: unknown
  readonly request_id: string
  /** False where the caller named no id itself: then an equal observation under way is joined. */
  readonly isNamed: boolean
  readonly explain: boolean
  readonly progress: (done: number, total?: number, message?: string) => void
}

/** What a decision is made with, and who is told of a mind whose day holds more than it should. */
export interface DeciderParts extends MindParts {
  readonly onFull: (mindId: string) => void
}

/** Makes the method; it finishes and stores a decision also when the caller has gone, for the retry that follows. */
export function decider(parts: DeciderParts) {
  /** Decisions under way, by mind and observation. */
  const underway = new Map<string, Promise<DecisionAnswer>>()
  return async (request: DecideRequest): Promise<DecisionAnswer> => {
    const read = readObservation(request.observation, parts.limits)
    const key = `${request.mind_id}|${sha256(JSON.stringify([request.observation, request.events ?? null]))}`
    const same = request.isNamed ? undefined : underway.get(key)
    if (same !== undefined) return { ...(await same), replayed: true }
    const decision = decide(request, read, key, parts)
    if (!request.isNamed) underway.set(key, decision)
    try {
      return await decision
    } finally {
      if (underway.get(key) === decision) underway.delete(key)
    }
  }
}

async function decide(
  request: DecideRequest,
  read: ReadObservation,
  hash: string,
  parts: DeciderParts,
): Promise<DecisionAnswer> {
  const { file, queue, now } = parts
  const { mind_id, request_id } = request
  const interactions = read.observation.conversations.map(({ interaction_id }) => interaction_id)
  return queue.run(mind_id, mostWaiting(mind_id, parts), async (waitedMs) => {
    const started = now()
    const attempt = async (): Promise<DecisionAnswer> => {
      const begun = await file.begin({ mind_id, request_id, tool: 'decide_action' }, interactions)
      if ('earlier' in begun) return { ...(begun.earlier as DecisionAnswer), replayed: true }
      return decideOnce(request, read, begun.snapshot, { hash, waitedMs, started }, parts)
    }
    return attempt().catch((error: unknown) => {
      // Another process on the same file was faster: what it stored is the new beginning.
      if (isCausewayError(error) && error.data.conflict === true) return attempt()
      throw error
    })
  })
}

/** Calls that may wait for a mind: few where a model decides, which takes seconds. */
function mostWaiting(mindId: string, { file, models, limits }: MindParts): number | Promise<number> {
  if (!models.isConfigured) return limits.queue
  return file
    .mind(mindId)
    .then(({ config }) => (models.usableFor(config) ? limits.model_queue : limits.queue))
}

interface Attempt {
  readonly hash: string
  readonly waitedMs: number
  readonly started: number
}

async function decideOnce(
  request: DecideRequest,
  { observation, warnings: mended, unknown }: ReadObservation,
  snapshot: MindSnapshot,
  { hash, waitedMs, started }: Attempt,
  parts: DeciderParts,
): Promise<DecisionAnswer> {
  const { file, limits, now, log, onFull } = parts
  const { mind } = snapshot
  requireOwnBody(mind, observation.entity_id)
  const events = readEvents(request.events, observation.time, limits)
  const cycle = prepareCycle(snapshot, { observation, events, limits })
  let done = 0
  const perStep = new Map<Step, number>(steps.map((step) => [step, 0]))
  const context: SelectorContext = {
    cycle,
    recall: (queries) =>
      recall(
        mind,
        queries,
        { now: observation.time, weights: weightsOf(mind), withToday: mind.config.recall_daily },
        parts,
      ),
    async step(name, work) {
      const since = now()
      try {
        return await work()
      } finally {
        perStep.set(name, (perStep.get(name) ?? 0) + now() - since)
        request.progress(++done, steps.length, name)
      }
    },
  }
  const deliberated = await chooseAction(context, parts)
  const news = unknown.filter((name) => !mind.state.warned.includes(name))
  const warnings = [
    ...cycle.warnings,
    ...mended,
    ...(news.length === 0 ? [] : [`not known and not used: ${news.join(', ')}`]),
    ...deliberated.choice.warnings,
  ]
  const { choice } = deliberated
  const judged = gate(choice.action, cycle.situation)
  if (!('action' in judged))
    log.error(
      { mind_id: mind.mind_id, problems: judged.problems },
      'the selector chose what the gate refuses',
    )
  const action = 'action' in judged ? judged.action : safeAction(cycle.situation)
  const answer = successAnswer({
    requestId: request.request_id,
    action,
    deliberated,
    warnings,
    perStep,
    serverMs: now() - started,
    queueMs: waitedMs,
  })
  const change = decisionChange({
    snapshot,
    cycle,
    deliberated,
    action,
    answer,
    perStep,
    news,
    hash,
    memoryChars: limits.memory_chars,
  })
  await file.commit(change)
  parts.changed(mind.mind_id)
  const { entity_id } = mind
  log.info(
    {
      mind_id: mind.mind_id,
      entity_id,
      action: action.action,
      decided_by: choice.decided_by,
      sim_time: observation.time,
    },
    'decided',
  )
  if (mind.daily_count + change.memories.length > limits.daily_memories) onFull(mind.mind_id)
  if (deliberated.error !== undefined) throw deliberated.error
  return request.explain ? { ...answer, explanation: choice.explanation } : answer
}

/** Throws `ENTITY_MISMATCH` for what another body perceives. */
function requireOwnBody(mind: MindRow, entityId: string): void {
  if (mind.entity_id === entityId) return
  throw new CausewayError(
    'ENTITY_MISMATCH',
    `Mind ${mind.mind_id} drives ${mind.entity_id}, the observation is of ${entityId}`,
    { data: { mind_id: mind.mind_id, entity_id: mind.entity_id, observed: entityId } },
  )
}
