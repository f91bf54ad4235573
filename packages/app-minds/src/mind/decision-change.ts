import type { Action } from '../domain/action.ts'
import type { Memory } from '../domain/memory.ts'
import { truncateMemory } from '../domain/model/outputs.ts'
import { needShares } from '../domain/policy/perceive.ts'
import type { MindState } from '../domain/policy/state.ts'
import type { Telemetry } from '../llm/telemetry.ts'
import { memoryId } from '../store/hash.ts'
import type { DecisionChange, MindSnapshot } from '../store/types.ts'
import type { Deliberation } from './deliberate.ts'
import type { Cycle } from './prepare.ts'
import type { Step } from './selector.ts'

/** Maximum stored characters of a mood. */
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
  readonly telemetry: Telemetry
  readonly explanation?: unknown
}

export interface Decision {
  readonly snapshot: MindSnapshot
  readonly cycle: Cycle
  readonly deliberation: Deliberation
  readonly action: Action
  readonly result: DecisionResult
  readonly perStep: ReadonlyMap<Step, number>
  /** Unknown fields of the observation without an earlier warning. */
  readonly newUnknown: readonly string[]
  readonly hash: string
  readonly maxMemoryChars: number
}

/** A failed decision stores only perceptions and its own row. */
export function decisionChange(decision: Decision): DecisionChange {
  const { snapshot, cycle, deliberation, action, result, perStep, hash } = decision
  const { mind, observation, perception, facts } = cycle
  const { choice, error } = deliberation
  const hasFailed = error !== undefined
  const state = makeNextState(decision)
  return {
    seq: mind.seq,
    rev: mind.rev,
    time: observation.time,
    working_memory: hasFailed ? mind.working_memory : choice.working_memory,
    state: hasFailed ? { ...mind.state, warned: state.warned } : state,
    places: perception.changed,
    knownPlaces: perception.places.size,
    conversations: facts.conversations,
    hasConversations: snapshot.conversations.length > 0 || facts.conversations.length > 0,
    closed: facts.closed,
    events: facts.events,
    bids: {
      received: facts.bids.received,
      settled: hasFailed ? facts.bids.settled : [...facts.bids.settled, ...findSettledBids(action, cycle)],
    },
    memories: hasFailed ? [] : makeMemories(decision),
    recalled: choice.recalled,
    decision: {
      ord: mind.decision_count + 1,
      sim_time: observation.time,
      observation_hash: hash,
      selector: choice.decided_by,
      status: hasFailed ? 'error' : 'success',
      error_code: error?.code ?? deliberation.fallbackReason ?? null,
      action: hasFailed ? null : action,
      explanation: {
        ...choice.explanation,
        observed: describeObserved(decision),
        per_step_ms: Object.fromEntries(perStep),
      },
    },
    calls: deliberation.calls,
    request: {
      mind_id: mind.mind_id,
      request_id: result.request_id,
      tool: 'decide_action',
      // Failures are not stored, so that a retry decides again.
      answer: hasFailed ? undefined : result,
    },
  }
}

/** For viewers: satisfied share by need, mood, position. */
const describeObserved = ({ cycle: { mind, observation }, deliberation: { choice, error } }: Decision) => ({
  needs: needShares(observation),
  mood: (error === undefined ? choice : mind).working_memory.emotional_state.slice(0, maxMoodChars),
  position: observation.position,
})

/** Derives memory ids from the decision, so that a recomputed decision gives the same ids. */
const makeMemories = ({ cycle: { mind }, deliberation, maxMemoryChars }: Decision): readonly Memory[] =>
  deliberation.choice.memories.map((memory, index) => ({
    ...memory,
    content: truncateMemory(memory.content, maxMemoryChars),
    id: memoryId(mind.mind_id, mind.seq, mind.rev, index, memory.content),
  }))

function makeNextState({ cycle, deliberation: { choice, gate }, action, newUnknown }: Decision): MindState {
  const { observation, perception, mind } = cycle
  const { state } = perception
  return {
    ...state,
    counter: mind.state.counter + 1,
    talks: choice.talks,
    shared: choice.shared ?? state.shared,
    formed: choice.formed,
    warned: [...state.warned, ...newUnknown].slice(-100),
    gate: gate ?? state.gate,
    last: {
      action,
      time: observation.time,
      position: observation.position,
      needs: needShares(observation),
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
