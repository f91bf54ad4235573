import type { SkipCounter } from './import-report.ts'
import type { ElementListener, XmlElement } from './xml-document.ts'

const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

const invalid = 'position is not two or three numbers'
const outOfRange = 'position out of range'

/** GPX elements with a position, each with its required parent or `undefined`. */
const points: Readonly<Record<string, string | undefined>> = { trkpt: 'trkseg', rtept: 'rte', wpt: undefined }

/** Minimum number of positions in each element that forms a line. */
const minPositions: Readonly<Record<string, number>> = { trkseg: 2, rte: 2, LineString: 2, LinearRing: 3 }

const geometries = new Set(['Point', 'LineString', 'LinearRing', 'gx:LatLonQuad'])

const features = new Set(['Placemark', 'GroundOverlay'])

const tracks = new Set(['Track', 'gx:Track'])

/** Replaces an invalid position of a `Track`, so that the others stay aligned with their times. */
const invalidPosition = '999 999'

/** Counts and removes invalid positions, which the GeoJSON reader would silently omit or misread. */
export class XmlPositions implements ElementListener {
  readonly #skipped: SkipCounter
  readonly #lines: { positions: number; distinct: number }[] = []
  readonly #starts: number[] = []

  constructor(skipped: SkipCounter) {
    this.#skipped = skipped
  }

  open(element: XmlElement, line: number): boolean {
    const name = element.tagName
    if (Object.hasOwn(minPositions, name)) this.#lines.push({ positions: 0, distinct: 0 })
    if (name === 'coordinates') this.#starts.push(line)
    if (!Object.hasOwn(points, name)) return true
    const [lon, lat] = [element.getAttribute('lon') ?? '', element.getAttribute('lat') ?? '']
    const reason = findMisplaced(element) ?? findProblem([lon.trim(), lat.trim()])
    if (reason !== undefined) this.#skipped.add(reason, line)
    else this.#count(1, 1)
    return reason === undefined
  }

  close(element: XmlElement, line: number): void {
    const name = element.tagName
    if (name === 'coordinates') this.#filterCoordinates(element, this.#starts.pop() ?? line)
    if (name === 'coord' || name === 'gx:coord') this.#checkCoord(element, line)
    if (name === 'Model') this.#skipped.add('a Model is not imported', line)
    const min = minPositions[name]
    if (min === undefined) return
    const { positions, distinct } = this.#lines.pop() ?? { positions: 0, distinct: 0 }
    if (positions > 0 && distinct < min) {
      this.#skipped.add(`${name} with fewer than ${min} positions`, line, positions)
      element.removeChildren()
    }
  }

  #count(positions: number, distinct: number): void {
    const last = this.#lines.at(-1)
    if (last === undefined) return
    last.positions += positions
    last.distinct += distinct
  }

  #filterCoordinates(element: XmlElement, start: number): void {
    const { parentNode } = element
    const isPoint = parentNode?.tagName === 'Point'
    const misplaced = findMisplacedCoordinates(element)
    const retained: string[] = []
    for (const { text, line } of listTuples(element.rawText, start)) {
      const isSecond = isPoint && retained.length > 0
      const reason =
        misplaced ?? (isSecond ? 'more than one position in a Point' : findProblem(text.split(',')))
      if (reason === undefined) retained.push(text)
      else this.#skipped.add(reason, line)
    }
    element.setText(retained.join(' '))
    // The last position of a ring repeats the first.
    const isClosed =
      parentNode?.tagName === 'LinearRing' && retained.length > 1 && retained[0] === retained.at(-1)
    this.#count(retained.length, isClosed ? retained.length - 1 : retained.length)
  }

  #checkCoord(element: XmlElement, line: number): void {
    const { parentNode } = element
    if (!(tracks.has(parentNode?.tagName ?? '') && isInFeature(element))) {
      this.#skipped.add('position outside a Placemark or its Track', line)
      return
    }
    const parts = element.rawText.trim().split(/\s+/)
    const reason = parts[0] === '' ? 'position is empty' : findProblem(parts)
    if (reason === undefined) return
    this.#skipped.add(reason, line)
    element.setText(invalidPosition)
  }
}

function findMisplaced({ tagName, parentNode }: XmlElement): string | undefined {
  const container = points[tagName]
  if (container === undefined) return undefined
  const isInPlace =
    parentNode?.tagName === container && (container === 'rte' || parentNode.parentNode?.tagName === 'trk')
  return isInPlace ? undefined : `${tagName} outside ${container === 'rte' ? 'a rte' : 'the trkseg of a trk'}`
}

function findMisplacedCoordinates(element: XmlElement): string | undefined {
  const { parentNode } = element
  if (parentNode === undefined || !geometries.has(parentNode.tagName) || !isInFeature(element))
    return 'position outside a Placemark or its geometry'
  const isFirst =
    parentNode.childNodes.find((node) => node.nodeType === 1 && node.tagName === 'coordinates') === element
  return isFirst ? undefined : 'more than one list of coordinates in a geometry'
}

function isInFeature(element: XmlElement): boolean {
  let at = element.parentNode
  while (at !== undefined && !features.has(at.tagName)) at = at.parentNode
  return at !== undefined
}

/** Tolerates white space around commas, which KML does not allow. */
function listTuples(text: string, start: number): { text: string; line: number }[] {
  const tuples: { text: string; line: number }[] = []
  let [line, at] = [start, 0]
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    line += text.slice(at, index).split('\n').length - 1
    at = index
    const last = tuples.at(-1)
    if (last !== undefined && (last.text.endsWith(',') || word.startsWith(','))) last.text += word
    else tuples.push({ text: word, line })
  }
  return tuples
}

function findProblem(parts: readonly string[]): string | undefined {
  const [lon = '', lat = ''] = parts
  if (parts.length < 2 || parts.length > 3 || !parts.every((part) => number.test(part))) return invalid
  return Math.abs(Number(lon)) <= 180 && Math.abs(Number(lat)) <= 90 ? undefined : outOfRange
}
