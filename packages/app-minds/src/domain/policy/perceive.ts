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
  readonly changed: readonly Place[]
  readonly derivedEvents: readonly DerivedEvent[]
}

/** `events` contains only new events. */
export function perceive(
  observation: Observation,
  events: readonly MindEvent[],
  before: { readonly state: MindState; readonly places: Places },
  constants: PolicyConstants,
): Perception {
  const { places: updatedPlaces, seen: updated } = updatePlaces(before.places, observation, constants)
  const reported = readRefusals(events, before.state.last?.goal ?? null)
  const inferred =
    reported.length > 0 || hasOutcome(events)
      ? undefined
      : inferRefusal(before.state.last, observation, constants)
  const refusals = inferred === undefined ? reported : [...reported, inferred]
  const blocked = findBlockedGoal(events, before.state.last, observation)
  const isRepeated = blocked !== undefined && before.state.blocked === createGoalKey(blocked)
  const distanceRefusal = refusals.find(({ reason }) => isTooFar(reason))
  const cooledRefusals = [
    // A first refusal because of distance needs no cooldown: the character moves closer.
    ...refusals.filter(
      ({ goal, reason }) => !isTooFar(reason) || before.state.blocked === createGoalKey(goal),
    ),
    ...(isRepeated ? [{ kind: 'refusal', goal: blocked, reason: 'the way is blocked' } as const] : []),
  ]
  const places = new Map(updatedPlaces)
  const refused = cooledRefusals.flatMap(({ goal }) => {
    const place = places.get(goal.entity_id)
    if (place === undefined) return []
    const changed = markRefused(place, goal.interaction_name, observation.time)
    places.set(place.entity_id, changed)
    return [changed]
  })
  const nowCritical = observation.needs.filter((need) => computeNeedShare(need) <= constants.critical)
  const derivedEvents: DerivedEvent[] = [
    ...updated
      .filter((place) => !before.places.has(place.entity_id))
      .map((place) => ({ kind: 'sighting', place }) as const),
    ...findNeedChanges(observation, before.state.critical, constants),
    ...refusals,
    ...(blocked === undefined ? [] : [{ kind: 'blocked', goal: blocked } as const]),
    ...readErrors(events),
  ]
  const mark = distanceRefusal?.goal ?? (isRepeated ? undefined : blocked)
  const learned = learn(observation, before.state, constants)
  return {
    state: {
      ...before.state,
      ...learned,
      critical: nowCritical.map(({ name }) => name),
      blocked: mark === undefined ? null : createGoalKey(mark),
    },
    places,
    changed: selectLatestById([...updated, ...refused]),
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

/** Infers a refusal from an attempt without effect, for games that do not report events. */
function inferRefusal(
  last: LastAction | null,
  observation: Observation,
  { inference_min }: PolicyConstants,
): Refusal | undefined {
  if (last?.goal == null || last.action.action !== 'interact_with') return undefined
  if (observation.current !== null || observation.activity === 'interacting') return undefined
  const passed = observation.time - last.time
  if (passed <= 0 || passed > inference_min || !isSameCell(last, observation)) return undefined
  const { need } = last.goal
  const share = need === null ? undefined : computeNeedShares(observation)[need]
  if (need !== null && share !== undefined && share > (last.needs[need] ?? 0)) return undefined
  return { kind: 'refusal', goal: last.goal, reason: null }
}

/** Returns the goal of a movement that was blocked or did not change the position. */
function findBlockedGoal(
  events: readonly MindEvent[],
  last: LastAction | null,
  observation: Observation,
): Goal | undefined {
  if (last?.goal == null || last.action.action !== 'move_to') return undefined
  const reported = events.filter(({ event_type }) => event_type === 'MOVEMENT_COMPLETED').at(-1)
  if (reported !== undefined) return reported.payload.status === 'BLOCKED' ? last.goal : undefined
  if (observation.activity === 'moving' || observation.time <= last.time) return undefined
  return observation.current === null && isSameCell(last, observation) ? last.goal : undefined
}

function findNeedChanges(
  { needs }: Observation,
  before: readonly string[],
  { critical }: PolicyConstants,
): DerivedEvent[] {
  return needs.flatMap((need): DerivedEvent[] => {
    const share = computeNeedShare(need)
    const isCritical = share <= critical
    if (isCritical === before.includes(need.name)) return []
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

function learn(
  observation: Observation,
  { stay, gains }: MindState,
  constants: PolicyConstants,
): Pick<MindState, 'stay' | 'gains'> {
  const { current, time } = observation
  const shares = computeNeedShares(observation)
  const isSame = stay !== null && current !== null && stay.name === current.name
  if (isSame) return { stay, gains }
  const learned = stay === null || time <= stay.since ? gains : updateGains(gains, stay, shares, constants)
  if (current === null) return { stay: null, gains: learned }
  const { name, entity_id, fills } = current
  return { stay: { name, entity_id, fills, since: time, needs: shares }, gains: learned }
}

function updateGains(
  gains: MindState['gains'],
  stay: NonNullable<MindState['stay']>,
  shares: Readonly<Record<string, number>>,
  { learning_rate }: PolicyConstants,
): MindState['gains'] {
  const learned = { ...gains }
  for (const need of stay.fills) {
    const gain = (shares[need] ?? 0) - (stay.needs[need] ?? 0)
    if (!(gain > 0)) continue
    const key = createGainKey(stay.name, need)
    const { mean = gain, samples = 0 } = learned[key] ?? {}
    learned[key] = { mean: mean + learning_rate * (gain - mean), samples: samples + 1 }
  }
  return learned
}

const isSameCell = ({ position }: LastAction, observation: Observation): boolean =>
  position !== null &&
  observation.position !== null &&
  position[0] === observation.position[0] &&
  position[1] === observation.position[1]

/** Returns the first nonempty string among the members with these names. */
export const readText = (payload: MindEvent['payload'], ...names: readonly string[]): string | undefined =>
  names
    .map((name) => payload[name])
    .find((value): value is string => typeof value === 'string' && value !== '')

const selectLatestById = (places: readonly Place[]): readonly Place[] => [
  ...new Map(places.map((place) => [place.entity_id, place])).values(),
]
