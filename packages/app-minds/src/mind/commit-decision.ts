import type { Action } from '../domain/action.ts'
import type { Memory, MemoryDraft } from '../domain/memory.ts'
import { truncateMemory } from '../domain/model/outputs.ts'
import { computeNeedShares } from '../domain/policy/perceive.ts'
import { type MindState, toGameDay } from '../domain/policy/state.ts'
import { MindsError } from '../errors.ts'
import type { Limits } from '../limits.ts'
import type { summarizeCalls } from '../llm/telemetry.ts'
import { createMemoryId } from '../store/hash.ts'
import type { Tables } from '../store/minds-file.ts'
import type { DecisionRow, MindSnapshot } from '../store/types.ts'
import type { Deliberation } from './deliberate.ts'
import type { Cycle } from './prepare.ts'
import type { Step } from './selector.ts'

const maxMoodChars = 100

export interface DecisionResult {
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
  readonly telemetry: ReturnType<typeof summarizeCalls>
  readonly explanation?: unknown
}

export interface Decision {
  readonly snapshot: MindSnapshot
  readonly cycle: Cycle
  readonly deliberation: Deliberation
  readonly action: Action
  readonly result: DecisionResult
  readonly perStep: ReadonlyMap<Step, number>
  /** Unknown fields of the observation that were not reported before. */
  readonly newUnknownFields: readonly string[]
  readonly hash: string
}

/**
 * Stores a decision. If the decision failed, stores only perceptions, telemetry and its row. Returns the number of new
 * memories. Throws `STORE_ERROR` with `data.conflict` if the mind changed since it was read.
 */
export function commitDecision(
  { minds, memories, world, records }: Tables,
  decision: Decision,
  limits: Limits,
): number {
  const { snapshot, cycle, deliberation, action, result } = decision
  const { mind, perception, facts } = cycle
  const { seq } = mind
  const { time } = cycle.observation
  const { choice, error } = deliberation
  const hasFailed = error !== undefined
  const nextState = makeNextState(decision)
  const isSaved = hasFailed
    ? minds.saveDecision(mind, time, mind.working_memory, { ...mind.state, warned: nextState.warned })
    : minds.saveDecision(mind, time, choice.working_memory, nextState)
  if (!isSaved)
    throw new MindsError('STORE_ERROR', 'the mind was changed by another request', {
      data: { conflict: true },
    })
  for (const place of perception.changedPlaces) world.putPlace(seq, place)
  if (perception.places.size > limits.places) world.trimPlaces(seq)
  for (const conversation of facts.conversations) world.putConversation(seq, conversation, time)
  for (const id of facts.closedIds) world.closeConversation(seq, id, time)
  if (snapshot.conversations.length + facts.conversations.length > 0) world.closeOldConversations(seq, time)
  world.addEvents(seq, facts.events)
  for (const bid of facts.bids.received) world.putBid(seq, bid)
  const answeredBidIds = hasFailed ? [] : findSettledBids(action, cycle)
  for (const id of [...facts.bids.settledIds, ...answeredBidIds]) world.removeBid(seq, id)
  const newMemories = hasFailed ? [] : makeMemories(cycle, choice.memories, limits)
  for (const memory of newMemories) memories.addDaily(seq, memory)
  if (choice.recalled.length > 0) memories.countRecall(choice.recalled, time)
  const { mind_id } = mind
  const { request_id } = result
  const decisionSeq = records.addDecision(seq, request_id, createDecisionRow(decision))
  records.addCalls(seq, decisionSeq, toGameDay(time), choice.calls)
  // Failed results are not stored, so that a retry decides again.
  if (!hasFailed) records.addAnswer({ mind_id, request_id, tool: 'decide_action' }, result)
  return newMemories.length
}

function createDecisionRow({ cycle, deliberation, action, perStep, hash }: Decision): DecisionRow {
  const { choice, error, fallbackReason } = deliberation
  const { mind, observation } = cycle
  const { working_memory } = error === undefined ? choice : mind
  return {
    ord: mind.decision_count + 1,
    sim_time: observation.time,
    observation_hash: hash,
    selector: choice.decided_by,
    status: error === undefined ? 'success' : 'error',
    error_code: error?.code ?? fallbackReason ?? null,
    action: error === undefined ? action : null,
    explanation: {
      ...choice.explanation,
      observed: {
        needs: computeNeedShares(observation),
        mood: working_memory.emotional_state.slice(0, maxMoodChars),
        position: observation.position,
      },
      per_step_ms: Object.fromEntries(perStep),
    },
  }
}

const makeMemories = (
  { mind }: Cycle,
  drafts: readonly MemoryDraft[],
  { memory_chars }: Limits,
): readonly Memory[] =>
  drafts.map((memory, index) => ({
    ...memory,
    content: truncateMemory(memory.content, memory_chars),
    id: createMemoryId(mind.mind_id, mind.seq, mind.rev, index, memory.content),
  }))

function makeNextState({
  cycle,
  deliberation: { choice, gate },
  action,
  newUnknownFields,
}: Decision): MindState {
  const { observation, perception, mind } = cycle
  const { state } = perception
  return {
    ...state,
    counter: mind.state.counter + 1,
    talks: choice.talks,
    shared: choice.shared ?? state.shared,
    formed: choice.formed,
    warned: [...state.warned, ...newUnknownFields].slice(-100),
    gate: gate ?? state.gate,
    last: {
      action,
      time: observation.time,
      position: observation.position,
      needs: computeNeedShares(observation),
      goal: choice.goal,
    },
  }
}

function findSettledBids({ action, parameters }: Action, { situation }: Cycle): string[] {
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
