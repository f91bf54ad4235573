import { needShare } from '../domain/observation.ts'
import type { MindState } from '../domain/policy/state.ts'
import type { Cycle } from '../mind/prepare.ts'
import { sha256 } from '../store/hash.ts'

/** Game minutes after which a model decides regardless of changes. */
const maxAge = 15

/** Returns a digest of need bands, visible entities, messages, events and the current interaction. */
export function salientDigest({ observation, conversations, events, situation }: Cycle): string {
  const bands = observation.needs.map((need) => [need.name, toBand(needShare(need))])
  const seen = (observation.entities ?? []).map(({ entity_id }) => entity_id).sort()
  const said = conversations.map(({ interaction_id, messages }) => [interaction_id, messages.length])
  const happened = events.map(({ event_type, timestamp }) => [event_type, timestamp])
  const bids = situation.bids.map(({ bid_id }) => bid_id)
  const doing = [observation.current?.name ?? null, situation.isInteracting]
  return sha256(JSON.stringify([bands, seen, said, happened, bids, doing])).slice(0, 16)
}

/** Whether a model should decide (`llm_gate: on_change`). */
export const isSalient = (before: MindState['gate'], digest: string, time: number): boolean =>
  before === null || before.digest !== digest || time < before.at || time - before.at > maxAge

const toBand = (share: number): 'satisfied' | 'declining' | 'critical' =>
  share >= 0.8 ? 'satisfied' : share >= 0.3 ? 'declining' : 'critical'
