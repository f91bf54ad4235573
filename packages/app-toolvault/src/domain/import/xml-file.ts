import { parseTime } from '@causeway/app-kit/time'
import type { DebriefCommand, Feature, Position } from '@causeway/plot'
import { gpxGen, kmlGen } from '@tmcw/togeojson'
import { ToolVaultError } from '../../errors.ts'
import { maxFixes } from '../track/resampling.ts'
import { reportImport, SkipCounter } from './import-report.ts'
import { type LogFix, toFeature, toSegmentFeatures } from './log-fix.ts'
import { XmlDocumentParser } from './xml-document.ts'
import { XmlPositions } from './xml-positions.ts'

const readers = { GPX: gpxGen, KML: kmlGen } as const

const maxFeatures = 100_000

interface XmlOptions {
  readonly format: keyof typeof readers
  readonly min_interval_s: number | undefined
  newId(prefix: string): string
}

/** Reads GPX 1.0 and 1.1, and KML, including timed tracks. */
export class XmlFileReader {
  readonly #options: XmlOptions
  readonly #parser: XmlDocumentParser
  readonly #skipped = new SkipCounter()
  #lineCount = 0

  constructor(options: XmlOptions) {
    this.#options = options
    this.#parser = new XmlDocumentParser(options.format, { positions: new XmlPositions(this.#skipped) })
  }

  readLine(line: string): void {
    this.#lineCount++
    this.#parser.write(`${line}\n`)
  }

  finish(): DebriefCommand {
    const { format } = this.#options
    const skipped = this.#skipped
    // The readers use only those parts of the DOM that `XmlElement` implements.
    const document = this.#parser.close() as unknown as Parameters<typeof gpxGen>[0]
    const features: Feature[] = []
    for (const { geometry, properties } of readers[format](document)) {
      for (const part of flattenGeometry(geometry))
        features.push(...convertGeometry(part, properties ?? {}, { ...this.#options, skipped }))
      if (features.length > maxFeatures)
        throw new ToolVaultError(
          'IMPORT_TOO_LARGE',
          `the ${format} document has more than ${maxFeatures} features`,
          {
            data: { max: maxFeatures },
          },
        )
    }
    return reportImport({ format, features, lines: this.#lineCount, skipped })
  }
}

type SimpleGeometry = Exclude<GeoJSON.Geometry, GeoJSON.GeometryCollection>

function flattenGeometry(geometry: GeoJSON.Geometry | null): readonly SimpleGeometry[] {
  if (geometry === null) return []
  return geometry.type === 'GeometryCollection' ? geometry.geometries.flatMap(flattenGeometry) : [geometry]
}

interface ConversionOptions extends XmlOptions {
  readonly skipped: SkipCounter
}

function convertGeometry(
  geometry: SimpleGeometry,
  properties: Feature['properties'],
  options: ConversionOptions,
): Feature[] {
  const { format, newId, min_interval_s, skipped } = options
  const name = typeof properties.name === 'string' ? properties.name : `${format} ${geometry.type}`
  const times = readTimes(properties)
  switch (geometry.type) {
    case 'LineString':
    case 'MultiLineString': {
      const parts = geometry.type === 'LineString' ? [geometry.coordinates] : geometry.coordinates
      const fixes = toFixes(parts, times, skipped)
      const segmentOptions = {
        id: '',
        newId: () => newId('track'),
        name,
        source: format,
        min_interval_s,
        skipped,
      }
      return toSegmentFeatures(fixes, segmentOptions)
    }
    case 'Point':
    case 'MultiPoint': {
      const points = geometry.type === 'Point' ? [geometry.coordinates] : geometry.coordinates
      const time = parseTime(properties.time ?? properties.timestamp) ?? null
      return points.flatMap((point) => {
        const [fixes = []] = toFixes([[point]], time === null ? [] : [time], skipped)
        return toFeature(fixes, { id: newId('point'), name, source: format, skipped }) ?? []
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

/** Returns the fixes of each part. Omits all times if any is missing, and positions that are out of range. */
function toFixes(
  parts: readonly (readonly Position[])[],
  times: readonly (number | undefined)[],
  skipped: SkipCounter,
): LogFix[][] {
  const count = parts.reduce((sum, part) => sum + part.length, 0)
  if (count > maxFixes)
    throw new ToolVaultError('IMPORT_TOO_LARGE', `a track has more than ${maxFixes} positions`, {
      data: { most: maxFixes },
    })
  const isTimed = times.length === count && times.every((time) => time !== undefined)
  if (times.length > 0 && !isTimed) skipped.add('times of a track without a time at every point', null)
  let vertex = 0
  return parts.map((part) =>
    part.flatMap(([lon = Number.NaN, lat = Number.NaN, elevation]): LogFix[] => {
      const time = isTimed ? (times[vertex++] ?? null) : null
      if (!(Math.abs(lon) <= 180 && Math.abs(lat) <= 90)) return []
      return [
        { time, lon, lat, speed_kn: null, course_deg: null, elevation_m: elevation ?? null, line: null },
      ]
    }),
  )
}

function readTimes({ coordinateProperties }: Feature['properties']): (number | undefined)[] {
  const { times } = (coordinateProperties ?? {}) as { times?: unknown }
  return Array.isArray(times) ? times.flat().map((time) => parseTime(time)) : []
}
