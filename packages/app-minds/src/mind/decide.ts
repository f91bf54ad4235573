/** One decision: observe, remember, choose, and store all of it at once. */
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { gate, safeAction } from '../domain/gate.ts'
import { cutMemory } from '../domain/model/outputs.ts'
import { sharesOf } from '../domain/policy/perceive.ts'
import type { CarriedState } from '../domain/policy/state.ts'
import { recall, weightsOf } from '../memory/recall.ts'
import { memoryId, sha256 } from '../store/hash.ts'
import type { MindRow } from '../store/types.ts'
import { readEvents } from '../wire/read-messages.ts'
import { type ReadObservation, readObservation } from '../wire/read-observation.ts'
import { type DecisionAnswer, successAnswer } from './decision-answer.ts'
import { chooseAction, type Deliberated } from './deliberate.ts'
import type { MindParts } from './parts.ts'
import { type Cycle, prepareCycle } from './prepare.ts'
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

/** Makes the method; it finishes and stores a decision also when the caller has gone, for the retry that follows. */
export function decider(parts: MindParts) {
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
  parts: MindParts,
): Promise<DecisionAnswer> {
  const { file, queue, limits, now } = parts
  const { mind_id } = request
  const mind = await file.mind(mind_id)
  const most = parts.models.usableFor(mind.config) ? limits.model_queue : limits.queue
  return queue.run(mind_id, most, async (waitedMs) => {
    const earlier = await file.answered(mind_id, request.request_id, 'decide_action')
    if (earlier !== undefined) return { ...(earlier as DecisionAnswer), replayed: true }
    const started = now()
    const attempt = () => decideOnce(request, read, { hash, waitedMs, started }, parts)
    return attempt().catch((error: unknown) => {
      // Another process on the same file was faster: what it stored is the new beginning.
      if (isCausewayError(error) && error.data.conflict === true) return attempt()
      throw error
    })
  })
}

interface Attempt {
  readonly hash: string
  readonly waitedMs: number
  readonly started: number
}

async function decideOnce(
  request: DecideRequest,
  { observation, warnings: mended, unknown }: ReadObservation,
  { hash, waitedMs, started }: Attempt,
  parts: MindParts,
): Promise<DecisionAnswer> {
  const { file, limits, now, log } = parts
  const interactions = observation.conversations.map(({ interaction_id }) => interaction_id)
  const snapshot = await file.snapshot(request.mind_id, interactions)
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
  const failed = deliberated.error
  const state = stateAfter(cycle, action, deliberated, news)
  await file.commit({
    seq: mind.seq,
    rev: mind.rev,
    time: observation.time,
    working_memory: failed === undefined ? choice.working_memory : mind.working_memory,
    state: failed === undefined ? state : { ...mind.state, warned: state.warned },
    places: cycle.perception.changed,
    knownPlaces: cycle.perception.places.size,
    conversations: cycle.facts.conversations,
    closed: cycle.facts.closed,
    events: cycle.facts.events,
    bids: {
      received: cycle.facts.bids.received,
      settled: [...cycle.facts.bids.settled, ...(failed === undefined ? settledBy(action, cycle) : [])],
    },
    memories:
      failed === undefined
        ? choice.memories.map((memory, index) => ({
            ...memory,
            content: cutMemory(memory.content, limits.memory_chars),
            id: memoryId(mind.mind_id, mind.seq, mind.rev, index, memory.content),
          }))
        : [],
    recalled: choice.recalled,
    decision: {
      sim_time: observation.time,
      observation_hash: hash,
      selector: choice.decided_by,
      status: failed === undefined ? 'success' : 'error',
      error_code: failed?.code ?? deliberated.fallbackReason ?? null,
      action: failed === undefined ? action : null,
      explanation: { ...choice.explanation, per_step_ms: Object.fromEntries(perStep) },
    },
    calls: deliberated.calls,
    request: {
      mind_id: mind.mind_id,
      request_id: request.request_id,
      tool: 'decide_action',
      // A failure is not kept: a retry shall try again.
      answer: failed === undefined ? answer : undefined,
    },
  })
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
  if (failed !== undefined) throw failed
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

function stateAfter(
  { observation, perception, mind }: Cycle,
  action: Deliberated['choice']['action'],
  { choice, gate: seen }: Deliberated,
  news: readonly string[],
): CarriedState {
  const { state } = perception
  return {
    ...state,
    counter: mind.state.counter + 1,
    talks: choice.talks,
    formed: choice.formed,
    warned: [...state.warned, ...news].slice(-100),
    gate: seen ?? state.gate,
    last: {
      action,
      time: observation.time,
      position: observation.position,
      needs: sharesOf(observation),
      goal: choice.goal,
    },
  }
}

/** Bids that an action answers. */
function settledBy({ action, parameters }: Deliberated['choice']['action'], { situation }: Cycle): string[] {
  if (action === 'respond_to_interaction_bid') return [String(parameters.bid_id)]
  if (action !== 'batch_reject_interaction_bids') return []
  const { ids } = parameters
  return situation.bids
    .filter(
      ({ bid_id, bidder_id }) =>
        ids === '*' || (Array.isArray(ids) && (ids.includes(bid_id) || ids.includes(bidder_id))),
    )
    .map(({ bid_id }) => bid_id)
}
