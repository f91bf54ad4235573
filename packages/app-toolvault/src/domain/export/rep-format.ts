import { formatTime, parseTime } from '@causeway/app-kit/time'
import { type Feature, getGeometryType, getLabel, type Position } from '@causeway/plot'
import { isObject } from '@causeway/protocol'
import { metresPerYard } from '../import/rep-annotation.ts'
import { roundTo } from '../table.ts'
import { isTrack } from '../track/track.ts'
import { listVertexParts, type Vertex } from './export-format.ts'

type WriteResult = { readonly text: string } | { readonly reason: string }

export function writeRepFeature(feature: Feature): WriteResult {
  const parts = listVertexParts(feature)
  if (isTrack(feature)) return writeTrack(feature, parts.flat())
  const { specifics, time: isoTime } = feature.properties
  const shape = isObject(specifics) ? specifics : {}
  const text = toLabelText(feature)
  const time = parseTime(isoTime)
  if (shape.shapeType === 'narrative' && time !== undefined)
    return { text: `;NARRATIVE: ${toDtg(time)} ${toName(String(shape.track ?? 'UNKNOWN'))} ${text}\n` }
  const coordinateTexts = parts.map((part) => part.map(({ position }) => toAngles(position)))
  const [firstPart = []] = coordinateTexts
  switch (getGeometryType(feature)) {
    case 'Point':
      return {
        text:
          time === undefined
            ? `;TEXT: @@ ${firstPart[0]} ${text}\n`
            : `;TIMETEXT: @@ ${toDtg(time)} ${firstPart[0]} ${text}\n`,
      }
    case 'LineString':
      if (shape.shapeType === 'sensor' && time !== undefined)
        return writeSensor(shape, time, firstPart[0] ?? '', text)
      return { text: `;${firstPart.length === 2 ? 'LINE' : 'POLYLINE'}: @@ ${firstPart.join(' ')} ${text}\n` }
    case 'Polygon':
      if (shape.shapeType === 'circle' && Array.isArray(shape.origin) && typeof shape.radiusM === 'number')
        return {
          text: `;CIRCLE: @@ ${toAngles(shape.origin as Position)} ${roundTo(shape.radiusM / metresPerYard, 3)} ${text}\n`,
        }
      if (shape.shapeType === 'ellipse' && Array.isArray(shape.origin) && time !== undefined)
        return writeEllipse(shape, time, text)
      if (coordinateTexts.length > 1) return { reason: 'REP has no areas with holes' }
      // REP files do not repeat the first vertex of a ring.
      return { text: `;POLY: @@ ${firstPart.slice(0, -1).join(' ')} ${text}\n` }
    default:
      return {
        reason: coordinateTexts.length === 0 ? 'it has no geometry' : 'REP has no features of several parts',
      }
  }
}

function writeTrack(feature: Feature, vertices: readonly Vertex[]): WriteResult {
  if (vertices.length === 0 || vertices.some(({ time }) => time === undefined))
    return { reason: 'a REP track requires timestamps' }
  const name = toName(getLabel(feature))
  const lines = vertices.map(({ position, time = 0, speed_kn, course_deg }) => {
    const depth = position[2] === undefined ? 'NaN' : roundTo(-position[2], 3)
    return `${toDtg(time)} ${name} @A ${toAngles(position)} ${course_deg ?? 'NaN'} ${speed_kn ?? 'NaN'} ${depth}\n`
  })
  return { text: lines.join('') }
}

function writeSensor(
  shape: Readonly<Record<string, unknown>>,
  time: number,
  positionText: string,
  text: string,
): WriteResult {
  const range = typeof shape.range_m === 'number' ? roundTo(shape.range_m / metresPerYard, 3) : 'NULL'
  const [track, sensor] = [shape.track, shape.sensor].map((name) => toName(String(name ?? 'UNKNOWN')))
  return {
    text: `;SENSOR: ${toDtg(time)} ${track} @@ ${positionText} ${shape.bearing_deg} ${range} ${sensor} ${text}\n`,
  }
}

function writeEllipse(shape: Readonly<Record<string, unknown>>, time: number, text: string): WriteResult {
  const [majorYards, minorYards] = [shape.semiMajorM, shape.semiMinorM].map((metres) =>
    roundTo(Number(metres) / metresPerYard, 3),
  )
  return {
    text: `;ELLIPSE: @@ ${toDtg(time)} ${toAngles(shape.origin as Position)} ${shape.orientation_deg} ${majorYards} ${minorYards} ${text}\n`,
  }
}

function toName(name: string): string {
  const cleanName = name.replace(/["\s]+/g, ' ').trim()
  return /^\S+$/.test(cleanName) ? cleanName : `"${cleanName}"`
}

const toLabelText = (feature: Feature): string => getLabel(feature).replace(/\s+/g, ' ').trim()

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
  const [wholeDegrees, minutes] = [
    Math.floor(units / unitsPerDegree),
    Math.floor(units / (unitsPerDegree / 60)) % 60,
  ]
  const seconds = (units % (unitsPerDegree / 60)) / 1e5
  return `${wholeDegrees} ${minutes} ${seconds} ${hemispheres[degrees < 0 ? 1 : 0]}`
}
