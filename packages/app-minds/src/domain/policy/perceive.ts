/**
 * From an observation and events to what happened: refusals told or inferred, blocked ways, needs that turned critical,
 * places seen, gains learned. Both selectors build on it.
 */
import type { MindEvent, Observation } from '../observation.ts'
import { shareOf } from '../observation.ts'
import type { PolicyConstants } from './constants.ts'
import { type Place, type Places, refusedPlace, seePlaces } from './place.ts'
import type { CarriedState, Gains, Goal, LastAct } from './state.ts'
import { gainKey } from './urgency.ts'

/** Something worth knowing that happened since the last decision. */
export type Happening =
  | { readonly kind: 'sighting'; readonly place: Place }
  | { readonly kind: 'critical' | 'relieved'; readonly need: string; readonly share: number }
  | {
      readonly kind: 'refusal'
      readonly goal: Pick<Goal, 'entity_id' | 'interaction_name'>
      readonly reason: string | null
    }
  | { readonly kind: 'blocked'; readonly goal: Goal }
  | { readonly kind: 'error'; readonly text: string }

/** What is known after looking. */
export interface Perception {
  readonly state: CarriedState
  readonly places: Places
  /** Places to be stored. */
  readonly changed: readonly Place[]
  readonly happenings: readonly Happening[]
}

/** Takes in one cycle. `events` are those that were not seen before. */
export function perceive(
  observation: Observation,
  events: readonly MindEvent[],
  before: { readonly state: CarriedState; readonly places: Places },
  constants: PolicyConstants,
): Perception {
  const { places: seenPlaces, seen } = seePlaces(before.places, observation, constants)
  const told = refusalsTold(events, before.state.last?.goal ?? null)
  const inferred =
    told.length > 0 || wasAnswered(events)
      ? undefined
      : refusalInferred(before.state.last, observation, constants)
  const refusals = inferred === undefined ? told : [...told, inferred]
  const blocked = blockedGoal(events, before.state.last, observation)
  const isRepeated = blocked !== undefined && before.state.blocked === goalKey(blocked)
  const isDistance = refusals.find(({ reason }) => isTooFar(reason))
  const cooled = [
    // A refusal for distance is mended by a step, unless it comes again.
    ...refusals.filter(({ goal, reason }) => !isTooFar(reason) || before.state.blocked === goalKey(goal)),
    ...(isRepeated ? [{ kind: 'refusal', goal: blocked, reason: 'the way is blocked' } as const] : []),
  ]
  const places = new Map(seenPlaces)
  const refused = cooled.flatMap(({ goal }) => {
    const place = places.get(goal.entity_id)
    if (place === undefined) return []
    const changed = refusedPlace(place, goal.interaction_name, observation.time)
    places.set(place.entity_id, changed)
    return [changed]
  })
  const nowCritical = observation.needs.filter((need) => shareOf(need) <= constants.critical)
  const happenings: Happening[] = [
    ...seen
      .filter((place) => !before.places.has(place.entity_id))
      .map((place) => ({ kind: 'sighting', place }) as const),
    ...needHappenings(observation, before.state.critical, constants),
    ...refusals,
    ...(blocked === undefined ? [] : [{ kind: 'blocked', goal: blocked } as const]),
    ...errorsTold(events),
  ]
  const mark = isDistance?.goal ?? (isRepeated ? undefined : blocked)
  const stayed = learn(observation, before.state, constants)
  return {
    state: {
      ...before.state,
      ...stayed,
      critical: nowCritical.map(({ name }) => name),
      blocked: mark === undefined ? null : goalKey(mark),
    },
    places,
    changed: lastOfEach([...seen, ...refused]),
    happenings,
  }
}

/** Where a goal is remembered. */
export const goalKey = ({
  entity_id,
  interaction_name,
}: Pick<Goal, 'entity_id' | 'interaction_name'>): string => `${entity_id}|${interaction_name}`

/** need -> share, of an observation. */
export const sharesOf = ({ needs }: Observation): Readonly<Record<string, number>> =>
  Object.fromEntries(needs.map((need) => [need.name, shareOf(need)]))

/** True for a reason that a step mends. */
const isTooFar = (reason: string | null): boolean => reason !== null && /\b(far|adjacent)/i.test(reason)

type Refusal = Extract<Happening, { kind: 'refusal' }>

function refusalsTold(events: readonly MindEvent[], goal: Goal | null): Refusal[] {
  return events
    .filter(({ event_type }) => event_type === 'INTERACTION_BID_REJECTED')
    .flatMap(({ payload }): Refusal[] => {
      const entity = textOf(payload, 'target_id', 'target_entity_id', 'entity_id') ?? goal?.entity_id
      const interaction = textOf(payload, 'interaction_name', 'interaction') ?? goal?.interaction_name
      if (entity === undefined || interaction === undefined) return []
      const reason = textOf(payload, 'reason', 'rejection_reason', 'message') ?? null
      return [{ kind: 'refusal', goal: { entity_id: entity, interaction_name: interaction }, reason }]
    })
}

/** True where the game tells that the last attempt is under way or was carried out, so that nothing is to be inferred. */
const wasAnswered = (events: readonly MindEvent[]): boolean =>
  events.some(({ event_type }) =>
    [
      'INTERACTION_BID_PENDING',
      'INTERACTION_STARTED',
      'INTERACTION_FINISHED',
      'INTERACTION_CANCELED',
    ].includes(event_type),
  )

/** The seed's game sends no events: an attempt that left everything as it was, was refused. */
function refusalInferred(
  last: LastAct | null,
  observation: Observation,
  { inference_min }: PolicyConstants,
): Refusal | undefined {
  if (last?.goal == null || last.action.action !== 'interact_with') return undefined
  if (observation.current !== null || observation.activity === 'interacting') return undefined
  const passed = observation.time - last.time
  if (passed <= 0 || passed > inference_min || !isSameCell(last, observation)) return undefined
  const { need } = last.goal
  const share = need === null ? undefined : sharesOf(observation)[need]
  if (need !== null && share !== undefined && share > (last.needs[need] ?? 0)) return undefined
  return { kind: 'refusal', goal: last.goal, reason: null }
}

/** The goal of a walk that did not get on: told by the game, or seen by standing where one stood. */
function blockedGoal(
  events: readonly MindEvent[],
  last: LastAct | null,
  observation: Observation,
): Goal | undefined {
  if (last?.goal == null || last.action.action !== 'move_to') return undefined
  const told = events.filter(({ event_type }) => event_type === 'MOVEMENT_COMPLETED').at(-1)
  if (told !== undefined) return told.payload.status === 'BLOCKED' ? last.goal : undefined
  if (observation.activity === 'moving' || observation.time <= last.time) return undefined
  return observation.current === null && isSameCell(last, observation) ? last.goal : undefined
}

function needHappenings(
  { needs }: Observation,
  before: readonly string[],
  { critical }: PolicyConstants,
): Happening[] {
  return needs.flatMap((need): Happening[] => {
    const share = shareOf(need)
    const isCritical = share <= critical
    if (isCritical === before.includes(need.name)) return []
    return [{ kind: isCritical ? 'critical' : 'relieved', need: need.name, share }]
  })
}

const errorsTold = (events: readonly MindEvent[]): Happening[] =>
  events
    .filter(({ event_type }) => event_type === 'ERROR')
    .map(({ payload }) => ({
      kind: 'error',
      text: textOf(payload, 'message', 'error') ?? 'something went wrong',
    }))

/** The interaction that the character is in, and what the one that has ended was worth. */
function learn(
  observation: Observation,
  { stay, gains }: CarriedState,
  constants: PolicyConstants,
): Pick<CarriedState, 'stay' | 'gains'> {
  const { current, time } = observation
  const shares = sharesOf(observation)
  const isSame = stay !== null && current !== null && stay.name === current.name
  if (isSame) return { stay, gains }
  const learned = stay === null || time <= stay.since ? gains : withGains(gains, stay, shares, constants)
  if (current === null) return { stay: null, gains: learned }
  const { name, entity_id, fills } = current
  return { stay: { name, entity_id, fills, since: time, needs: shares }, gains: learned }
}

function withGains(
  gains: Gains,
  stay: NonNullable<CarriedState['stay']>,
  shares: Readonly<Record<string, number>>,
  { learning_rate }: PolicyConstants,
): Gains {
  const learned = { ...gains }
  for (const need of stay.fills) {
    const gain = (shares[need] ?? 0) - (stay.needs[need] ?? 0)
    if (!(gain > 0)) continue
    const key = gainKey(stay.name, need)
    const { mean = gain, samples = 0 } = learned[key] ?? {}
    learned[key] = { mean: mean + learning_rate * (gain - mean), samples: samples + 1 }
  }
  return learned
}

const isSameCell = ({ position }: LastAct, observation: Observation): boolean =>
  position !== null &&
  observation.position !== null &&
  position[0] === observation.position[0] &&
  position[1] === observation.position[1]

function textOf(payload: MindEvent['payload'], ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = payload[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}

const lastOfEach = (places: readonly Place[]): readonly Place[] => [
  ...new Map(places.map((place) => [place.entity_id, place])).values(),
]
