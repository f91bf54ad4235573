import { formatTime, parseTime } from '@causeway/app-kit/time'
import { type Feature, getGeometryType, getLabel, type Position } from '@causeway/plot'
import { isObject } from '@causeway/protocol'
import { yard } from '../import/rep-annotation.ts'
import { isTrack } from '../track/track.ts'
import { listVertexParts, type Vertex } from './export-format.ts'

type Written = { readonly text: string } | { readonly reason: string }

export function writeRepFeature(feature: Feature): Written {
  const parts = listVertexParts(feature)
  if (isTrack(feature)) return writeTrack(feature, parts.flat())
  const { specifics, time } = feature.properties
  const shape = isObject(specifics) ? specifics : {}
  const text = toText(feature)
  const at = parseTime(time)
  if (shape.shapeType === 'narrative' && at !== undefined)
    return { text: `;NARRATIVE: ${toDtg(at)} ${toName(String(shape.track ?? 'UNKNOWN'))} ${text}\n` }
  const places = parts.map((part) => part.map(({ position }) => toAngles(position)))
  const [first = []] = places
  switch (getGeometryType(feature)) {
    case 'Point':
      return {
        text:
          at === undefined
            ? `;TEXT: @@ ${first[0]} ${text}\n`
            : `;TIMETEXT: @@ ${toDtg(at)} ${first[0]} ${text}\n`,
      }
    case 'LineString':
      if (shape.shapeType === 'sensor' && at !== undefined)
        return writeSensor(shape, at, first[0] ?? '', text)
      return { text: `;${first.length === 2 ? 'LINE' : 'POLYLINE'}: @@ ${first.join(' ')} ${text}\n` }
    case 'Polygon':
      if (shape.shapeType === 'circle' && Array.isArray(shape.origin) && typeof shape.radiusM === 'number')
        return {
          text: `;CIRCLE: @@ ${toAngles(shape.origin as Position)} ${round(shape.radiusM / yard, 3)} ${text}\n`,
        }
      if (shape.shapeType === 'ellipse' && Array.isArray(shape.origin) && at !== undefined)
        return writeEllipse(shape, at, text)
      if (places.length > 1) return { reason: 'REP has no areas with holes' }
      // REP files do not repeat the first vertex of a ring.
      return { text: `;POLY: @@ ${first.slice(0, -1).join(' ')} ${text}\n` }
    default:
      return { reason: places.length === 0 ? 'it has no geometry' : 'REP has no features of several parts' }
  }
}

function writeTrack(feature: Feature, vertices: readonly Vertex[]): Written {
  if (vertices.length === 0 || vertices.some(({ time }) => time === undefined))
    return { reason: 'a REP track requires timestamps' }
  const name = toName(getLabel(feature))
  const lines = vertices.map(({ position, time = 0, speed_kn, course_deg }) => {
    const depth = position[2] === undefined ? 'NaN' : round(-position[2], 3)
    return `${toDtg(time)} ${name} @A ${toAngles(position)} ${course_deg ?? 'NaN'} ${speed_kn ?? 'NaN'} ${depth}\n`
  })
  return { text: lines.join('') }
}

function writeSensor(
  shape: Readonly<Record<string, unknown>>,
  at: number,
  place: string,
  text: string,
): Written {
  const range = typeof shape.range_m === 'number' ? round(shape.range_m / yard, 3) : 'NULL'
  const [track, sensor] = [shape.track, shape.sensor].map((name) => toName(String(name ?? 'UNKNOWN')))
  return {
    text: `;SENSOR: ${toDtg(at)} ${track} @@ ${place} ${shape.bearing_deg} ${range} ${sensor} ${text}\n`,
  }
}

function writeEllipse(shape: Readonly<Record<string, unknown>>, at: number, text: string): Written {
  const [major, minor] = [shape.semiMajorM, shape.semiMinorM].map((metres) => round(Number(metres) / yard, 3))
  return {
    text: `;ELLIPSE: @@ ${toDtg(at)} ${toAngles(shape.origin as Position)} ${shape.orientation_deg} ${major} ${minor} ${text}\n`,
  }
}

function toName(name: string): string {
  const clean = name.replace(/["\s]+/g, ' ').trim()
  return /^\S+$/.test(clean) ? clean : `"${clean}"`
}

const toText = (feature: Feature): string => getLabel(feature).replace(/\s+/g, ' ').trim()

const round = (value: number, digits: number): number => Number(value.toFixed(digits))

/** Formats a time as `YYYYMMDD HHMMSS.SSS`, because two-digit years would be ambiguous. */
function toDtg(time: number): string {
  const [date = '', clock = ''] = formatTime(time).split('T')
  return `${date.replaceAll('-', '')} ${clock.slice(0, -1).replaceAll(':', '')}`
}

const toAngles = ([lon = 0, lat = 0]: Position): string => `${toAngle(lat, 'NS')} ${toAngle(lon, 'EW')}`

/** A unit is 0.00001 arc seconds, about 0.3 mm. */
const unitsPerDegree = 3600 * 1e5

function toAngle(degrees: number, hemispheres: string): string {
  const units = Math.round(Math.abs(degrees) * unitsPerDegree)
  const [whole, minutes] = [
    Math.floor(units / unitsPerDegree),
    Math.floor(units / (unitsPerDegree / 60)) % 60,
  ]
  const seconds = (units % (unitsPerDegree / 60)) / 1e5
  return `${whole} ${minutes} ${seconds} ${hemispheres[degrees < 0 ? 1 : 0]}`
}
