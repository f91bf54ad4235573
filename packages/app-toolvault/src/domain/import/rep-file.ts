/**
 * Debrief replay files (REP): fixes as `YYMMDD HHMMSS.SSS NAME @symbol DD MM SS.SS N DDD MM SS.SS W course speed depth`,
 * and comments; of those, texts and circles become annotations. Declared courses and speeds are kept beside the positions,
 * whatever these say.
 */

import { dayStart } from '@causeway/app-kit/time'
import type { DebriefCommand } from '../command.ts'
import type { Feature } from '../feature.ts'
import { compass, destination, type Place } from '../geodesic.ts'
import { importAnswer, skipping } from './import-answer.ts'
import { featureOf, keep, type LogFix } from './log-fix.ts'

const number = String.raw`(-?\d+(?:\.\d+)?)`
const angle = String.raw`${number}\s+${number}\s+${number}\s+([NSEW])`
const fixLine = new RegExp(
  String.raw`^(\d{6}|\d{8})\s+(\d{6}(?:\.\d+)?)\s+(?:"([^"]+)"|(\S+))\s+(\S+)\s+${angle}\s+${angle}\s+(\S+)\s+(\S+)\s+(\S+)`,
)
const textLine = new RegExp(String.raw`^;TEXT:\s*\S+\s+${angle}\s+${angle}\s+(.*)$`)
const circleLine = new RegExp(String.raw`^;CIRCLE:\s*\S+\s+${angle}\s+${angle}\s+${number}\s*(.*)$`)

/** Metres in a yard; REP has ranges in yards. */
const yard = 0.9144

/** Vertices of the polygon that stands for a circle. */
const circleVertices = 64

/** What the file does not say itself. */
export interface RepOptions {
  /** years of two digits from this one on are of the 1900s */
  readonly pivot_year: number
  readonly min_interval_s?: number | undefined
  newId(prefix: string): string
}

/** Opens a file. */
export function repFile({ pivot_year, min_interval_s, newId }: RepOptions) {
  const tracks = new Map<string, LogFix[]>()
  const annotations: Feature[] = []
  const skipped = skipping()
  const state = { lines: 0 }

  const fix = (found: RegExpExecArray): void => {
    const [, date = '', clock = '', quoted, bare = '', , ...rest] = found
    const place = placeIn(rest.slice(0, 8))
    const midnight = dayIn(date, pivot_year)
    const time = midnight === undefined ? undefined : clockIn(clock)
    if (place === undefined) {
      skipped.add('position out of range')
      return
    }
    if (midnight === undefined || time === undefined) {
      skipped.add('no such time')
      return
    }
    const [course, speed, depth] = rest.slice(8).map(measured)
    const name = quoted ?? bare
    const fixes = tracks.get(name) ?? []
    tracks.set(name, fixes)
    keep(fixes, {
      ...place,
      time: midnight + time,
      speed_kn: speed ?? null,
      course_deg: course === null || course === undefined ? null : compass(course),
      elevation_m: depth === null || depth === undefined ? null : depth === 0 ? 0 : -depth,
    })
  }
  const annotate = (found: RegExpExecArray, kind: 'label' | 'area'): void => {
    const place = placeIn(found.slice(1, 9))
    if (place === undefined) {
      skipped.add('position out of range')
      return
    }
    const [radius, text = ''] = kind === 'area' ? found.slice(9) : ['', found[9]]
    annotations.push(
      annotation(place, { kind, text: text.trim(), radius_yd: Number(radius), id: newId('rep') }),
    )
  }

  return {
    take(line: string): void {
      const text = line.trim()
      if (text === '') return
      state.lines++
      const [found, label, circle] = [fixLine.exec(text), textLine.exec(text), circleLine.exec(text)]
      if (found !== null) fix(found)
      else if (label !== null) annotate(label, 'label')
      else if (circle !== null) annotate(circle, 'area')
      else skipped.add(text.startsWith(';') ? commentKind(text) : 'no fix')
    },
    finish(): DebriefCommand {
      const features = [...tracks].flatMap(([name, fixes]) => {
        const feature = featureOf(fixes, { id: newId('rep'), name, source: 'REP', min_interval_s })
        return feature === undefined ? [] : [feature]
      })
      return importAnswer({
        format: 'Debrief REP',
        features: [...features, ...annotations],
        lines: state.lines,
        skipped,
      })
    },
  }
}

/** `;NARRATIVE: …` is told as such; a comment without a kind is a comment. */
const commentKind = (text: string): string => /^;([A-Z_0-9]+):/.exec(text)?.[1] ?? 'comment'

function placeIn(parts: readonly (string | undefined)[]): Place | undefined {
  const lat = degreesIn(parts.slice(0, 4), 'NS', 90)
  const lon = degreesIn(parts.slice(4, 8), 'EW', 180)
  return lat === undefined || lon === undefined ? undefined : { lon, lat }
}

function degreesIn(
  [degrees, minutes, seconds, hemisphere = '']: readonly (string | undefined)[],
  hemispheres: string,
  most: number,
): number | undefined {
  const side = hemispheres.indexOf(hemisphere)
  if (side < 0 || hemisphere === '') return undefined
  const size = Math.abs(Number(degrees)) + Number(minutes) / 60 + Number(seconds) / 3600
  if (!(size <= most)) return undefined
  return Number((side === 1 ? -size : size).toFixed(9))
}

function dayIn(text: string, pivot: number): number | undefined {
  const year = Number(text.slice(0, -4))
  const full = text.length === 8 ? year : year >= pivot ? 1900 + year : 2000 + year
  return dayStart(full, Number(text.slice(-4, -2)), Number(text.slice(-2)))
}

function clockIn(text: string): number | undefined {
  const [hours, minutes, seconds] = [text.slice(0, 2), text.slice(2, 4), text.slice(4)].map(Number) as [
    number,
    number,
    number,
  ]
  if (hours > 23 || minutes > 59 || seconds >= 60) return undefined
  return Math.round(((hours * 60 + minutes) * 60 + seconds) * 1000)
}

/** NaN stands for what was not measured. */
const measured = (text: string | undefined): number | null =>
  text === undefined || !Number.isFinite(Number(text)) ? null : Number(text)

function annotation(
  place: Place,
  { kind, text, radius_yd, id }: { kind: 'label' | 'area'; text: string; radius_yd: number; id: string },
): Feature {
  const properties = { dataType: 'annotation', annotationType: kind, text, name: text, source: 'REP' }
  const { lon, lat } = place
  if (kind === 'label')
    return { type: 'Feature', id, geometry: { type: 'Point', coordinates: [lon, lat] }, properties }
  const radiusM = radius_yd * yard
  const ring = Array.from({ length: circleVertices }, (_, index) => {
    const at = destination(place, 360 - (index * 360) / circleVertices, radiusM)
    return [at.lon, at.lat]
  })
  return {
    type: 'Feature',
    id,
    geometry: { type: 'Polygon', coordinates: [[...ring, ring[0] ?? []]] },
    properties: { ...properties, specifics: { shapeType: 'circle', origin: [lon, lat], radiusM } },
  }
}
