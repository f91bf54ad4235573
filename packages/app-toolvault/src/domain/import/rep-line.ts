import { dayStart } from '@causeway/app-kit/time'
import type { Place } from '../geodesy/geodesic.ts'

export class RepLine {
  readonly #text: string
  readonly #pivotYear: number
  #position = 0

  constructor(text: string, pivotYear: number) {
    this.#text = text.trim()
    this.#pivotYear = pivotYear
  }

  /** Quoted fields can contain white space. Returns an empty text at the end of the line. */
  readField(): string {
    const found = this.#read(/"([^"]*)"\s*|(\S+)\s*/y)
    return found?.[1] ?? found?.[2] ?? ''
  }

  /** Returns `null` for NULL, NaN and any other text that is not a number. */
  readNumber(): number | null {
    const field = this.readField()
    const value = Number(field)
    return field === '' || !Number.isFinite(value) ? null : value
  }

  /** Reads `DD MM SS.SS N DDD MM SS.SS W`. Returns `null` for NULL and `undefined` for any other text. */
  readPlace(): Place | null | undefined {
    if (this.#read(/NULL(\s+|$)/iy) !== undefined) return null
    const start = this.#position
    const lat = this.#readAngle('NS', 90)
    const lon = lat === undefined ? undefined : this.#readAngle('EW', 180)
    if (lat !== undefined && lon !== undefined) return { lon, lat }
    this.#position = start
    return undefined
  }

  /** Reads `YYMMDD HHMMSS.SSS` or `YYYYMMDD HHMMSS.SSS`. Returns the time in Unix milliseconds. */
  readTime(): number | undefined {
    const found = this.#read(/(\d{6}|\d{8})\s+(\d{2})(\d{2})(\d{2}(?:\.\d+)?)(?:\s+|$)/y)
    if (found === undefined) return undefined
    const [, date = '', ...clock] = found
    const [hours = 0, minutes = 0, seconds = 0] = clock.map(Number)
    const midnight = this.#readDay(date)
    if (midnight === undefined || hours > 23 || minutes > 59 || seconds >= 60) return undefined
    return midnight + Math.round(((hours * 60 + minutes) * 60 + seconds) * 1000)
  }

  readRest(): string {
    const rest = this.#text.slice(this.#position).trim()
    this.#position = this.#text.length
    return rest
  }

  #read(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#position
    const found = pattern.exec(this.#text) ?? undefined
    if (found !== undefined) this.#position = pattern.lastIndex
    return found
  }

  #readAngle(hemispheres: string, max: number): number | undefined {
    const found = this.#read(/(\d+(?:\.\d+)?)\s+(\d+(?:\.\d+)?)\s+(\d+(?:\.\d+)?)\s+([NSEW])(?:\s+|$)/iy)
    const [, degrees, minutes, seconds, hemisphere = ''] = found ?? []
    const side = hemispheres.indexOf(hemisphere.toUpperCase())
    if (found === undefined || side < 0) return undefined
    const size = Number(degrees) + Number(minutes) / 60 + Number(seconds) / 3600
    if (Number(minutes) >= 60 || Number(seconds) >= 60 || size > max) return undefined
    return Number((side === 1 ? -size : size).toFixed(9))
  }

  #readDay(text: string): number | undefined {
    const year = Number(text.slice(0, -4))
    const full = text.length === 8 ? year : year >= this.#pivotYear ? 1900 + year : 2000 + year
    return dayStart(full, Number(text.slice(-4, -2)), Number(text.slice(-2)))
  }
}
