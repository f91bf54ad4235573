import { formatTime } from '@causeway/app-kit/time'
import type { Feature, Geometry } from '@causeway/plot'
import { createLine, findDestination, normalizeBearing, type Place } from '../geodesy/geodesic.ts'
import type { LogFix } from './log-fix.ts'
import type { RepLine } from './rep-line.ts'

export interface RepAnnotation {
  readonly type: 'label' | 'area' | 'boundary' | 'comment' | 'measurement'
  readonly text: string
  readonly time?: number | undefined
  readonly timeEnd?: number | undefined
  readonly specifics: Readonly<Record<string, unknown>>
  /** Track that provides the position at `time`. */
  readonly track?: string
  readonly place: Place | null
  /** Returns `null` if the geometry depends on an unknown position. */
  draw(place: Place | null): Geometry | null
}

/** The unit of ranges in REP files, in metres. */
export const yard = 0.9144

const vertices = 64

/** Length in metres of the line for a bearing without a range. */
const openBearingLength = 10_000

const badPosition = 'position invalid or out of range'

type Reader = (line: RepLine) => RepAnnotation | string

/** Readers by annotation kind. A returned text is the reason to skip the line. */
const readers: Readonly<Record<string, Reader>> = {
  TEXT: (line) => readText(line, 0),
  TIMETEXT: (line) => readText(line, 1),
  PERIODTEXT: (line) => readText(line, 2),
  CIRCLE: readCircle,
  RECT: readRectangle,
  LINE: (line) => readPath(line, 'line'),
  POLYLINE: (line) => readPath(line, 'polyline'),
  POLY: (line) => readPath(line, 'polygon'),
  VECTOR: readVector,
  ELLIPSE: readEllipse,
  NARRATIVE: (line) => readNarrative(line, false),
  NARRATIVE2: (line) => readNarrative(line, true),
  SENSOR: (line) => readSensor(line, []),
  SENSOR2: (line) => readSensor(line, ['ambiguous_bearing_deg', 'frequency_hz']),
  SENSOR3: (line) => readSensor(line, ['bearing_accuracy_deg', 'frequency_hz', 'frequency_accuracy_hz']),
}

/** Reads the fields after `;KIND:`. */
export const readAnnotation = (kind: string, line: RepLine): RepAnnotation | string =>
  Object.hasOwn(readers, kind) ? (readers[kind]?.(line) ?? kind) : kind

/** Returns the feature, or the reason to skip the annotation. */
export function toAnnotationFeature(
  { type, text, time, timeEnd, specifics, track, place, draw }: RepAnnotation,
  tracks: ReadonlyMap<string, readonly LogFix[]>,
  newId: () => string,
): Feature | string {
  const known =
    place ?? (track === undefined || time === undefined ? null : findPlace(tracks.get(track), time))
  const geometry = draw(known)
  if (geometry === null && type !== 'comment') return 'no position, and its track has none at that time'
  return {
    type: 'Feature',
    id: newId(),
    geometry,
    properties: {
      dataType: 'annotation',
      annotationType: type,
      text,
      name: text,
      ...(time === undefined ? {} : { time: formatTime(time) }),
      ...(timeEnd === undefined ? {} : { timeEnd: formatTime(timeEnd) }),
      source: 'REP',
      ...(Object.keys(specifics).length === 0 ? {} : { specifics }),
    },
  }
}

/** The fixes can be in any order. */
function findPlace(fixes: readonly LogFix[] = [], time: number): Place | null {
  let [before, after]: (LogFix | undefined)[] = []
  for (const fix of fixes) {
    const at = fix.time ?? Number.NaN
    if (at <= time && at >= (before?.time ?? at)) before = fix
    if (at >= time && at <= (after?.time ?? at)) after = fix
  }
  if (before === undefined || after === undefined) return null
  const span = (after.time ?? 0) - (before.time ?? 0)
  return createLine(before, after).at(span === 0 ? 0 : (time - (before.time ?? 0)) / span)
}

const toPosition = ({ lon, lat }: Place): readonly number[] => [lon, lat]

const drawPoint = (place: Place | null): Geometry | null =>
  place === null ? null : { type: 'Point', coordinates: toPosition(place) }

function readText(line: RepLine, timeCount: 0 | 1 | 2): RepAnnotation | string {
  line.readField()
  const times = Array.from({ length: timeCount }, () => line.readTime())
  if (times.includes(undefined)) return 'invalid time'
  const [time, timeEnd] = times
  const place = line.readPlace()
  if (place === undefined || place === null) return badPosition
  return { type: 'label', text: line.readRest(), time, timeEnd, specifics: {}, place, draw: drawPoint }
}

function readCircle(line: RepLine): RepAnnotation | string {
  line.readField()
  const [place, radius] = [line.readPlace(), line.readNumber()]
  if (place === undefined || place === null) return badPosition
  if (radius === null || radius <= 0) return 'circle without a radius'
  const radiusM = radius * yard
  return {
    type: 'area',
    text: line.readRest(),
    specifics: { shapeType: 'circle', origin: toPosition(place), radiusM },
    place,
    draw: (origin) => drawRing(origin, () => radiusM),
  }
}

/** Draws a closed ring, counterclockwise. */
function drawRing(origin: Place | null, getRadius: (bearing: number) => number): Geometry | null {
  if (origin === null) return null
  const ring = Array.from({ length: vertices }, (_, index) => {
    const bearing = 360 - (index * 360) / vertices
    return toPosition(findDestination(origin, bearing, getRadius(bearing)))
  })
  return { type: 'Polygon', coordinates: [[...ring, ring[0] ?? []]] }
}

function readEllipse(line: RepLine): RepAnnotation | string {
  line.readField()
  const [time, place] = [line.readTime(), line.readPlace()]
  const [orientation, major, minor] = [line.readNumber(), line.readNumber(), line.readNumber()]
  if (place === undefined || place === null) return badPosition
  if (orientation === null || major === null || minor === null || major <= 0 || minor <= 0)
    return 'ellipse without orientation or axes'
  const [a, b] = [major * yard, minor * yard]
  return {
    type: 'area',
    text: line.readRest(),
    time,
    specifics: {
      shapeType: 'ellipse',
      origin: toPosition(place),
      orientation_deg: orientation,
      semiMajorM: a,
      semiMinorM: b,
    },
    place,
    draw: (origin) =>
      drawRing(origin, (bearing) => {
        const angle = ((bearing - orientation) * Math.PI) / 180
        return (a * b) / Math.hypot(b * Math.cos(angle), a * Math.sin(angle))
      }),
  }
}

function readRectangle(line: RepLine): RepAnnotation | string {
  line.readField()
  const [a, b] = [line.readPlace(), line.readPlace()]
  if (!a || !b) return badPosition
  const ring = [
    [a.lon, a.lat],
    [a.lon, b.lat],
    [b.lon, b.lat],
    [b.lon, a.lat],
    [a.lon, a.lat],
  ]
  const isClockwise = (b.lon - a.lon) * (b.lat - a.lat) > 0
  return {
    type: 'area',
    text: line.readRest(),
    specifics: { shapeType: 'rectangle' },
    place: a,
    draw: () => ({ type: 'Polygon', coordinates: [isClockwise ? ring.reverse() : ring] }),
  }
}

function readPath(line: RepLine, shapeType: 'line' | 'polyline' | 'polygon'): RepAnnotation | string {
  line.readField()
  const time = line.readTime()
  const places: Place[] = []
  const max = shapeType === 'line' ? 2 : Number.POSITIVE_INFINITY
  for (let place = line.readPlace(); place !== undefined && place !== null; ) {
    places.push(place)
    place = places.length < max ? line.readPlace() : undefined
  }
  const rest = line.readRest()
  const isArea = shapeType === 'polygon'
  if (places.length < (isArea ? 3 : 2) || /^\d+\s+\d+\s+[\d.]+\s+[NSEW]\b/i.test(rest)) return badPosition
  const positions = places.map(toPosition)
  return {
    type: isArea ? 'area' : 'boundary',
    text: rest,
    time,
    specifics: { shapeType },
    place: places[0] ?? null,
    draw: () =>
      isArea
        ? { type: 'Polygon', coordinates: [[...positions, positions[0] ?? []]] }
        : { type: 'LineString', coordinates: positions },
  }
}

const drawBearing = (from: Place | null, bearing: number, metres: number): Geometry | null =>
  from === null
    ? null
    : {
        type: 'LineString',
        coordinates: [toPosition(from), toPosition(findDestination(from, bearing, metres))],
      }

function readVector(line: RepLine): RepAnnotation | string {
  line.readField()
  const [place, range, bearing] = [line.readPlace(), line.readNumber(), line.readNumber()]
  if (place === undefined || place === null) return badPosition
  if (range === null || bearing === null) return 'vector without range or bearing'
  return {
    type: 'measurement',
    text: line.readRest(),
    specifics: { shapeType: 'vector', bearing_deg: normalizeBearing(bearing), range_m: range * yard },
    place,
    draw: (from) => drawBearing(from, bearing, range * yard),
  }
}

function readNarrative(line: RepLine, hasType: boolean): RepAnnotation | string {
  const time = line.readTime()
  if (time === undefined) return 'invalid time'
  const track = line.readField()
  const entryType = hasType ? line.readField() : undefined
  return {
    type: 'comment',
    text: line.readRest(),
    time,
    track,
    specifics: { shapeType: 'narrative', track, ...(entryType === undefined ? {} : { entryType }) },
    place: null,
    draw: drawPoint,
  }
}

/** `extra` lists the names of the numbers between bearing and range. */
function readSensor(line: RepLine, extra: readonly string[]): RepAnnotation | string {
  const time = line.readTime()
  if (time === undefined) return 'invalid time'
  const track = line.readField()
  line.readField()
  const place = line.readPlace()
  if (place === undefined) return badPosition
  const bearing = line.readNumber()
  const numbers = extra.map((name): [string, number | null] => [name, line.readNumber()])
  const range = line.readNumber()
  const sensor = line.readField()
  const text = line.readRest()
  if (bearing === null) return 'sensor contact without bearing'
  const range_m = range === null || range <= 0 ? null : range * yard
  return {
    type: 'measurement',
    text: text === '' ? sensor : text,
    time,
    track,
    specifics: {
      shapeType: 'sensor',
      track,
      sensor,
      bearing_deg: normalizeBearing(bearing),
      range_m,
      ...Object.fromEntries(numbers),
    },
    place,
    draw: (from) => drawBearing(from, bearing, range_m ?? openBearingLength),
  }
}
