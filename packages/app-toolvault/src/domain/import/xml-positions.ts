import type { SkipCounter } from './import-report.ts'
import type { ElementListener, XmlElement } from './xml-document.ts'

const numberPattern = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

const invalidReason = 'position is not two or three numbers'
const outOfRangeReason = 'position out of range'

/** GPX elements with a position, each with its required parent or `undefined`. */
const pointParents: Readonly<Record<string, string | undefined>> = {
  trkpt: 'trkseg',
  rtept: 'rte',
  wpt: undefined,
}

/** Minimum number of positions in each element that forms a line. */
const minPositions: Readonly<Record<string, number>> = { trkseg: 2, rte: 2, LineString: 2, LinearRing: 3 }

const geometryTags = new Set(['Point', 'LineString', 'LinearRing', 'gx:LatLonQuad'])

const featureTags = new Set(['Placemark', 'GroundOverlay'])

const trackTags = new Set(['Track', 'gx:Track'])

/** Replaces an invalid position of a `Track`, so that the others stay aligned with their times. */
const invalidPosition = '999 999'

/** Counts and removes invalid positions, which the GeoJSON reader would silently omit or misread. */
export class XmlPositions implements ElementListener {
  readonly #skipped: SkipCounter
  readonly #lines: { positions: number; distinctPositions: number }[] = []
  readonly #coordinateLines: number[] = []

  constructor(skipped: SkipCounter) {
    this.#skipped = skipped
  }

  open(element: XmlElement, line: number): boolean {
    const name = element.tagName
    if (Object.hasOwn(minPositions, name)) this.#lines.push({ positions: 0, distinctPositions: 0 })
    if (name === 'coordinates') this.#coordinateLines.push(line)
    if (!Object.hasOwn(pointParents, name)) return true
    const [lon, lat] = [element.getAttribute('lon') ?? '', element.getAttribute('lat') ?? '']
    const reason = findMisplacementReason(element) ?? findProblem([lon.trim(), lat.trim()])
    if (reason !== undefined) this.#skipped.add(reason, line)
    else this.#addPositions(1, 1)
    return reason === undefined
  }

  close(element: XmlElement, line: number): void {
    const name = element.tagName
    if (name === 'coordinates') this.#filterCoordinates(element, this.#coordinateLines.pop() ?? line)
    if (name === 'coord' || name === 'gx:coord') this.#checkCoord(element, line)
    if (name === 'Model') this.#skipped.add('a Model is not imported', line)
    const minCount = minPositions[name]
    if (minCount === undefined) return
    const { positions, distinctPositions } = this.#lines.pop() ?? { positions: 0, distinctPositions: 0 }
    if (positions > 0 && distinctPositions < minCount) {
      this.#skipped.add(`${name} with fewer than ${minCount} positions`, line, positions)
      element.removeChildren()
    }
  }

  #addPositions(positions: number, distinctPositions: number): void {
    const last = this.#lines.at(-1)
    if (last === undefined) return
    last.positions += positions
    last.distinctPositions += distinctPositions
  }

  #filterCoordinates(element: XmlElement, start: number): void {
    const { parentNode } = element
    const isPoint = parentNode?.tagName === 'Point'
    const coordinatesProblem = findCoordinatesProblem(element)
    const retainedTexts: string[] = []
    for (const { text, line } of listTuples(element.rawText, start)) {
      const isSecond = isPoint && retainedTexts.length > 0
      const reason =
        coordinatesProblem ?? (isSecond ? 'more than one position in a Point' : findProblem(text.split(',')))
      if (reason === undefined) retainedTexts.push(text)
      else this.#skipped.add(reason, line)
    }
    element.setText(retainedTexts.join(' '))
    // The last position of a ring repeats the first.
    const isClosed =
      parentNode?.tagName === 'LinearRing' &&
      retainedTexts.length > 1 &&
      retainedTexts[0] === retainedTexts.at(-1)
    this.#addPositions(retainedTexts.length, isClosed ? retainedTexts.length - 1 : retainedTexts.length)
  }

  #checkCoord(element: XmlElement, line: number): void {
    const { parentNode } = element
    if (!(trackTags.has(parentNode?.tagName ?? '') && isInFeature(element))) {
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

function findMisplacementReason({ tagName, parentNode }: XmlElement): string | undefined {
  const container = pointParents[tagName]
  if (container === undefined) return undefined
  const hasValidParent =
    parentNode?.tagName === container && (container === 'rte' || parentNode.parentNode?.tagName === 'trk')
  return hasValidParent
    ? undefined
    : `${tagName} outside ${container === 'rte' ? 'a rte' : 'the trkseg of a trk'}`
}

function findCoordinatesProblem(element: XmlElement): string | undefined {
  const { parentNode } = element
  if (parentNode === undefined || !geometryTags.has(parentNode.tagName) || !isInFeature(element))
    return 'position outside a Placemark or its geometry'
  const isFirst =
    parentNode.childNodes.find((node) => node.nodeType === 1 && node.tagName === 'coordinates') === element
  return isFirst ? undefined : 'more than one list of coordinates in a geometry'
}

function isInFeature(element: XmlElement): boolean {
  let ancestor = element.parentNode
  while (ancestor !== undefined && !featureTags.has(ancestor.tagName)) ancestor = ancestor.parentNode
  return ancestor !== undefined
}

/** Tolerates white space around commas, which KML does not allow. */
function listTuples(text: string, start: number): { text: string; line: number }[] {
  const tuples: { text: string; line: number }[] = []
  let [line, offset] = [start, 0]
  for (const { 0: tuplePart, index } of text.matchAll(/\S+/g)) {
    line += text.slice(offset, index).split('\n').length - 1
    offset = index
    const last = tuples.at(-1)
    if (last !== undefined && (last.text.endsWith(',') || tuplePart.startsWith(','))) last.text += tuplePart
    else tuples.push({ text: tuplePart, line })
  }
  return tuples
}

function findProblem(parts: readonly string[]): string | undefined {
  const [lon = '', lat = ''] = parts
  if (parts.length < 2 || parts.length > 3 || !parts.every((part) => numberPattern.test(part)))
    return invalidReason
  return Math.abs(Number(lon)) <= 180 && Math.abs(Number(lat)) <= 90 ? undefined : outOfRangeReason
}
