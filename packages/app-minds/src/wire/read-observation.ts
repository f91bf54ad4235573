import { asObject } from '@causeway/protocol'
import { z } from 'zod'
import { readCell } from '../domain/cell.ts'
import {
  type Activity,
  type Cell,
  type Conversation,
  type CurrentInteraction,
  type Entity,
  findNearest,
  type InteractionParameter,
  type Need,
  type Observation,
} from '../domain/observation.ts'
import type { Limits } from '../limits.ts'
import {
  numberOr,
  readInteraction,
  readParameters,
  readRates,
  readStrings,
  text,
} from './read-interaction.ts'
import { readMessages } from './read-messages.ts'
import { createInvalid, parseInput, requireWithin } from './validation.ts'

export interface ParsedObservation {
  readonly observation: Observation
  readonly warnings: readonly string[]
  readonly unknown: readonly string[]
}

const part = z.looseObject({}).nullish()
const shape = z.looseObject({
  entity_id: z.string().min(1).max(256),
  current_simulation_time: z.number(),
  status: part,
  needs: part,
  vision: part,
  conversations: z.array(z.looseObject({ interaction_id: z.string().min(1) })).nullish(),
})
const known = new Set([...Object.keys(shape.shape), 'events'])

/** Accepts every field name that games use. Throws `INVALID_OBSERVATION` and `LIMIT_EXCEEDED`. */
export function readObservation(value: unknown, limits: Limits): ParsedObservation {
  requireWithin(
    'observation_bytes',
    Buffer.byteLength(JSON.stringify(value ?? null)),
    limits.observation_bytes,
  )
  const given = parseInput('observation', shape, value)
  const { entity_id, current_simulation_time, status, needs, vision, conversations } = given
  const warnings: string[] = []
  const position = readPosition(status)
  const state = asObject(status?.activity_state ?? status?.controller_state)
  const observation: Observation = {
    entity_id,
    time: Math.floor(current_simulation_time),
    position,
    movement_locked: status?.movement_locked === true,
    current: readCurrent(asObject(status?.current_interaction)),
    activity: readActivity(state),
    needs: readNeeds(asObject(needs), warnings),
    entities:
      vision === null || vision === undefined
        ? null
        : readEntities(asObject(vision), position, limits, warnings),
    conversations: (conversations ?? []).map(readConversation),
  }
  return { observation, warnings, unknown: Object.keys(given).filter((key) => !known.has(key)) }
}

function readPosition(status: Record<string, unknown> | null | undefined): Cell | null {
  const given = status?.position
  if (given === undefined || given === null) return null
  const cell = readCell(given)
  if (cell === null) throw createInvalid('observation', ['status.position: expected [x, y]'])
  return cell
}

const activities: readonly Activity[] = ['idle', 'waiting', 'moving', 'wandering', 'interacting']

function readActivity(state: Record<string, unknown>): Activity | null {
  const word = String(state.state_name ?? state.state ?? state.state_enum ?? '').toLowerCase()
  return activities.find((one) => word.includes(one)) ?? null
}

function readCurrent(current: Record<string, unknown>): CurrentInteraction | null {
  if (Object.keys(current).length === 0) return null
  const id = text(current.interaction_id)
  const name = text(current.interaction_name) ?? text(current.name) ?? text(current.interaction_type) ?? id
  return {
    interaction_id: id,
    name: name ?? 'interaction',
    entity_id: text(current.entity_id) ?? text(current.target_id),
    fills: readStrings(current.needs_filled),
    rates: readRates(current.need_rates),
    parameters: readParameters(
      current.act_in_interaction_parameters ?? current.parameters,
    ) as InteractionParameter[],
  }
}

function readNeeds(given: Record<string, unknown>, warnings: string[]): Need[] {
  const max = numberOr(given.max_value ?? given.max_need_value, 100)
  const isUsable = max > 0
  if (!isUsable) warnings.push(`needs: maximum ${max} is not positive; replaced by 100`)
  const top = isUsable ? max : 100
  return Object.entries(asObject(given.needs)).flatMap(([name, value]): Need[] => {
    const number = typeof value === 'number' ? value : Number.NaN
    if (!Number.isFinite(number)) {
      warnings.push(`needs.${name}: not a number; ignored`)
      return []
    }
    const clamped = Math.min(top, Math.max(0, number))
    if (clamped !== number)
      warnings.push(`needs.${name}: ${number} is outside 0 to ${top}; replaced by ${clamped}`)
    return [{ name, value: clamped, max: top }]
  })
}

function readEntities(
  vision: Record<string, unknown>,
  position: Cell | null,
  limits: Limits,
  warnings: string[],
): Entity[] {
  const given = Array.isArray(vision.visible_entities) ? vision.visible_entities : []
  const entities = new Map<string, Entity>()
  for (const [index, value] of given.entries()) {
    const entity = readEntity(asObject(value), limits, warnings)
    if (entity === null) warnings.push(`vision.visible_entities.${index}: has no id; ignored`)
    else if (entities.has(entity.entity_id))
      warnings.push(`${entity.entity_id}: listed twice; the first is used`)
    else entities.set(entity.entity_id, entity)
  }
  const all = [...entities.values()]
  if (all.length <= limits.visible_entities) return all
  warnings.push(`${all.length} entities in sight; the nearest ${limits.visible_entities} are used`)
  return findNearest(all, position, limits.visible_entities)
}

function readEntity(value: Record<string, unknown>, limits: Limits, warnings: string[]): Entity | null {
  const id = text(value.entity_id) ?? text(value.name)
  if (id === null) return null
  const offered = readInteractions(value.interactions)
  if (offered.length > limits.interactions_per_entity)
    warnings.push(
      `${id}: offers ${offered.length} interactions; the first ${limits.interactions_per_entity} are used`,
    )
  const relationship = asObject(value.relationship)
  const engagement = asObject(value.current_interaction)
  return {
    entity_id: id,
    display_name: text(value.display_name) ?? text(value.name) ?? id,
    position: readCell(value.position ?? value.cell),
    interactions: offered.slice(0, limits.interactions_per_entity),
    relationship:
      Object.keys(relationship).length === 0
        ? null
        : {
            familiarity: numberOr(relationship.familiarity, 0),
            sentiment: numberOr(relationship.sentiment, 0),
          },
    engagement:
      Object.keys(engagement).length === 0
        ? null
        : {
            interaction_name: text(engagement.interaction_name) ?? '',
            participant_names: readStrings(engagement.participant_names),
            is_joinable: engagement.is_joinable !== false,
          },
  }
}

function readInteractions(value: unknown): Entity['interactions'] {
  if (Array.isArray(value))
    return value.flatMap((one) => {
      const name = typeof one === 'string' ? one : text(asObject(one).name)
      return name === null ? [] : [readInteraction(name, asObject(one))]
    })
  return Object.entries(asObject(value)).map(([name, one]) => readInteraction(name, asObject(one)))
}

function readConversation(
  value: Record<string, unknown> & { readonly interaction_id: string },
): Conversation {
  return {
    interaction_id: value.interaction_id,
    interaction_name: text(value.interaction_name) ?? 'conversation',
    participants: Array.isArray(value.participants)
      ? value.participants.flatMap((one) =>
          typeof one === 'string' ? [one] : (text(asObject(one).entity_id) ?? []),
        )
      : [],
    initiator_id: text(value.initiator_id),
    messages: readMessages(value.conversation_history),
  }
}
