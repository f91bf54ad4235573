import { parseTime } from '@causeway/app-kit/time'
import type { Feature, Injection } from '@causeway/plot'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { readFeatures } from '../domain/feature/read-features.ts'
import { readTimedTrack, type TimedTrack } from '../domain/track/track.ts'
import { ToolVaultError } from '../errors.ts'

// A strict schema would exceed the limit of 25 kB for a listing. `readFeatures` validates the features.
const createObjectSchema = () => z.record(z.string(), z.unknown())

export const createFeaturesArgument = (about: string) =>
  z.array(createObjectSchema()).optional().describe(`${about}. Default in run_tool: selected ones`)

export const createCollectionArgument = () =>
  z
    .object({ type: z.literal('FeatureCollection'), features: z.array(createObjectSchema()) })
    .optional()
    .describe('GeoJSON. Default in run_tool: the selected features, or else all')

export const createTrackArgument = () =>
  createObjectSchema()
    .optional()
    .describe('Track with timestamps. Default in run_tool: the selected track, or else the first')

export const createViewportArgument = () =>
  z
    .object({ bounds: z.array(z.number()).length(4) })
    .optional()
    .describe(
      '{bounds: [west, south, east, north]} in degrees. Default in run_tool: the viewport of the plot',
    )

export const createTimeArgument = () =>
  z
    .object({ current: z.string(), start: z.string(), end: z.string() })
    .optional()
    .describe('{current, start, end}, ISO 8601. Default in run_tool: the time of the plot')

export const injectSelectedFeatures = (min = 1, max: number | null = null): Injection => ({
  from: 'selection',
  kinds: ['any'],
  min,
  max,
})

export const injectSelectedTracks = (min = 1, max: number | null = null): Injection => ({
  from: 'selection',
  kinds: ['track'],
  min,
  max,
})

/** Throws `FEATURES_NEEDED` if neither the caller nor a plot provided the argument. */
export function requireArgument<T>(value: T | undefined, argument: string): T {
  if (value !== undefined) return value
  throw new ToolVaultError('FEATURES_NEEDED', `${argument} is missing`, { data: { argument } })
}

export const requireFeatures = (
  value: readonly unknown[] | undefined,
  argument = 'features',
): readonly Feature[] => readFeatures(requireArgument(value, argument), argument)

export const requireCollection = (
  value: { readonly features: readonly unknown[] } | undefined,
): readonly Feature[] =>
  readFeatures(requireArgument(value, 'feature_collection').features, 'feature_collection.features')

export function requireTrack(value: unknown): TimedTrack {
  const argument = 'track_feature'
  const [feature] = readFeatures([requireArgument(value, argument)], argument)
  return readTimedTrack(requireArgument(feature, argument))
}

export function requireTracks(value: readonly unknown[] | undefined, min = 1): readonly TimedTrack[] {
  const features = requireFeatures(value, 'tracks')
  if (features.length < min)
    throw new ToolVaultError('FEATURES_NEEDED', `tracks: ${min} are required, ${features.length} given`, {
      data: { argument: 'tracks', needed: min, given: features.length },
    })
  return features.map(readTimedTrack)
}

/** Returns the time in Unix milliseconds. Throws `INVALID_ARGUMENTS`. */
export function readTime(argument: string, text: string): number {
  const time = parseTime(text)
  if (time !== undefined) return time
  throw new CausewayError('INVALID_ARGUMENTS', `${argument} is not an ISO 8601 time: ${text}`, {
    data: { problems: [{ argument, problem: 'is not an ISO 8601 time' }] },
  })
}
