import type { MindEvent, Observation } from '../observation.ts'
import { computeNeedShare } from '../observation.ts'
import type { PolicyConstants } from './constants.ts'
import { markRefused, type Place, type Places, updatePlaces } from './place.ts'
import type { Goal, LastAction, MindState } from './state.ts'
import { createGainKey } from './urgency.ts'

export type DerivedEvent =
  | { readonly kind: 'sighting'; readonly place: Place }
  | { readonly kind: 'critical' | 'relieved'; readonly need: string; readonly share: number }
  | {
      readonly kind: 'refusal'
      readonly goal: Pick<Goal, 'entity_id' | 'interaction_name'>
      readonly reason: string | null
    }
  | { readonly kind: 'blocked'; readonly goal: Goal }
  | { readonly kind: 'error'; readonly text: string }

export interface Perception {
  readonly state: MindState
  readonly places: Places
  readonly changedPlaces: readonly Place[]
  readonly derivedEvents: readonly DerivedEvent[]
}

/** `events` contains only new events. */
export function perceive(
  observation: Observation,
  events: readonly MindEvent[],
  previous: { readonly state: MindState; readonly places: Places },
  constants: PolicyConstants,
): Perception {
  const { places: updatedPlaces, changedPlaces: observedPlaces } = updatePlaces(
    previous.places,
    observation,
    constants,
  )
  const reportedRefusals = readRefusals(events, previous.state.last?.goal ?? null)
  const inferredRefusal =
    reportedRefusals.length > 0 || hasOutcome(events)
      ? undefined
      : inferRefusal(previous.state.last, observation, constants)
  const refusals = inferredRefusal === undefined ? reportedRefusals : [...reportedRefusals, inferredRefusal]
  const blockedGoal = findBlockedGoal(events, previous.state.last, observation)
  const isRepeated = blockedGoal !== undefined && previous.state.blocked === createGoalKey(blockedGoal)
  const distanceRefusal = refusals.find(({ reason }) => isTooFar(reason))
  const cooledRefusals = [
    // After a first refusal because of distance, the character moves closer, without a cooldown.
    ...refusals.filter(
      ({ goal, reason }) => !isTooFar(reason) || previous.state.blocked === createGoalKey(goal),
    ),
    ...(isRepeated ? [{ kind: 'refusal', goal: blockedGoal, reason: 'the way is blocked' } as const] : []),
  ]
  const places = new Map(updatedPlaces)
  const refusedPlaces = cooledRefusals.flatMap(({ goal }) => {
    const place = places.get(goal.entity_id)
    if (place === undefined) return []
    const refusedPlace = markRefused(place, goal.interaction_name, observation.time)
    places.set(place.entity_id, refusedPlace)
    return [refusedPlace]
  })
  const criticalNeeds = observation.needs.filter((need) => computeNeedShare(need) <= constants.critical)
  const derivedEvents: DerivedEvent[] = [
    ...observedPlaces
      .filter((place) => !previous.places.has(place.entity_id))
      .map((place) => ({ kind: 'sighting', place }) as const),
    ...findNeedChanges(observation, previous.state.critical, constants),
    ...refusals,
    ...(blockedGoal === undefined ? [] : [{ kind: 'blocked', goal: blockedGoal } as const]),
    ...readErrors(events),
  ]
  const unreachableGoal = distanceRefusal?.goal ?? (isRepeated ? undefined : blockedGoal)
  const learnedState = updateLearning(observation, previous.state, constants)
  return {
    state: {
      ...previous.state,
      ...learnedState,
      critical: criticalNeeds.map(({ name }) => name),
      blocked: unreachableGoal === undefined ? null : createGoalKey(unreachableGoal),
    },
    places,
    changedPlaces: selectLatestById([...observedPlaces, ...refusedPlaces]),
    derivedEvents,
  }
}

export const createGoalKey = ({
  entity_id,
  interaction_name,
}: Pick<Goal, 'entity_id' | 'interaction_name'>): string => `${entity_id}|${interaction_name}`

export const computeNeedShares = ({ needs }: Observation): Readonly<Record<string, number>> =>
  Object.fromEntries(needs.map((need) => [need.name, computeNeedShare(need)]))

const isTooFar = (reason: string | null): boolean => reason !== null && /\b(far|adjacent)/i.test(reason)

type Refusal = Extract<DerivedEvent, { kind: 'refusal' }>

function readRefusals(events: readonly MindEvent[], goal: Goal | null): Refusal[] {
  return events
    .filter(({ event_type }) => event_type === 'INTERACTION_BID_REJECTED')
    .flatMap(({ payload }): Refusal[] => {
      const entity = readText(payload, 'target_id', 'target_entity_id', 'entity_id') ?? goal?.entity_id
      const interaction = readText(payload, 'interaction_name', 'interaction') ?? goal?.interaction_name
      if (entity === undefined || interaction === undefined) return []
      const reason = readText(payload, 'reason', 'rejection_reason', 'message') ?? null
      return [{ kind: 'refusal', goal: { entity_id: entity, interaction_name: interaction }, reason }]
    })
}

const hasOutcome = (events: readonly MindEvent[]): boolean =>
  events.some(({ event_type }) =>
    [
      'INTERACTION_BID_PENDING',
      'INTERACTION_STARTED',
      'INTERACTION_FINISHED',
      'INTERACTION_CANCELED',
    ].includes(event_type),
  )

/** Infers a refusal from an attempt without effect, because some games do not report events. */
function inferRefusal(
  lastAction: LastAction | null,
  observation: Observation,
  { inference_min }: PolicyConstants,
): Refusal | undefined {
  if (lastAction?.goal == null || lastAction.action.action !== 'interact_with') return undefined
  if (observation.current !== null || observation.activity === 'interacting') return undefined
  const elapsedMinutes = observation.time - lastAction.time
  if (elapsedMinutes <= 0 || elapsedMinutes > inference_min || !isSameCell(lastAction, observation))
    return undefined
  const { need } = lastAction.goal
  const share = need === null ? undefined : computeNeedShares(observation)[need]
  if (need !== null && share !== undefined && share > (lastAction.needs[need] ?? 0)) return undefined
  return { kind: 'refusal', goal: lastAction.goal, reason: null }
}

/** Returns the goal of a movement that was blocked or did not change the position. */
function findBlockedGoal(
  events: readonly MindEvent[],
  lastAction: LastAction | null,
  observation: Observation,
): Goal | undefined {
  if (lastAction?.goal == null || lastAction.action.action !== 'move_to') return undefined
  const completion = events.filter(({ event_type }) => event_type === 'MOVEMENT_COMPLETED').at(-1)
  if (completion !== undefined) return completion.payload.status === 'BLOCKED' ? lastAction.goal : undefined
  if (observation.activity === 'moving' || observation.time <= lastAction.time) return undefined
  return observation.current === null && isSameCell(lastAction, observation) ? lastAction.goal : undefined
}

function findNeedChanges(
  { needs }: Observation,
  previousCritical: readonly string[],
  { critical }: PolicyConstants,
): DerivedEvent[] {
  return needs.flatMap((need): DerivedEvent[] => {
    const share = computeNeedShare(need)
    const isCritical = share <= critical
    if (isCritical === previousCritical.includes(need.name)) return []
    return [{ kind: isCritical ? 'critical' : 'relieved', need: need.name, share }]
  })
}

const readErrors = (events: readonly MindEvent[]): DerivedEvent[] =>
  events
    .filter(({ event_type }) => event_type === 'ERROR')
    .map(({ payload }) => ({
      kind: 'error',
      text: readText(payload, 'message', 'error') ?? 'something went wrong',
    }))

function updateLearning(
  observation: Observation,
  { stay, gains }: MindState,
  constants: PolicyConstants,
): Pick<MindState, 'stay' | 'gains'> {
  const { current, time } = observation
  const needShares = computeNeedShares(observation)
  const isSameInteraction = stay !== null && current !== null && stay.name === current.name
  if (isSameInteraction) return { stay, gains }
  const updatedGains =
    stay === null || time <= stay.since ? gains : updateGains(gains, stay, needShares, constants)
  if (current === null) return { stay: null, gains: updatedGains }
  const { name, entity_id, fills } = current
  return { stay: { name, entity_id, fills, since: time, needs: needShares }, gains: updatedGains }
}

function updateGains(
  gains: MindState['gains'],
  stay: NonNullable<MindState['stay']>,
  needShares: Readonly<Record<string, number>>,
  { learning_rate }: PolicyConstants,
): MindState['gains'] {
  const updatedGains = { ...gains }
  for (const need of stay.fills) {
    const gain = (needShares[need] ?? 0) - (stay.needs[need] ?? 0)
    if (!(gain > 0)) continue
    const key = createGainKey(stay.name, need)
    const { mean = gain, samples = 0 } = updatedGains[key] ?? {}
    updatedGains[key] = { mean: mean + learning_rate * (gain - mean), samples: samples + 1 }
  }
  return updatedGains
}

const isSameCell = ({ position }: LastAction, observation: Observation): boolean =>
  position !== null &&
  observation.position !== null &&
  position[0] === observation.position[0] &&
  position[1] === observation.position[1]

export const readText = (payload: MindEvent['payload'], ...names: readonly string[]): string | undefined =>
  names
    .map((name) => payload[name])
    .find((value): value is string => typeof value === 'string' && value !== '')

const selectLatestById = (places: readonly Place[]): readonly Place[] => [
  ...new Map(places.map((place) => [place.entity_id, place])).values(),
]
