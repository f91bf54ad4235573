import { formatTime } from '@causeway/app-kit/time'
import { type Feature, getGeometryType, getLabel } from '@causeway/plot'
import { type ExportFormat, escapeXml, listVertexParts, type Vertex } from './export-format.ts'
import { writeRepFeature } from './rep-format.ts'

const noGeometryResult = { reason: 'it has no geometry' }

const csv: ExportFormat = {
  prefix: 'name,part,time,longitude_deg,latitude_deg,elevation_m,speed_kn,course_deg\n',
  suffix: '',
  write(feature) {
    const parts = listVertexParts(feature)
    if (parts.length === 0) return noGeometryResult
    const rows = parts.flatMap((part, index) =>
      part.map(({ position, time, speed_kn, course_deg }) => {
        const [lon, lat, elevation] = position
        const timeText = time === undefined ? null : formatTime(time)
        return [getLabel(feature), index + 1, timeText, lon, lat, elevation, speed_kn, course_deg]
      }),
    )
    return { text: rows.map((row) => `${row.map(toCell).join(',')}\n`).join('') }
  },
}

/** Quotes a value if RFC 4180 requires it. */
function toCell(value: string | number | null | undefined): string {
  const text = value === null || value === undefined ? '' : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const gpx: ExportFormat = {
  prefix:
    '<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="Causeway" xmlns="http://www.topografix.com/GPX/1/1">\n',
  suffix: '</gpx>\n',
  write(feature) {
    const parts = listVertexParts(feature)
    const name = `<name>${escapeXml(getLabel(feature))}</name>`
    switch (getGeometryType(feature)) {
      case 'Point':
      case 'MultiPoint':
        return {
          text: parts
            .flat()
            .map((vertex) => writeGpxPoint('wpt', vertex, name))
            .join(''),
        }
      case 'LineString':
      case 'MultiLineString': {
        const segments = parts.map(
          (part) => `<trkseg>\n${part.map((vertex) => writeGpxPoint('trkpt', vertex)).join('')}</trkseg>\n`,
        )
        return { text: `<trk>${name}\n${segments.join('')}</trk>\n` }
      }
      default:
        return parts.length === 0 ? noGeometryResult : { reason: 'GPX has no areas' }
    }
  },
}

function writeGpxPoint(tag: string, { position, time }: Vertex, name = ''): string {
  const [lon = 0, lat = 0, elevation] = position
  const elevationText = elevation === undefined ? '' : `<ele>${elevation}</ele>`
  const timeText = time === undefined ? '' : `<time>${formatTime(time)}</time>`
  return `<${tag} lat="${lat}" lon="${lon}">${elevationText}${timeText}${name}</${tag}>\n`
}

const kml: ExportFormat = {
  prefix:
    '<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2">\n<Document>\n',
  suffix: '</Document>\n</kml>\n',
  write(feature) {
    const shapes = writeKmlShapes(feature)
    const [onlyShape] = shapes
    if (onlyShape === undefined) return noGeometryResult
    const geometry = shapes.length === 1 ? onlyShape : `<MultiGeometry>\n${shapes.join('')}</MultiGeometry>\n`
    const [point] = listVertexParts(feature).flat()
    const isPoint = getGeometryType(feature) === 'Point'
    const timeStamp =
      isPoint && point?.time !== undefined
        ? `<TimeStamp><when>${formatTime(point.time)}</when></TimeStamp>\n`
        : ''
    return {
      text: `<Placemark><name>${escapeXml(getLabel(feature))}</name>\n${timeStamp}${geometry}</Placemark>\n`,
    }
  },
}

function writeKmlShapes(feature: Feature): string[] {
  const parts = listVertexParts(feature)
  switch (getGeometryType(feature)) {
    case 'Point':
    case 'MultiPoint':
      return parts.flat().map((vertex) => `<Point><coordinates>${toTuple(vertex)}</coordinates></Point>\n`)
    case 'LineString':
    case 'MultiLineString':
      return parts.map(writeKmlLine)
    case 'Polygon':
      return [writeKmlPolygon(parts.map((part) => part.map(({ position }) => position)))]
    case 'MultiPolygon':
      return ((feature.geometry?.coordinates ?? []) as number[][][][]).map(writeKmlPolygon)
    default:
      return []
  }
}

const toTuple = ({ position }: Vertex): string => position.slice(0, 3).join(',')

function writeKmlLine(part: readonly Vertex[]): string {
  if (part.some(({ time }) => time === undefined))
    return `<LineString><coordinates>${part.map(toTuple).join(' ')}</coordinates></LineString>\n`
  const times = part.map(({ time = 0 }) => `<when>${formatTime(time)}</when>\n`)
  const coordinates = part.map(({ position }) => `<gx:coord>${position.slice(0, 3).join(' ')}</gx:coord>\n`)
  return `<gx:Track>\n${times.join('')}${coordinates.join('')}</gx:Track>\n`
}

const writeKmlPolygon = (rings: readonly (readonly (readonly number[])[])[]): string => {
  const ringTexts = rings.map((ring, index) => {
    const boundaryTag = index === 0 ? 'outerBoundaryIs' : 'innerBoundaryIs'
    const tuples = ring.map((position) => position.slice(0, 3).join(',')).join(' ')
    return `<${boundaryTag}><LinearRing><coordinates>${tuples}</coordinates></LinearRing></${boundaryTag}>`
  })
  return `<Polygon>${ringTexts.join('')}</Polygon>\n`
}

export const formats = {
  csv,
  gpx,
  kml,
  rep: { prefix: '', suffix: '', write: writeRepFeature },
} as const satisfies Readonly<Record<string, ExportFormat>>

export type FormatName = keyof typeof formats
