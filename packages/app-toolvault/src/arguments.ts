/** Arguments that several tools share. Features are described coarsely: a model pays for every byte of a listing. */
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { type Feature, readFeatures } from './domain/feature.ts'
import { readTimedTrack, type TimedTrack } from './domain/track.ts'
import type { Injection } from './vault-tool.ts'

const object = () => z.record(z.string(), z.unknown())

/** Features; optional because a plot can give them. */
export const featuresArgument = (about: string) =>
  z.array(object()).optional().describe(`${about}; default: the selection`)

export const collectionArgument = () =>
  z
    .object({ type: z.literal('FeatureCollection'), features: z.array(object()) })
    .optional()
    .describe('GeoJSON; default: the selected features of the plot, or all')

export const trackArgument = () =>
  object().optional().describe('track feature with timestamps; default: the selected track, or the first')

export const viewportArgument = () =>
  z
    .object({ bounds: z.array(z.number()).length(4) })
    .optional()
    .describe('[west, south, east, north], degrees; default: of the plot')

export const timeArgument = () =>
  z
    .object({ current: z.string(), start: z.string(), end: z.string() })
    .optional()
    .describe('ISO 8601; default: of the plot')

/** Selected features of any kind. */
export const anySelected = (min = 1, max: number | null = null): Injection => ({
  from: 'selection',
  kinds: ['any'],
  min,
  max,
})

/** Selected tracks. */
export const selectedTracks = (min = 1, max: number | null = null): Injection => ({
  from: 'selection',
  kinds: ['track'],
  min,
  max,
})

/** An argument that a plot would have filled in; throws `FEATURES_NEEDED` without it. */
export function needed<T>(value: T | undefined, argument: string): T {
  if (value !== undefined) return value
  throw new CausewayError('FEATURES_NEEDED', `nothing to work on: ${argument} is missing`, {
    data: { argument },
  })
}

/** The features of a list argument. */
export const features = (value: readonly unknown[] | undefined, argument = 'features'): readonly Feature[] =>
  readFeatures(needed(value, argument), argument)

/** The features of a collection argument. */
export const collected = (
  value: { readonly features: readonly unknown[] } | undefined,
  argument = 'feature_collection',
): readonly Feature[] => readFeatures(needed(value, argument).features, `${argument}.features`)

/** The one track of a track argument. */
export function timedTrack(value: unknown, argument = 'track_feature'): TimedTrack {
  const [feature] = readFeatures([needed(value, argument)], argument)
  return readTimedTrack(needed(feature, argument))
}

/** The tracks of a list argument: what is no track is refused, at least `min` are needed. */
export function timedTracks(
  value: readonly unknown[] | undefined,
  { argument = 'tracks', min = 1 }: { argument?: string; min?: number } = {},
): readonly TimedTrack[] {
  const all = features(value, argument)
  if (all.length < min)
    throw new CausewayError('FEATURES_NEEDED', `${argument}: ${min} tracks are needed, ${all.length} given`, {
      data: { argument, needed: min, given: all.length },
    })
  return all.map(readTimedTrack)
}
