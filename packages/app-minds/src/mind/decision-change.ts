/** All that one decision changes in the data file, as one value. */
import type { Action } from '../domain/action.ts'
import { cutMemory } from '../domain/model/outputs.ts'
import { sharesOf } from '../domain/policy/perceive.ts'
import type { CarriedState } from '../domain/policy/state.ts'
import { memoryId } from '../store/hash.ts'
import type { DecisionChange, MindSnapshot, NewMemory } from '../store/types.ts'
import type { DecisionAnswer } from './decision-answer.ts'
import type { Deliberated } from './deliberate.ts'
import type { Cycle } from './prepare.ts'
import type { Step } from './selector.ts'

/** A decision that is made and not stored yet. */
export interface Decided {
  readonly snapshot: MindSnapshot
  readonly cycle: Cycle
  readonly deliberated: Deliberated
  readonly action: Action
  readonly answer: DecisionAnswer
  readonly perStep: ReadonlyMap<Step, number>
  /** Members of the observation that nothing reads and that the mind has not been warned of. */
  readonly news: readonly string[]
  /** Of the observation. */
  readonly hash: string
  /** Longest memory, characters. */
  readonly memoryChars: number
}

/** What is to be stored. Of a decision that failed that is what was perceived, and the row of the decision. */
export function decisionChange(decided: Decided): DecisionChange {
  const { snapshot, cycle, deliberated, action, answer, perStep, hash } = decided
  const { mind, observation, perception, facts } = cycle
  const { choice, error } = deliberated
  const hasFailed = error !== undefined
  const state = stateAfter(decided)
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
      settled: hasFailed ? facts.bids.settled : [...facts.bids.settled, ...settledBy(action, cycle)],
    },
    memories: hasFailed ? [] : memoriesOf(decided),
    recalled: choice.recalled,
    decision: {
      ord: mind.decision_count + 1,
      sim_time: observation.time,
      observation_hash: hash,
      selector: choice.decided_by,
      status: hasFailed ? 'error' : 'success',
      error_code: error?.code ?? deliberated.fallbackReason ?? null,
      action: hasFailed ? null : action,
      explanation: { ...choice.explanation, per_step_ms: Object.fromEntries(perStep) },
    },
    calls: deliberated.calls,
    request: {
      mind_id: mind.mind_id,
      request_id: answer.request_id,
      tool: 'decide_action',
      // A failure is not kept: a retry shall try again.
      answer: hasFailed ? undefined : answer,
    },
  }
}

/** New memories with ids that a decision computed again from the same beginning gives again. */
const memoriesOf = ({ cycle: { mind }, deliberated, memoryChars }: Decided): readonly NewMemory[] =>
  deliberated.choice.memories.map((memory, index) => ({
    ...memory,
    content: cutMemory(memory.content, memoryChars),
    id: memoryId(mind.mind_id, mind.seq, mind.rev, index, memory.content),
  }))

function stateAfter({ cycle, deliberated: { choice, gate }, action, news }: Decided): CarriedState {
  const { observation, perception, mind } = cycle
  const { state } = perception
  return {
    ...state,
    counter: mind.state.counter + 1,
    talks: choice.talks,
    formed: choice.formed,
    warned: [...state.warned, ...news].slice(-100),
    gate: gate ?? state.gate,
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
function settledBy({ action, parameters }: Action, { situation }: Cycle): string[] {
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
