import { type Action, actionNames, makeAction } from '../action.ts'
import type { Situation } from '../menu.ts'
import type { Cell, Entity, Interaction } from '../observation.ts'
import { computeManhattanDistance, isConversation } from '../observation.ts'
import { createGoalKey } from './perceive.ts'
import { isRecent, type Place } from './place.ts'
import type { PolicyContext } from './policy-context.ts'
import type { Goal } from './state.ts'
import { minutesPerDay } from './state.ts'
import { estimateWorth } from './urgency.ts'

interface ScoreTerms {
  readonly gain: number
  readonly cost: number
  /** Factor for the distance, 1 at the target. */
  readonly distance: number
  /** Positive for good memories, negative for bad memories. */
  readonly memory: number
  /** Factor that is 1 for visible entities. */
  readonly freshness: number
  /** Factor that is 1 unless the candidate continues the current goal. */
  readonly hysteresis: number
}

export interface Candidate {
  readonly action: Action
  readonly target: string | null
  readonly score: number
  readonly terms: ScoreTerms
  readonly rejected_because?: string
  readonly goal: Goal | null
}

export const neutralTerms: ScoreTerms = Object.freeze({
  gain: 0,
  cost: 0,
  distance: 1,
  memory: 0,
  freshness: 1,
  hysteresis: 1,
})

export const makeCandidate = (action: Action, score: number, terms: Partial<ScoreTerms> = {}): Candidate => ({
  action,
  target: null,
  score,
  terms: { ...neutralTerms, ...terms },
  goal: null,
})

/** Returns a candidate for each use of a visible or remembered entity, including rejected candidates. */
export function listUseCandidates(context: PolicyContext): readonly Candidate[] {
  const { observation } = context.situation
  const visibleEntities = (observation.entities ?? []).filter(
    ({ entity_id }) => entity_id !== observation.entity_id,
  )
  const visibleCandidates = visibleEntities.flatMap((entity) =>
    entity.interactions.map((interaction) => createVisibleCandidate(entity, interaction, context)),
  )
  const visibleIds = new Set(visibleEntities.map(({ entity_id }) => entity_id))
  const rememberedCandidates = [...context.places.values()]
    .filter(({ entity_id }) => !visibleIds.has(entity_id))
    .flatMap((place) =>
      place.interactions.map((interaction) => createPlaceCandidate(place, interaction, context)),
    )
  return [...visibleCandidates, ...rememberedCandidates]
}

export function compareCandidates(a: Candidate, b: Candidate): number {
  return (
    b.score - a.score ||
    actionNames.indexOf(a.action.action) - actionNames.indexOf(b.action.action) ||
    compareText(a.target ?? '', b.target ?? '') ||
    compareText(JSON.stringify(a.action.parameters), JSON.stringify(b.action.parameters))
  )
}

function createVisibleCandidate(entity: Entity, interaction: Interaction, context: PolicyContext): Candidate {
  const { constants, places } = context
  const place = places.get(entity.entity_id)
  const candidate = makeUseCandidate(entity, interaction, context, 1)
  if (entity.engagement !== null && !entity.engagement.is_joinable)
    return { ...candidate, score: 0, rejected_because: 'it is busy' }
  if (isCoolingDown(place, interaction.name, context))
    return { ...candidate, score: 0, rejected_because: 'it refused recently' }
  if (candidate.rejected_because !== undefined) return candidate
  return candidate.score < constants.drop_below
    ? { ...candidate, rejected_because: 'its score is too low' }
    : candidate
}

function createPlaceCandidate(place: Place, interaction: Interaction, context: PolicyContext): Candidate {
  const { constants, situation } = context
  const { time } = situation.observation
  const days = Math.max(0, time - place.last_seen) / minutesPerDay
  const freshness = constants.place_factor * 0.5 ** (days / constants.place_half_life_days)
  const candidate = makeUseCandidate(place, interaction, context, freshness)
  if (place.gone) return { ...candidate, score: 0, rejected_because: 'it is no longer there' }
  if (isRecent(place.last_busy, time, constants.cooldown_min))
    return { ...candidate, score: 0, rejected_because: 'it was busy recently' }
  if (isCoolingDown(place, interaction.name, context))
    return { ...candidate, score: 0, rejected_because: 'it refused recently' }
  if (candidate.action.action !== 'move_to')
    return { ...candidate, score: 0, rejected_because: 'its position is unknown' }
  return candidate.score < constants.place_drop_below
    ? { ...candidate, rejected_because: 'its score is too low' }
    : candidate
}

function isCoolingDown(
  place: Place | undefined,
  interaction: string,
  { situation, constants }: PolicyContext,
): boolean {
  const refusedAt = place?.interactions.find(({ name }) => name === interaction)?.refused_at ?? null
  return isRecent(refusedAt, situation.observation.time, constants.cooldown_min)
}

function makeUseCandidate(
  target: Pick<Entity, 'entity_id' | 'display_name' | 'position'>,
  interaction: Interaction,
  context: PolicyContext,
  freshness: number,
): Candidate {
  const { constants, situation, state } = context
  const { position } = situation.observation
  const { gain, cost, need } = estimateWorth(interaction, context)
  const steps =
    position === null || target.position === null
      ? constants.unknown_distance
      : computeManhattanDistance(position, target.position)
  const distance = 1 / (1 + steps / constants.distance_scale)
  const memory =
    gain > 0
      ? computeMemoryScore(target, interaction.name, context)
      : Math.min(0, computeMemoryScore(target, interaction.name, context))
  const score = gain * distance * freshness - cost + memory
  const goal = { entity_id: target.entity_id, interaction_name: interaction.name, need, score }
  const terms = { gain, cost, distance, memory, freshness, hysteresis: 1 }
  const baseCandidate = { target: target.entity_id, score, terms, goal }
  const useAction = makeAction('interact_with', {
    entity_id: target.entity_id,
    interaction_name: interaction.name,
  })
  const isBlocked = state.blocked === createGoalKey(goal)
  const maxSteps = isConversation(interaction.name) ? Math.max(1, constants.talk_distance) : 1
  const isWithinReach = steps <= maxSteps || target.position === null
  // After a blocked movement or a refusal because of distance, tries once from the current position.
  if (freshness === 1 && (isWithinReach || isBlocked)) return { ...baseCandidate, action: useAction }
  const cell = target.position === null ? null : findAdjacentCell(target.position, position, situation)
  if (cell === null)
    return { ...baseCandidate, action: useAction, score: 0, rejected_because: 'no adjacent cell is free' }
  return { ...baseCandidate, action: makeAction('move_to', { destination: cell }) }
}

function findAdjacentCell([x, y]: Cell, from: Cell | null, { observation }: Situation): Cell | null {
  const occupied = new Set(
    (observation.entities ?? []).flatMap(({ position }) => (position === null ? [] : [position.join()])),
  )
  const freeCells = (
    [
      [x - 1, y],
      [x, y - 1],
      [x + 1, y],
      [x, y + 1],
    ] as const
  ).filter((cell) => !occupied.has(cell.join()))
  const computeDistance = (cell: Cell): number => (from === null ? 0 : computeManhattanDistance(from, cell))
  return freeCells.reduce<Cell | null>(
    (nearestCell, cell) =>
      nearestCell === null || computeDistance(cell) < computeDistance(nearestCell) ? cell : nearestCell,
    null,
  )
}

const negativePattern =
  /\b(refus|reject|declin|error|fail|busy|closed|empty|gone|broken|danger|bad|awful|never again|cannot|could not|not available)/i

function computeMemoryScore(
  { entity_id, display_name }: Pick<Entity, 'entity_id' | 'display_name'>,
  interaction: string,
  { reminders, constants }: PolicyContext,
): number {
  const names = [entity_id, display_name, interaction].map((name) => name.toLowerCase())
  const memoryScore = reminders
    .filter(({ content }) => names.some((name) => name !== '' && content.toLowerCase().includes(name)))
    .reduce(
      (sum, { content, relevance, importance }) =>
        sum +
        constants.memory_weight * relevance * (importance / 10) * (negativePattern.test(content) ? -1 : 1),
      0,
    )
  return Math.min(constants.memory_limit, Math.max(-constants.memory_limit, memoryScore))
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
