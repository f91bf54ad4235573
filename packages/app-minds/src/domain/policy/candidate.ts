/** Candidates: what a character could do next, with the score of each and why. */
import { type Action, act, actionNames } from '../action.ts'
import type { Situation } from '../menu.ts'
import type { Cell, Entity, Interaction } from '../observation.ts'
import { isTalk, manhattan } from '../observation.ts'
import { goalKey } from './perceive.ts'
import { isRecent, type Place, type Places } from './place.ts'
import type { Goal } from './state.ts'
import { dayMinutes } from './state.ts'
import { type Wants, worthOf } from './urgency.ts'

/** Why a score is what it is. */
export interface Terms {
  readonly gain: number
  readonly cost: number
  /** Factor, 1 at hand. */
  readonly distance: number
  /** Bonus or malus of what is remembered. */
  readonly memory: number
  /** Factor, 1 in sight. */
  readonly freshness: number
  /** Factor, 1 where there is no goal to beat. */
  readonly hysteresis: number
}

/** A possible action. */
export interface Candidate {
  readonly action: Action
  readonly target: string | null
  readonly score: number
  readonly terms: Terms
  readonly rejected_because?: string
  /** What it is for, where it is about an interaction. */
  readonly goal: Goal | null
}

/** A memory as far as it moves a decision. */
export interface Reminder {
  readonly content: string
  /** 0 to 1 */
  readonly relevance: number
  /** 0 to 10 */
  readonly importance: number
}

/** What candidates are made of. */
export interface Outlook extends Wants {
  readonly situation: Situation
  readonly places: Places
  readonly reminders: readonly Reminder[]
  /** The goal whose way was blocked at the last decision. */
  readonly blocked: string | null
}

/** Terms of an action that is not about an entity. */
export const plainTerms: Terms = Object.freeze({
  gain: 0,
  cost: 0,
  distance: 1,
  memory: 0,
  freshness: 1,
  hysteresis: 1,
})

/** A candidate that is not about an entity. */
export const plain = (action: Action, score: number, terms: Partial<Terms> = {}): Candidate => ({
  action,
  target: null,
  score,
  terms: { ...plainTerms, ...terms },
  goal: null,
})

/** Everything that could be used, in sight or remembered, rejected ones included. */
export function useCandidates(outlook: Outlook): readonly Candidate[] {
  const { observation } = outlook.situation
  const inSight = (observation.entities ?? []).filter(({ entity_id }) => entity_id !== observation.entity_id)
  const seen = inSight.flatMap((entity) =>
    entity.interactions.map((interaction) => seenCandidate(entity, interaction, outlook)),
  )
  const ids = new Set(inSight.map(({ entity_id }) => entity_id))
  const remembered = [...outlook.places.values()]
    .filter(({ entity_id }) => !ids.has(entity_id))
    .flatMap((place) => place.interactions.map((interaction) => placeCandidate(place, interaction, outlook)))
  return [...seen, ...remembered]
}

/** Best first: by score, then by the order of actions, then by entity. */
export function byRank(a: Candidate, b: Candidate): number {
  return (
    b.score - a.score ||
    actionNames.indexOf(a.action.action) - actionNames.indexOf(b.action.action) ||
    compareText(a.target ?? '', b.target ?? '') ||
    compareText(JSON.stringify(a.action.parameters), JSON.stringify(b.action.parameters))
  )
}

function seenCandidate(entity: Entity, interaction: Interaction, outlook: Outlook): Candidate {
  const { constants, places } = outlook
  const place = places.get(entity.entity_id)
  const made = scored(entity, interaction, outlook, 1)
  if (entity.engagement !== null && !entity.engagement.is_joinable)
    return { ...made, score: 0, rejected_because: 'it is busy' }
  if (isCooling(place, interaction.name, outlook))
    return { ...made, score: 0, rejected_because: 'it refused a short while ago' }
  if (made.rejected_because !== undefined) return made
  return made.score < constants.drop_below ? { ...made, rejected_because: 'it is worth too little' } : made
}

function placeCandidate(place: Place, interaction: Interaction, outlook: Outlook): Candidate {
  const { constants, situation } = outlook
  const { time } = situation.observation
  const days = Math.max(0, time - place.last_seen) / dayMinutes
  const freshness = constants.place_factor * 0.5 ** (days / constants.place_half_life_days)
  const made = scored(place, interaction, outlook, freshness)
  if (place.gone) return { ...made, score: 0, rejected_because: 'it is gone from there' }
  if (isRecent(place.last_busy, time, constants.cooldown_min))
    return { ...made, score: 0, rejected_because: 'it was busy a short while ago' }
  if (isCooling(place, interaction.name, outlook))
    return { ...made, score: 0, rejected_because: 'it refused a short while ago' }
  if (made.action.action !== 'move_to')
    return { ...made, score: 0, rejected_because: 'its place is not known' }
  return made.score < constants.place_drop_below
    ? { ...made, rejected_because: 'it is worth too little' }
    : made
}

function isCooling(
  place: Place | undefined,
  interaction: string,
  { situation, constants }: Outlook,
): boolean {
  const refusedAt = place?.interactions.find(({ name }) => name === interaction)?.refused_at ?? null
  return isRecent(refusedAt, situation.observation.time, constants.cooldown_min)
}

function scored(
  target: Pick<Entity, 'entity_id' | 'display_name' | 'position'>,
  interaction: Interaction,
  outlook: Outlook,
  freshness: number,
): Candidate {
  const { constants, situation, blocked } = outlook
  const { position } = situation.observation
  const { gain, cost, need } = worthOf(interaction, outlook)
  const steps =
    position === null || target.position === null
      ? constants.unknown_distance
      : manhattan(position, target.position)
  const distance = 1 / (1 + steps / constants.distance_scale)
  // What is remembered tips the scales; it makes nothing worth doing that helps no need.
  const memory =
    gain > 0
      ? reminded(target, interaction.name, outlook)
      : Math.min(0, reminded(target, interaction.name, outlook))
  const score = gain * distance * freshness - cost + memory
  const goal = { entity_id: target.entity_id, interaction_name: interaction.name, need, score }
  const terms = { gain, cost, distance, memory, freshness, hysteresis: 1 }
  const base = { target: target.entity_id, score, terms, goal }
  const use = act('interact_with', { entity_id: target.entity_id, interaction_name: interaction.name })
  const isBlocked = blocked === goalKey(goal)
  const reach = isTalk(interaction.name) ? Math.max(1, constants.talk_distance) : 1
  const isAtHand = steps <= reach || target.position === null
  // Refused for distance although at hand: step to another side. Blocked on the way: try from here, once.
  if (freshness === 1 && (isAtHand || isBlocked)) return { ...base, action: use }
  const cell = target.position === null ? null : besideCell(target.position, position, situation)
  if (cell === null) return { ...base, action: use, score: 0, rejected_because: 'no free cell is beside it' }
  return { ...base, action: act('move_to', { destination: cell }) }
}

/** The free neighbour of a cell that is nearest to the character, never the cell itself. */
function besideCell([x, y]: Cell, from: Cell | null, { observation }: Situation): Cell | null {
  const taken = new Set(
    (observation.entities ?? []).flatMap(({ position }) => (position === null ? [] : [position.join()])),
  )
  const free = (
    [
      [x - 1, y],
      [x, y - 1],
      [x + 1, y],
      [x, y + 1],
    ] as const
  ).filter((cell) => !taken.has(cell.join()))
  const near = (cell: Cell): number => (from === null ? 0 : manhattan(from, cell))
  return free.reduce<Cell | null>(
    (best, cell) => (best === null || near(cell) < near(best) ? cell : best),
    null,
  )
}

const badWords =
  /\b(refus|reject|declin|error|fail|busy|closed|empty|gone|broken|danger|bad|awful|never again|cannot|could not|not available)/i

/** What memories that name the entity or the interaction add or take. */
function reminded(
  { entity_id, display_name }: Pick<Entity, 'entity_id' | 'display_name'>,
  interaction: string,
  { reminders, constants }: Outlook,
): number {
  const names = [entity_id, display_name, interaction].map((name) => name.toLowerCase())
  const total = reminders
    .filter(({ content }) => names.some((name) => name !== '' && content.toLowerCase().includes(name)))
    .reduce(
      (sum, { content, relevance, importance }) =>
        sum + constants.memory_weight * relevance * (importance / 10) * (badWords.test(content) ? -1 : 1),
      0,
    )
  return Math.min(constants.memory_limit, Math.max(-constants.memory_limit, total))
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
