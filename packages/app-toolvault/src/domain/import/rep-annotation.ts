import { formatTime } from '@causeway/app-kit/time'
import type { Feature, Geometry } from '@causeway/plot'
import { createLine, findDestination, type LatLon, normalizeBearing } from '../geodesy/geodesic.ts'
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
  readonly position: LatLon | null
  /** Returns `null` if the geometry depends on an unknown position. */
  draw(position: LatLon | null): Geometry | null
}

/** The unit of ranges in REP files, in metres. */
export const metresPerYard = 0.9144

const ringVertexCount = 64

/** Length in metres of the line for a bearing without a range. */
const unboundedBearingLengthM = 10_000

const invalidPositionReason = 'position invalid or out of range'

type AnnotationReader = (line: RepLine) => RepAnnotation | string

/** Readers by annotation kind. A returned text is the reason to skip the line. */
const annotationReaders: Readonly<Record<string, AnnotationReader>> = {
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

/** Reads the fields after `;KIND:`. Returns a text if the line is to be skipped. */
export const readAnnotation = (kind: string, line: RepLine): RepAnnotation | string =>
  Object.hasOwn(annotationReaders, kind) ? (annotationReaders[kind]?.(line) ?? kind) : kind

/** Returns the feature, or the reason to skip the annotation. */
export function toAnnotationFeature(
  { type, text, time, timeEnd, specifics, track, position, draw }: RepAnnotation,
  tracks: ReadonlyMap<string, readonly LogFix[]>,
  newId: () => string,
): Feature | string {
  const knownPosition =
    position ?? (track === undefined || time === undefined ? null : findPosition(tracks.get(track), time))
  const geometry = draw(knownPosition)
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
function findPosition(fixes: readonly LogFix[] = [], time: number): LatLon | null {
  let [before, after]: (LogFix | undefined)[] = []
  for (const fix of fixes) {
    const fixTime = fix.time ?? Number.NaN
    if (fixTime <= time && fixTime >= (before?.time ?? fixTime)) before = fix
    if (fixTime >= time && fixTime <= (after?.time ?? fixTime)) after = fix
  }
  if (before === undefined || after === undefined) return null
  const spanMs = (after.time ?? 0) - (before.time ?? 0)
  return createLine(before, after).at(spanMs === 0 ? 0 : (time - (before.time ?? 0)) / spanMs)
}

const toCoordinates = ({ lon, lat }: LatLon): readonly number[] => [lon, lat]

const drawPoint = (position: LatLon | null): Geometry | null =>
  position === null ? null : { type: 'Point', coordinates: toCoordinates(position) }

function readText(line: RepLine, timeCount: 0 | 1 | 2): RepAnnotation | string {
  line.readField()
  const times = Array.from({ length: timeCount }, () => line.readTime())
  if (times.includes(undefined)) return 'invalid time'
  const [time, timeEnd] = times
  const position = line.readPosition()
  if (position === undefined || position === null) return invalidPositionReason
  return {
    type: 'label',
    text: line.readRemainingText(),
    time,
    timeEnd,
    specifics: {},
    position,
    draw: drawPoint,
  }
}

function readCircle(line: RepLine): RepAnnotation | string {
  line.readField()
  const [position, radius] = [line.readPosition(), line.readNumber()]
  if (position === undefined || position === null) return invalidPositionReason
  if (radius === null || radius <= 0) return 'circle without a radius'
  const radiusM = radius * metresPerYard
  return {
    type: 'area',
    text: line.readRemainingText(),
    specifics: { shapeType: 'circle', origin: toCoordinates(position), radiusM },
    position,
    draw: (origin) => drawRing(origin, () => radiusM),
  }
}

/** Draws a closed ring, counterclockwise. */
function drawRing(origin: LatLon | null, getRadius: (bearing: number) => number): Geometry | null {
  if (origin === null) return null
  const ring = Array.from({ length: ringVertexCount }, (_, index) => {
    const bearing = 360 - (index * 360) / ringVertexCount
    return toCoordinates(findDestination(origin, bearing, getRadius(bearing)))
  })
  return { type: 'Polygon', coordinates: [[...ring, ring[0] ?? []]] }
}

function readEllipse(line: RepLine): RepAnnotation | string {
  line.readField()
  const [time, position] = [line.readTime(), line.readPosition()]
  const [orientation, major, minor] = [line.readNumber(), line.readNumber(), line.readNumber()]
  if (position === undefined || position === null) return invalidPositionReason
  if (orientation === null || major === null || minor === null || major <= 0 || minor <= 0)
    return 'ellipse without orientation or axes'
  const [a, b] = [major * metresPerYard, minor * metresPerYard]
  return {
    type: 'area',
    text: line.readRemainingText(),
    time,
    specifics: {
      shapeType: 'ellipse',
      origin: toCoordinates(position),
      orientation_deg: orientation,
      semiMajorM: a,
      semiMinorM: b,
    },
    position,
    draw: (origin) =>
      drawRing(origin, (bearing) => {
        const angle = ((bearing - orientation) * Math.PI) / 180
        return (a * b) / Math.hypot(b * Math.cos(angle), a * Math.sin(angle))
      }),
  }
}

function readRectangle(line: RepLine): RepAnnotation | string {
  line.readField()
  const [a, b] = [line.readPosition(), line.readPosition()]
  if (!a || !b) return invalidPositionReason
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
    text: line.readRemainingText(),
    specifics: { shapeType: 'rectangle' },
    position: a,
    draw: () => ({ type: 'Polygon', coordinates: [isClockwise ? ring.reverse() : ring] }),
  }
}

function readPath(line: RepLine, shapeType: 'line' | 'polyline' | 'polygon'): RepAnnotation | string {
  line.readField()
  const time = line.readTime()
  const linePositions: LatLon[] = []
  const maxPositions = shapeType === 'line' ? 2 : Number.POSITIVE_INFINITY
  for (let position = line.readPosition(); position !== undefined && position !== null; ) {
    linePositions.push(position)
    position = linePositions.length < maxPositions ? line.readPosition() : undefined
  }
  const remainingText = line.readRemainingText()
  const isArea = shapeType === 'polygon'
  if (linePositions.length < (isArea ? 3 : 2) || /^\d+\s+\d+\s+[\d.]+\s+[NSEW]\b/i.test(remainingText))
    return invalidPositionReason
  const coordinates = linePositions.map(toCoordinates)
  return {
    type: isArea ? 'area' : 'boundary',
    text: remainingText,
    time,
    specifics: { shapeType },
    position: linePositions[0] ?? null,
    draw: () =>
      isArea
        ? { type: 'Polygon', coordinates: [[...coordinates, coordinates[0] ?? []]] }
        : { type: 'LineString', coordinates },
  }
}

const drawBearing = (from: LatLon | null, bearing: number, metres: number): Geometry | null =>
  from === null
    ? null
    : {
        type: 'LineString',
        coordinates: [toCoordinates(from), toCoordinates(findDestination(from, bearing, metres))],
      }

function readVector(line: RepLine): RepAnnotation | string {
  line.readField()
  const [position, range, bearing] = [line.readPosition(), line.readNumber(), line.readNumber()]
  if (position === undefined || position === null) return invalidPositionReason
  if (range === null || bearing === null) return 'vector without range or bearing'
  return {
    type: 'measurement',
    text: line.readRemainingText(),
    specifics: {
      shapeType: 'vector',
      bearing_deg: normalizeBearing(bearing),
      range_m: range * metresPerYard,
    },
    position,
    draw: (from) => drawBearing(from, bearing, range * metresPerYard),
  }
}

function readNarrative(line: RepLine, hasType: boolean): RepAnnotation | string {
  const time = line.readTime()
  if (time === undefined) return 'invalid time'
  const track = line.readField()
  const entryType = hasType ? line.readField() : undefined
  return {
    type: 'comment',
    text: line.readRemainingText(),
    time,
    track,
    specifics: { shapeType: 'narrative', track, ...(entryType === undefined ? {} : { entryType }) },
    position: null,
    draw: drawPoint,
  }
}

/** `extraNames` are the names of the numbers between bearing and range. */
function readSensor(line: RepLine, extraNames: readonly string[]): RepAnnotation | string {
  const time = line.readTime()
  if (time === undefined) return 'invalid time'
  const track = line.readField()
  line.readField()
  const position = line.readPosition()
  if (position === undefined) return invalidPositionReason
  const bearing = line.readNumber()
  const extraValues = extraNames.map((name): [string, number | null] => [name, line.readNumber()])
  const range = line.readNumber()
  const sensor = line.readField()
  const text = line.readRemainingText()
  if (bearing === null) return 'sensor contact without bearing'
  const range_m = range === null || range <= 0 ? null : range * metresPerYard
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
      ...Object.fromEntries(extraValues),
    },
    position,
    draw: (from) => drawBearing(from, bearing, range_m ?? unboundedBearingLengthM),
  }
}
