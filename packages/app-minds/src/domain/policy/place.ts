import { z } from 'zod'
import {
  type Cell,
  cellSchema,
  computeManhattanDistance,
  type Entity,
  interactionSchema,
  nameSchema,
  type Observation,
} from '../observation.ts'
import type { PolicyConstants } from './constants.ts'

/** Times are game minutes. */
export const placeSchema = z.strictObject({
  entity_id: nameSchema,
  display_name: z.string(),
  position: cellSchema.nullable(),
  interactions: z.array(interactionSchema.extend({ refused_at: z.int().nullable() })).readonly(),
  first_seen: z.int(),
  last_seen: z.int(),
  last_busy: z.int().nullable(),
  last_refused: z.int().nullable(),
  /** Whether the entity was missing at its last position. */
  gone: z.boolean(),
})
export type Place = Readonly<z.output<typeof placeSchema>>

export type Places = ReadonlyMap<string, Place>

export function updatePlaces(
  knownPlaces: Places,
  observation: Observation,
  { sure_sight }: PolicyConstants,
): { places: Places; changedPlaces: readonly Place[] } {
  const { entities, time, position, entity_id } = observation
  if (entities === null) return { places: knownPlaces, changedPlaces: [] }
  const visiblePlaces = entities
    .filter((entity) => entity.entity_id !== entity_id && entity.interactions.length > 0)
    .map((entity) => makePlace(knownPlaces.get(entity.entity_id), entity, time))
  const visibleIds = new Set(entities.map((entity) => entity.entity_id))
  const sightRange = Math.max(sure_sight, findSightRange(position, entities))
  const missingPlaces = [...knownPlaces.values()].filter(
    (place) =>
      !place.gone &&
      !visibleIds.has(place.entity_id) &&
      position !== null &&
      place.position !== null &&
      computeManhattanDistance(position, place.position) <= sightRange,
  )
  const changedPlaces = [...visiblePlaces, ...missingPlaces.map((place) => ({ ...place, gone: true }))]
  const places = new Map(knownPlaces)
  for (const place of changedPlaces) places.set(place.entity_id, place)
  return { places, changedPlaces }
}

function findSightRange(position: Cell | null, entities: readonly Entity[]): number {
  const distances = entities.map((entity) =>
    position === null || entity.position === null ? 0 : computeManhattanDistance(position, entity.position),
  )
  return Math.max(0, ...distances)
}

function makePlace(previous: Place | undefined, entity: Entity, time: number): Place {
  const isBusy = entity.engagement !== null && !entity.engagement.is_joinable
  const getRefusedAt = (name: string): number | null =>
    previous?.interactions.find((interaction) => interaction.name === name)?.refused_at ?? null
  return {
    entity_id: entity.entity_id,
    display_name: entity.display_name,
    position: entity.position ?? previous?.position ?? null,
    interactions: entity.interactions.map((interaction) => ({
      ...interaction,
      refused_at: getRefusedAt(interaction.name),
    })),
    first_seen: previous?.first_seen ?? time,
    last_seen: time,
    last_busy: isBusy ? time : (previous?.last_busy ?? null),
    last_refused: previous?.last_refused ?? null,
    gone: false,
  }
}

export const markRefused = (place: Place, interactionName: string, time: number): Place => ({
  ...place,
  last_refused: time,
  interactions: place.interactions.map((interaction) =>
    interaction.name === interactionName ? { ...interaction, refused_at: time } : interaction,
  ),
})

/** Returns `false` for future times, which a loaded save can contain. */
export const isRecent = (startTime: number | null, time: number, cooldown: number): boolean =>
  startTime !== null && time >= startTime && time - startTime < cooldown
