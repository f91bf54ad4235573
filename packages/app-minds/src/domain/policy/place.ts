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
  known: Places,
  observation: Observation,
  { sure_sight }: PolicyConstants,
): { places: Places; seen: readonly Place[] } {
  const { entities, time, position, entity_id } = observation
  if (entities === null) return { places: known, seen: [] }
  const seen = entities
    .filter((entity) => entity.entity_id !== entity_id && entity.interactions.length > 0)
    .map((entity) => makePlace(known.get(entity.entity_id), entity, time))
  const inSight = new Set(entities.map((entity) => entity.entity_id))
  const reach = Math.max(sure_sight, findSightRange(position, entities))
  const missing = [...known.values()].filter(
    (place) =>
      !place.gone &&
      !inSight.has(place.entity_id) &&
      position !== null &&
      place.position !== null &&
      computeManhattanDistance(position, place.position) <= reach,
  )
  const changed = [...seen, ...missing.map((place) => ({ ...place, gone: true }))]
  const places = new Map(known)
  for (const place of changed) places.set(place.entity_id, place)
  return { places, seen: changed }
}

function findSightRange(position: Cell | null, entities: readonly Entity[]): number {
  const far = entities.map((entity) =>
    position === null || entity.position === null ? 0 : computeManhattanDistance(position, entity.position),
  )
  return Math.max(0, ...far)
}

function makePlace(known: Place | undefined, entity: Entity, time: number): Place {
  const isBusy = entity.engagement !== null && !entity.engagement.is_joinable
  const refusedAt = (name: string): number | null =>
    known?.interactions.find((one) => one.name === name)?.refused_at ?? null
  return {
    entity_id: entity.entity_id,
    display_name: entity.display_name,
    position: entity.position ?? known?.position ?? null,
    interactions: entity.interactions.map((one) => ({ ...one, refused_at: refusedAt(one.name) })),
    first_seen: known?.first_seen ?? time,
    last_seen: time,
    last_busy: isBusy ? time : (known?.last_busy ?? null),
    last_refused: known?.last_refused ?? null,
    gone: false,
  }
}

export const markRefused = (place: Place, interaction: string, time: number): Place => ({
  ...place,
  last_refused: time,
  interactions: place.interactions.map((one) =>
    one.name === interaction ? { ...one, refused_at: time } : one,
  ),
})

/** Future times, which a loaded save can contain, are not recent. */
export const isRecent = (since: number | null, time: number, cooldown: number): boolean =>
  since !== null && time >= since && time - since < cooldown
