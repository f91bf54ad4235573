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
  readInteraction,
  readParameters,
  readRates,
  readStrings,
  toNumberOr,
  toTextOrNull,
} from './read-interaction.ts'
import { readMessages } from './read-messages.ts'
import { createInvalidError, parseInput, requireWithinLimit } from './validation.ts'

export interface ParsedObservation {
  readonly observation: Observation
  readonly warnings: readonly string[]
  readonly unknownFields: readonly string[]
}

const sectionSchema = z.looseObject({}).nullish()
const observationSchema = z.looseObject({
  entity_id: z.string().min(1).max(256),
  current_simulation_time: z.number(),
  status: sectionSchema,
  needs: sectionSchema,
  vision: sectionSchema,
  conversations: z.array(z.looseObject({ interaction_id: z.string().min(1) })).nullish(),
})
const knownFields = new Set([...Object.keys(observationSchema.shape), 'events'])

/** Accepts alternative field names that games use. Throws `INVALID_OBSERVATION` and `LIMIT_EXCEEDED`. */
export function readObservation(value: unknown, limits: Limits): ParsedObservation {
  requireWithinLimit(
    'observation_bytes',
    Buffer.byteLength(JSON.stringify(value ?? null)),
    limits.observation_bytes,
  )
  const input = parseInput('observation', observationSchema, value)
  const { entity_id, current_simulation_time, status, needs, vision, conversations } = input
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
  return { observation, warnings, unknownFields: Object.keys(input).filter((key) => !knownFields.has(key)) }
}

function readPosition(status: Record<string, unknown> | null | undefined): Cell | null {
  const positionValue = status?.position
  if (positionValue === undefined || positionValue === null) return null
  const cell = readCell(positionValue)
  if (cell === null) throw createInvalidError('observation', ['status.position: expected [x, y]'])
  return cell
}

const activities: readonly Activity[] = ['idle', 'waiting', 'moving', 'wandering', 'interacting']

function readActivity(state: Record<string, unknown>): Activity | null {
  const stateName = String(state.state_name ?? state.state ?? state.state_enum ?? '').toLowerCase()
  return activities.find((activity) => stateName.includes(activity)) ?? null
}

function readCurrent(current: Record<string, unknown>): CurrentInteraction | null {
  if (Object.keys(current).length === 0) return null
  const id = toTextOrNull(current.interaction_id)
  const name =
    toTextOrNull(current.interaction_name) ??
    toTextOrNull(current.name) ??
    toTextOrNull(current.interaction_type) ??
    id
  return {
    interaction_id: id,
    name: name ?? 'interaction',
    entity_id: toTextOrNull(current.entity_id) ?? toTextOrNull(current.target_id),
    fills: readStrings(current.needs_filled),
    rates: readRates(current.need_rates),
    parameters: readParameters(
      current.act_in_interaction_parameters ?? current.parameters,
    ) as InteractionParameter[],
  }
}

function readNeeds(needsInput: Record<string, unknown>, warnings: string[]): Need[] {
  const max = toNumberOr(needsInput.max_value ?? needsInput.max_need_value, 100)
  const isValidMax = max > 0
  if (!isValidMax) warnings.push(`needs: maximum ${max} is not positive; replaced by 100`)
  const maxValue = isValidMax ? max : 100
  return Object.entries(asObject(needsInput.needs)).flatMap(([name, value]): Need[] => {
    const number = typeof value === 'number' ? value : Number.NaN
    if (!Number.isFinite(number)) {
      warnings.push(`needs.${name}: not a number; ignored`)
      return []
    }
    const clamped = Math.min(maxValue, Math.max(0, number))
    if (clamped !== number)
      warnings.push(`needs.${name}: ${number} is outside 0 to ${maxValue}; replaced by ${clamped}`)
    return [{ name, value: clamped, max: maxValue }]
  })
}

function readEntities(
  vision: Record<string, unknown>,
  position: Cell | null,
  limits: Limits,
  warnings: string[],
): Entity[] {
  const entityInputs = Array.isArray(vision.visible_entities) ? vision.visible_entities : []
  const entities = new Map<string, Entity>()
  for (const [index, value] of entityInputs.entries()) {
    const entity = readEntity(asObject(value), limits, warnings)
    if (entity === null) warnings.push(`vision.visible_entities.${index}: has no id; ignored`)
    else if (entities.has(entity.entity_id))
      warnings.push(`${entity.entity_id}: listed twice; the first is used`)
    else entities.set(entity.entity_id, entity)
  }
  const entityList = [...entities.values()]
  if (entityList.length <= limits.visible_entities) return entityList
  warnings.push(`${entityList.length} entities in sight; the nearest ${limits.visible_entities} are used`)
  return findNearest(entityList, position, limits.visible_entities)
}

function readEntity(value: Record<string, unknown>, limits: Limits, warnings: string[]): Entity | null {
  const id = toTextOrNull(value.entity_id) ?? toTextOrNull(value.name)
  if (id === null) return null
  const interactions = readInteractions(value.interactions)
  if (interactions.length > limits.interactions_per_entity)
    warnings.push(
      `${id}: offers ${interactions.length} interactions; the first ${limits.interactions_per_entity} are used`,
    )
  const relationship = asObject(value.relationship)
  const engagement = asObject(value.current_interaction)
  return {
    entity_id: id,
    display_name: toTextOrNull(value.display_name) ?? toTextOrNull(value.name) ?? id,
    position: readCell(value.position ?? value.cell),
    interactions: interactions.slice(0, limits.interactions_per_entity),
    relationship:
      Object.keys(relationship).length === 0
        ? null
        : {
            familiarity: toNumberOr(relationship.familiarity, 0),
            sentiment: toNumberOr(relationship.sentiment, 0),
          },
    engagement:
      Object.keys(engagement).length === 0
        ? null
        : {
            interaction_name: toTextOrNull(engagement.interaction_name) ?? '',
            participant_names: readStrings(engagement.participant_names),
            is_joinable: engagement.is_joinable !== false,
          },
  }
}

function readInteractions(value: unknown): Entity['interactions'] {
  if (Array.isArray(value))
    return value.flatMap((interaction) => {
      const name = typeof interaction === 'string' ? interaction : toTextOrNull(asObject(interaction).name)
      return name === null ? [] : [readInteraction(name, asObject(interaction))]
    })
  return Object.entries(asObject(value)).map(([name, interaction]) =>
    readInteraction(name, asObject(interaction)),
  )
}

function readConversation(
  value: Record<string, unknown> & { readonly interaction_id: string },
): Conversation {
  return {
    interaction_id: value.interaction_id,
    interaction_name: toTextOrNull(value.interaction_name) ?? 'conversation',
    participants: Array.isArray(value.participants)
      ? value.participants.flatMap((participant) =>
          typeof participant === 'string'
            ? [participant]
            : (toTextOrNull(asObject(participant).entity_id) ?? []),
        )
      : [],
    initiator_id: toTextOrNull(value.initiator_id),
    messages: readMessages(value.conversation_history),
  }
}
