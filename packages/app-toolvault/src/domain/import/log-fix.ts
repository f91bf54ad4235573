import { formatTime } from '@causeway/app-kit/time'
import type { Feature } from '@causeway/plot'
import { ToolVaultError } from '../../errors.ts'
import { maxFixes } from '../track/resampling.ts'
import type { SkipCounter } from './import-report.ts'

export interface LogFix {
  /** Unix milliseconds. */
  readonly time: number | null
  readonly lon: number
  readonly lat: number
  readonly speed_kn: number | null
  readonly course_deg: number | null
  /** Metres, negative below the surface. */
  readonly elevation_m: number | null
  /** Line in the file, from 1. */
  readonly line: number | null
}

export interface FeatureOptions {
  readonly id: string
  readonly name: string
  readonly source: string
  /** Minimum time after the previous imported fix. */
  readonly min_interval_s?: number | undefined
  readonly properties?: Feature['properties']
  readonly skipped: SkipCounter
}

/** Throws `IMPORT_TOO_LARGE`. */
export function addFix(fixes: LogFix[], fix: LogFix): void {
  if (fixes.length >= maxFixes)
    throw new ToolVaultError(
      'IMPORT_TOO_LARGE',
      `the log has more than ${maxFixes} positions of one vessel`,
      {
        data: { most: maxFixes },
      },
    )
  fixes.push(fix)
}

/** Sorts fixes by time and removes those that follow too soon. Returns the fixes unchanged if a time is missing. */
function sortFixes(fixes: readonly LogFix[], { min_interval_s = 0, skipped }: FeatureOptions): LogFix[] {
  if (fixes.some(({ time }) => time === null)) return [...fixes]
  const sorted = fixes.toSorted((a, b) => (a.time ?? 0) - (b.time ?? 0))
  let lastTime = Number.NEGATIVE_INFINITY
  return sorted.filter(({ time, line }) => {
    const elapsedMs = (time ?? 0) - lastTime
    if (elapsedMs <= 0) skipped.add('another position has the same time', line)
    else if (elapsedMs < min_interval_s * 1000) skipped.add('closer in time than min_interval_s', line)
    else lastTime = time ?? 0
    return lastTime === time && elapsedMs > 0
  })
}

/** Returns a track, a point for a single fix, or `undefined` for an empty log. */
export function toFeature(unsortedFixes: readonly LogFix[], options: FeatureOptions): Feature | undefined {
  const fixes = sortFixes(unsortedFixes, options)
  const [first] = fixes
  if (first === undefined) return undefined
  return fixes.length === 1 ? createPoint(first, options) : createTrack([fixes], options)
}

/**
 * Returns one track with all segments, or one per segment if times overlap or are missing. A segment with a single fix
 * becomes a point.
 */
export function toSegmentFeatures(
  segments: readonly (readonly LogFix[])[],
  options: FeatureOptions & { readonly newId: () => string },
): Feature[] {
  const sortedSegments = segments
    .map((segment) => sortFixes(segment, options))
    .filter(({ length }) => length > 0)
  const points = sortedSegments.flatMap(([first, second]) =>
    first !== undefined && second === undefined ? [first] : [],
  )
  const lines = sortedSegments.filter(({ length }) => length > 1)
  const isSequence = lines.every((line, index) => {
    const previousEnd = lines[index - 1]?.at(-1)?.time
    return index === 0 || (typeof previousEnd === 'number' && (line[0]?.time ?? previousEnd) > previousEnd)
  })
  const tracks = isSequence ? [lines] : lines.map((line) => [line])
  return [
    ...tracks
      .filter(({ length }) => length > 0)
      .map((parts) => createTrack(parts, { ...options, id: options.newId() })),
    ...points.map((point) => createPoint(point, { ...options, id: options.newId() })),
  ]
}

const createPoint = (fix: LogFix, { id, name, source, properties }: FeatureOptions): Feature => ({
  type: 'Feature',
  id,
  geometry: { type: 'Point', coordinates: toCoordinates(fix) },
  properties: {
    dataType: 'reference-point',
    name,
    ...(fix.time === null ? {} : { time: formatTime(fix.time) }),
    source,
    ...properties,
  },
})

function createTrack(
  parts: readonly (readonly LogFix[])[],
  { id, name, source, properties }: FeatureOptions,
): Feature {
  const fixes = parts.flat()
  const lines = parts.map((part) => part.map(toCoordinates))
  const isTimed = fixes.every(({ time }) => time !== null)
  return {
    type: 'Feature',
    id,
    geometry:
      lines.length === 1
        ? { type: 'LineString', coordinates: lines[0] ?? [] }
        : { type: 'MultiLineString', coordinates: lines },
    properties: {
      dataType: 'track',
      name,
      ...(isTimed ? { timestamps: fixes.map(({ time }) => formatTime(time ?? 0)) } : {}),
      ...(fixes.some(({ speed_kn }) => speed_kn !== null)
        ? { speeds: fixes.map(({ speed_kn }) => speed_kn) }
        : {}),
      ...(fixes.some(({ course_deg }) => course_deg !== null)
        ? { courses: fixes.map(({ course_deg }) => course_deg) }
        : {}),
      source,
      ...properties,
    },
  }
}

const toCoordinates = ({ lon, lat, elevation_m }: LogFix): readonly number[] =>
  elevation_m === null ? [lon, lat] : [lon, lat, elevation_m]
