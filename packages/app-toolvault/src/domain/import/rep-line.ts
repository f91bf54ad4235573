import { dayStart } from '@causeway/app-kit/time'
import type { LatLon } from '../geodesy/geodesic.ts'

export class RepLine {
  readonly #text: string
  readonly #pivotYear: number
  #offset = 0

  constructor(text: string, pivotYear: number) {
    this.#text = text.trim()
    this.#pivotYear = pivotYear
  }

  /** Quoted fields can contain white space. Returns an empty text at the end of the line. */
  readField(): string {
    const match = this.#match(/"([^"]*)"\s*|(\S+)\s*/y)
    return match?.[1] ?? match?.[2] ?? ''
  }

  /** Returns `null` for NULL, NaN and any other text that is not a number. */
  readNumber(): number | null {
    const field = this.readField()
    const value = Number(field)
    return field === '' || !Number.isFinite(value) ? null : value
  }

  /** Reads `DD MM SS.SS N DDD MM SS.SS W`. Returns `null` for NULL and `undefined` for any other text. */
  readPosition(): LatLon | null | undefined {
    if (this.#match(/NULL(\s+|$)/iy) !== undefined) return null
    const startOffset = this.#offset
    const lat = this.#readAngle('NS', 90)
    const lon = lat === undefined ? undefined : this.#readAngle('EW', 180)
    if (lat !== undefined && lon !== undefined) return { lon, lat }
    this.#offset = startOffset
    return undefined
  }

  /** Reads `YYMMDD HHMMSS.SSS` or `YYYYMMDD HHMMSS.SSS`. Returns the time in Unix milliseconds. */
  readTime(): number | undefined {
    const match = this.#match(/(\d{6}|\d{8})\s+(\d{2})(\d{2})(\d{2}(?:\.\d+)?)(?:\s+|$)/y)
    if (match === undefined) return undefined
    const [, date = '', ...clock] = match
    const [hours = 0, minutes = 0, seconds = 0] = clock.map(Number)
    const midnight = this.#readDay(date)
    if (midnight === undefined || hours > 23 || minutes > 59 || seconds >= 60) return undefined
    return midnight + Math.round(((hours * 60 + minutes) * 60 + seconds) * 1000)
  }

  readRemainingText(): string {
    const remainingText = this.#text.slice(this.#offset).trim()
    this.#offset = this.#text.length
    return remainingText
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#offset
    const match = pattern.exec(this.#text) ?? undefined
    if (match !== undefined) this.#offset = pattern.lastIndex
    return match
  }

  #readAngle(hemispheres: string, max: number): number | undefined {
    const match = this.#match(/(\d+(?:\.\d+)?)\s+(\d+(?:\.\d+)?)\s+(\d+(?:\.\d+)?)\s+([NSEW])(?:\s+|$)/iy)
    const [, degrees, minutes, seconds, hemisphere = ''] = match ?? []
    const hemisphereIndex = hemispheres.indexOf(hemisphere.toUpperCase())
    if (match === undefined || hemisphereIndex < 0) return undefined
    const angle = Number(degrees) + Number(minutes) / 60 + Number(seconds) / 3600
    if (Number(minutes) >= 60 || Number(seconds) >= 60 || angle > max) return undefined
    return Number((hemisphereIndex === 1 ? -angle : angle).toFixed(9))
  }

  #readDay(text: string): number | undefined {
    const year = Number(text.slice(0, -4))
    const fullYear = text.length === 8 ? year : year >= this.#pivotYear ? 1900 + year : 2000 + year
    return dayStart(fullYear, Number(text.slice(-4, -2)), Number(text.slice(-2)))
  }
}
