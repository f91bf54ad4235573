import type { SkipCounter } from './import-report.ts'
import type { ElementWatcher, XmlElement } from './xml-document.ts'

const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

const invalid = 'position is not two or three numbers'
const outOfRange = 'position out of range'

/** Elements of GPX with a position. */
const points = new Set(['trkpt', 'rtept', 'wpt'])

/** Elements whose positions are a line, and the positions that they need. */
const minPositions: Readonly<Record<string, number>> = { trkseg: 2, rte: 2, LineString: 2, LinearRing: 4 }

/** A place outside the earth for a position of a `Track`, which keeps the others aligned with their times. */
const nowhere = '999 999'

/**
 * Counts the positions of a GPX or KML document that cannot be imported. The GeoJSON reader would omit them without notice, or
 * read only a part of their numbers.
 */
export class XmlPositions implements ElementWatcher {
  readonly #skipped: SkipCounter
  /** Positions of the lines that are open. */
  readonly #counts: number[] = []
  readonly #starts: number[] = []

  constructor(skipped: SkipCounter) {
    this.#skipped = skipped
  }

  /** Returns whether the element is read. `line` is the current line. */
  open(element: XmlElement, line: number): boolean {
    const name = element.tagName
    if (name in minPositions) this.#counts.push(0)
    if (name === 'coordinates') this.#starts.push(line)
    if (!points.has(name)) return true
    const reason = findProblem([element.getAttribute('lon') ?? '', element.getAttribute('lat') ?? ''])
    if (reason !== undefined) this.#skipped.add(reason, line)
    else this.#count(1)
    return reason === undefined
  }

  close(element: XmlElement, line: number): void {
    const name = element.tagName
    if (name === 'coordinates') this.#filterCoordinates(element, this.#starts.pop() ?? line)
    if (name === 'coord' || name === 'gx:coord') this.#checkCoord(element, line)
    const min = minPositions[name]
    if (min === undefined) return
    const found = this.#counts.pop() ?? 0
    if (found > 0 && found < min) {
      this.#skipped.add(`${name} with fewer than ${min === 4 ? 3 : 2} positions`, line, found)
      element.removeChildren()
    }
  }

  #count(positions: number): void {
    const last = this.#counts.length - 1
    if (last >= 0) this.#counts[last] = (this.#counts[last] ?? 0) + positions
  }

  #filterCoordinates(element: XmlElement, start: number): void {
    const kept: string[] = []
    for (const { text, line } of listTuples(element.rawText, start)) {
      const parts = text.split(',')
      const reason = findProblem(parts)
      if (reason === undefined) kept.push(text)
      else this.#skipped.add(reason, line)
    }
    element.setText(kept.join(' '))
    const isOpenRing = element.parentNode?.tagName === 'LinearRing' && kept[0] !== kept.at(-1)
    this.#count(kept.length + (isOpenRing && kept.length > 0 ? 1 : 0))
  }

  #checkCoord(element: XmlElement, line: number): void {
    const parts = element.rawText.trim().split(/\s+/)
    const reason = parts[0] === '' ? 'position is empty' : findProblem(parts)
    if (reason === undefined) return
    this.#skipped.add(reason, line)
    element.setText(nowhere)
  }
}

/** Splits coordinates at blanks. Blanks around commas belong to the position, although KML does not allow them. */
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

/** Returns the reason to omit a position. */
function findProblem(parts: readonly string[]): string | undefined {
  const [lon = '', lat = ''] = parts
  if (parts.length < 2 || parts.length > 3 || !parts.every((part) => number.test(part))) return invalid
  return Math.abs(Number(lon)) <= 180 && Math.abs(Number(lat)) <= 90 ? undefined : outOfRange
}
