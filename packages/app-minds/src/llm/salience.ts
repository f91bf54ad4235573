/** What has to change before a model is asked again, for minds with `llm_gate: on_change`. */
import { shareOf } from '../domain/observation.ts'
import type { CarriedState } from '../domain/policy/state.ts'
import type { Cycle } from '../mind/prepare.ts'
import { sha256 } from '../store/hash.ts'

/** Game minutes after which a model is asked whatever has changed. */
const longest = 15

/** The digest of bands of needs, what is in sight, what was said, what happened and what is under way. */
export function salientDigest({ observation, conversations, events, situation }: Cycle): string {
  const bands = observation.needs.map((need) => [need.name, bandOf(shareOf(need))])
  const seen = (observation.entities ?? []).map(({ entity_id }) => entity_id).sort()
  const said = conversations.map(({ interaction_id, messages }) => [interaction_id, messages.length])
  const happened = events.map(({ event_type, timestamp }) => [event_type, timestamp])
  const bids = situation.bids.map(({ bid_id }) => bid_id)
  const doing = [observation.current?.name ?? null, situation.isInteracting]
  return sha256(JSON.stringify([bands, seen, said, happened, bids, doing])).slice(0, 16)
}

/** True where a model should be asked. */
export const isSalient = (before: CarriedState['gate'], digest: string, time: number): boolean =>
  before === null || before.digest !== digest || time < before.at || time - before.at > longest

/** The bands that the prompts speak of. */
const bandOf = (share: number): 'satisfied' | 'declining' | 'critical' =>
  share >= 0.8 ? 'satisfied' : share >= 0.3 ? 'declining' : 'critical'
