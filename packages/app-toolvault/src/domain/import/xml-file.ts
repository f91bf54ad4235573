/** GPX 1.0 and 1.1, and KML with its tracks of times: tracks, routes, points and areas as features of a plot. */

import { parseTime } from '@causeway/app-kit/time'
import { CausewayError } from '@causeway/protocol'
import { gpxGen, kmlGen } from '@tmcw/togeojson'
import type { DebriefCommand } from '../command.ts'
import type { Feature, Position } from '../feature.ts'
import { mostFixes } from '../resampling.ts'
import { importAnswer, type Skipped, skipping } from './import-answer.ts'
import { featureOf, type LogFix } from './log-fix.ts'
import { XmlDocumentParser } from './xml-document.ts'

const readers = { GPX: gpxGen, KML: kmlGen } as const

/** Most features of an import. */
const maxFeatures = 100_000

/** What the file does not say itself. */
export interface XmlOptions {
  readonly format: keyof typeof readers
  readonly min_interval_s: number | undefined
  newId(prefix: string): string
}

/** Reads a file; parses each line as it comes and converts the document at its end. */
export function xmlFile(options: XmlOptions) {
  const { format } = options
  const parser = new XmlDocumentParser(format)
  let lines = 0
  return {
    take(line: string): void {
      lines++
      parser.write(`${line}\n`)
    },
    finish(): DebriefCommand {
      const skipped = skipping()
      // The readers use no more of the DOM than an XmlElement has.
      const document = parser.close() as unknown as Parameters<typeof gpxGen>[0]
      const features: Feature[] = []
      for (const { geometry, properties } of readers[format](document)) {
        for (const part of simple(geometry))
          features.push(...featuresOf(part, properties ?? {}, { ...options, skipped }))
        if (features.length > maxFeatures)
          throw new CausewayError(
            'IMPORT_TOO_LARGE',
            `the ${format} document has more than ${maxFeatures} features`,
            {
              data: { max: maxFeatures },
            },
          )
      }
      return importAnswer({ format, features, lines, skipped })
    },
  }
}

type Simple = Exclude<GeoJSON.Geometry, GeoJSON.GeometryCollection>

function simple(geometry: GeoJSON.Geometry | null): readonly Simple[] {
  if (geometry === null) return []
  return geometry.type === 'GeometryCollection' ? geometry.geometries.flatMap(simple) : [geometry]
}

interface Making extends XmlOptions {
  readonly skipped: Skipped
}

function featuresOf(
  geometry: Simple,
  properties: Readonly<Record<string, unknown>>,
  making: Making,
): Feature[] {
  const { format, newId, min_interval_s } = making
  const name = typeof properties.name === 'string' ? properties.name : `${format} ${geometry.type}`
  const times = timesIn(properties)
  switch (geometry.type) {
    case 'LineString':
    case 'MultiLineString': {
      const parts = geometry.type === 'LineString' ? [geometry.coordinates] : geometry.coordinates
      const fixes = fixesOf(parts.flat(), times, making.skipped)
      const feature = featureOf(fixes, { id: newId('track'), name, source: format, min_interval_s })
      return feature === undefined ? [] : [feature]
    }
    case 'Point':
    case 'MultiPoint': {
      const points = geometry.type === 'Point' ? [geometry.coordinates] : geometry.coordinates
      const time = parseTime(properties.time ?? properties.timestamp) ?? null
      return points.flatMap((point) => {
        const feature = featureOf(fixesOf([point], time === null ? [] : [time], making.skipped), {
          id: newId('point'),
          name,
          source: format,
        })
        return feature === undefined ? [] : [feature]
      })
    }
    default:
      return [
        {
          type: 'Feature',
          id: newId('area'),
          geometry,
          properties: { dataType: 'annotation', annotationType: 'area', name, source: format },
        },
      ]
  }
}

/** Times of all vertices, over all parts; a vertex without one makes the track one without times. */
function fixesOf(
  positions: readonly Position[],
  times: readonly (number | undefined)[],
  skipped: Skipped,
): LogFix[] {
  if (positions.length > mostFixes)
    throw new CausewayError('IMPORT_TOO_LARGE', `a track has more than ${mostFixes} positions`, {
      data: { most: mostFixes },
    })
  const isTimed = times.length === positions.length && times.every((time) => time !== undefined)
  if (times.length > 0 && !isTimed) skipped.add('times of a track that has them not at every point')
  return positions.flatMap(([lon = Number.NaN, lat = Number.NaN, elevation], index): LogFix[] => {
    if (!(Math.abs(lon) <= 180 && Math.abs(lat) <= 90)) {
      skipped.add('position out of range')
      return []
    }
    return [
      {
        time: isTimed ? (times[index] ?? null) : null,
        lon,
        lat,
        speed_kn: null,
        course_deg: null,
        elevation_m: elevation ?? null,
      },
    ]
  })
}

function timesIn({ coordinateProperties }: Readonly<Record<string, unknown>>): (number | undefined)[] {
  const { times } = (coordinateProperties ?? {}) as { times?: unknown }
  return Array.isArray(times) ? times.flat().map((time) => parseTime(time)) : []
}
