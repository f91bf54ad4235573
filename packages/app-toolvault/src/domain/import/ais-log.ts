import { parseTime } from '@causeway/app-kit/time'
import type { DebriefCommand, Feature } from '@causeway/plot'
import ggencoder from 'ggencoder'
import { reportImport, SkipCounter } from './import-report.ts'
import { addFix, type LogFix, toFeature } from './log-fix.ts'

const { AisDecode } = ggencoder

type AisMessage = InstanceType<typeof AisDecode>

const vesselTypes = new Set([1, 2, 3, 18, 19, 27])

const stationKinds: Readonly<Record<number, string>> = {
  4: 'base station',
  11: 'station',
  21: 'aid to navigation',
}

interface AisOptions {
  /** Time of the first message in Unix milliseconds, if the log has no times. */
  readonly start: number | undefined
  readonly min_interval_s: number | undefined
  newId(prefix: string): string
}

interface VesselLog {
  readonly fixes: LogFix[]
  name: string | undefined
  kind: string
}

/**
 * Reads AIS logs (AIVDM, ITU-R M.1371). Times are in the tag block or next to the sentence, or are derived from `start`
 * and the second in each message.
 */
export class AisLogReader {
  readonly #options: AisOptions
  readonly #ships = new Map<string, VesselLog>()
  readonly #sessions = new Map<string, Record<string, unknown>>()
  readonly #skipped = new SkipCounter()
  #lineCount = 0
  #lineNumber = 0
  #clockMs: number | undefined
  #untimedCount = 0

  constructor(options: AisOptions) {
    this.#options = options
    this.#clockMs = options.start
  }

  readLine(line: string): void {
    this.#lineNumber++
    if (line.trim() === '') return
    this.#lineCount++
    const reason = this.#readSentence(line)
    if (reason !== undefined) this.#skipped.add(reason, this.#lineNumber)
  }

  #readSentence(line: string): string | undefined {
    const sentenceStart = line.indexOf('!')
    if (sentenceStart < 0) return 'not an AIS sentence'
    const text = /^![^*]*\*[0-9A-Fa-f]{2}/.exec(line.slice(sentenceStart))?.[0]
    if (text === undefined) return 'no checksum'
    const message = new AisDecode(text, this.#getSession(text))
    if (message.error !== '') return toReason(message.error)
    const { aistype, mmsi, shipname } = message
    if (aistype === undefined || mmsi === undefined) return undefined
    if (shipname !== undefined && removePadding(shipname) !== '')
      this.#getShip(mmsi).name = removePadding(shipname)
    if (vesselTypes.has(aistype) || aistype in stationKinds)
      return this.#addPosition(
        message,
        mmsi,
        readReceptionTime(line.slice(0, sentenceStart), line.slice(sentenceStart + text.length)),
      )
    return shipname === undefined ? `message type ${aistype} has no position` : undefined
  }

  finish(): DebriefCommand {
    const { newId, min_interval_s } = this.#options
    const features = [...this.#ships].flatMap(
      ([mmsi, ship]) =>
        toShipFeature(mmsi, ship, { id: newId('ais'), min_interval_s, skipped: this.#skipped }) ?? [],
    )
    const notes =
      this.#untimedCount > 0
        ? [`${this.#untimedCount} positions have no time: pass start, or a log with times of reception.`]
        : []
    return reportImport({ format: 'AIS', features, lines: this.#lineCount, skipped: this.#skipped, notes })
  }

  /** The parts of different messages can be interleaved. Sequence and channel identify a message. */
  #getSession(text: string): Record<string, unknown> {
    const [, count, , sequence, channel] = text.split(',')
    if (count === '1') return {}
    const key = `${sequence}/${channel}`
    const session = this.#sessions.get(key) ?? {}
    this.#sessions.set(key, session)
    return session
  }

  #getShip(mmsi: string): VesselLog {
    const ship = this.#ships.get(mmsi) ?? { fixes: [], name: undefined, kind: 'vessel' }
    this.#ships.set(mmsi, ship)
    return ship
  }

  #addPosition(message: AisMessage, mmsi: string, receivedMs: number | null): string | undefined {
    const { lon, lat, aistype = 0 } = message
    if (lon === undefined || lat === undefined || Math.abs(lon) > 180 || Math.abs(lat) > 90)
      return 'position not available'
    const ship = this.#getShip(mmsi)
    ship.kind = stationKinds[aistype] ?? ship.kind
    const time = receivedMs ?? this.#estimateTime(message)
    if (time === null) this.#untimedCount++
    addFix(ship.fixes, {
      time,
      lon: Number(lon.toFixed(7)),
      lat: Number(lat.toFixed(7)),
      speed_kn: readSpeed(message),
      course_deg: readCourse(message),
      elevation_m: null,
      line: this.#lineNumber,
    })
    return undefined
  }

  /** Starts the next minute if the second decreases by more than 30. */
  #estimateTime({ utc }: AisMessage): number | null {
    if (this.#clockMs === undefined) return null
    if (utc === undefined || utc > 59) return this.#clockMs
    const minuteStart = Math.floor(this.#clockMs / 60_000) * 60_000
    const estimated = minuteStart + utc * 1000
    this.#clockMs =
      estimated < this.#clockMs - 30_000 ? estimated + 60_000 : Math.max(estimated, this.#clockMs)
    return estimated < this.#clockMs - 30_000 ? estimated + 60_000 : estimated
  }
}

const toReason = (error: string): string =>
  /checksum/.test(error) ? 'wrong checksum' : error.replace(/^AisDecode: /, '').replace(/\.$/, '')

/** Removes padding, which starts with `@`. */
const removePadding = (text: string): string => text.replace(/@.*$/s, '').trim()

/** 102.3 knots, or 63 knots in the long-range message, means "not available". */
function readSpeed({ sog, aistype }: AisMessage): number | null {
  const unavailableSpeed = aistype === 27 ? 63 : 102.3
  return sog === undefined || sog >= unavailableSpeed ? null : sog
}

/** Values of 360 and more mean "not available". */
const readCourse = ({ cog }: AisMessage): number | null => (cog === undefined || cog >= 360 ? null : cog)

/** Reads `c:` of the tag block, a leading ISO time, or trailing Unix seconds or milliseconds. */
function readReceptionTime(before: string, after: string): number | null {
  const tagTime = /\\[^\\]*\bc:(\d{9,13})/.exec(before)?.[1]
  const trailingTime = /^\s*[,;]\s*(\d{9,13})/.exec(after)?.[1]
  const unixTime = tagTime ?? trailingTime
  if (unixTime !== undefined) return unixTime.length > 11 ? Number(unixTime) : Number(unixTime) * 1000
  return parseTime(before.replace(/(?<![\s,;])[\s,;]+$/, '')) ?? null
}

function toShipFeature(
  mmsi: string,
  { fixes, name = `MMSI ${mmsi}`, kind }: VesselLog,
  options: { id: string; min_interval_s: number | undefined; skipped: SkipCounter },
): Feature | undefined {
  const usedFixes = kind === 'vessel' ? fixes : fixes.slice(-1)
  for (const { line } of fixes.slice(0, fixes.length - usedFixes.length))
    options.skipped.add('earlier position of a station', line)
  return toFeature(usedFixes, { ...options, name, source: 'AIS', properties: { mmsi, stationType: kind } })
}
