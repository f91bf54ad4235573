/**
 * AIS logs (AIVDM, ITU-R M.1371): a track for each vessel that moved, a point for stations and aids. Messages have no date;
 * the time of reception is taken from the tag block, from a time before or after the sentence, or counted on from a start
 * by the second that the message names. Values that mean "not available" become null and are never drawn.
 */

import { parseTime } from '@causeway/app-kit/time'
import ggencoder from 'ggencoder'
import type { DebriefCommand } from '../command.ts'
import type { Feature } from '../feature.ts'
import { importAnswer, skipping } from './import-answer.ts'
import { featureOf, keep, type LogFix } from './log-fix.ts'

const { AisDecode } = ggencoder

type Decoded = InstanceType<typeof AisDecode>

/** Messages of positions of vessels. */
const vessels = new Set([1, 2, 3, 18, 19, 27])

/** Messages of positions of what does not move. */
const stations: Readonly<Record<number, string>> = {
  4: 'base station',
  11: 'station',
  21: 'aid to navigation',
}

/** What the log does not say itself. */
export interface AisOptions {
  /** ms; undefined where nothing is assumed */
  readonly start: number | undefined
  readonly min_interval_s: number | undefined
  newId(prefix: string): string
}

interface Ship {
  readonly fixes: LogFix[]
  name: string | undefined
  kind: string
}

/** Opens a log. */
export function aisLog({ start, min_interval_s, newId }: AisOptions) {
  const ships = new Map<string, Ship>()
  const parts = new Map<string, Record<string, unknown>>()
  const skipped = skipping()
  const state = { lines: 0, clock: start, untimed: 0 }

  const shipOf = (mmsi: string): Ship => {
    const known = ships.get(mmsi)
    if (known !== undefined) return known
    const ship: Ship = { fixes: [], name: undefined, kind: 'vessel' }
    ships.set(mmsi, ship)
    return ship
  }

  /** Counts on from the start: a second smaller than the one before is in the next minute. */
  const counted = ({ utc }: Decoded): number | null => {
    if (state.clock === undefined) return null
    if (utc === undefined || utc > 59) return state.clock
    const minute = Math.floor(state.clock / 60_000) * 60_000
    const next = minute + utc * 1000
    state.clock = next < state.clock - 30_000 ? next + 60_000 : Math.max(next, state.clock)
    return next < state.clock - 30_000 ? next + 60_000 : next
  }

  const position = (message: Decoded, mmsi: string, received: number | null): void => {
    const { lon, lat, aistype = 0 } = message
    if (lon === undefined || lat === undefined || Math.abs(lon) > 180 || Math.abs(lat) > 90) {
      skipped.add('position not available')
      return
    }
    const ship = shipOf(mmsi)
    ship.kind = stations[aistype] ?? ship.kind
    const time = received ?? counted(message)
    if (time === null) state.untimed++
    keep(ship.fixes, {
      time,
      lon: Number(lon.toFixed(7)),
      lat: Number(lat.toFixed(7)),
      speed_kn: speedOf(message),
      course_deg: courseOf(message),
      elevation_m: null,
    })
  }

  return {
    take(line: string): void {
      const found = line.indexOf('!')
      if (line.trim() === '') return
      state.lines++
      if (found < 0) {
        skipped.add('no AIS sentence')
        return
      }
      const text = /^![^*]*\*[0-9A-Fa-f]{2}/.exec(line.slice(found))?.[0]
      if (text === undefined) {
        skipped.add('no checksum')
        return
      }
      const message = new AisDecode(text, partsOf(parts, text))
      if (message.error !== '') {
        skipped.add(reasonOf(message.error))
        return
      }
      const { aistype, mmsi, shipname } = message
      // A part of a message whose rest is to come.
      if (aistype === undefined || mmsi === undefined) return
      if (shipname !== undefined && nameIn(shipname) !== '') shipOf(mmsi).name = nameIn(shipname)
      if (vessels.has(aistype) || aistype in stations)
        position(message, mmsi, receivedAt(line.slice(0, found), line.slice(found + text.length)))
      else if (shipname === undefined) skipped.add(`message type ${aistype} has no position`)
    },
    finish(): DebriefCommand {
      const features = [...ships].flatMap(([mmsi, ship]) => {
        const feature = shipFeature(mmsi, ship, { id: newId('ais'), min_interval_s })
        return feature === undefined ? [] : [feature]
      })
      const notes =
        state.untimed > 0
          ? [`${state.untimed} positions have no time: pass start, or a log with times of reception.`]
          : []
      return importAnswer({ format: 'AIS', features, lines: state.lines, skipped, notes })
    },
  }
}

/** Parts of messages are collected by channel and sequence, so that messages may come interleaved. */
function partsOf(parts: Map<string, Record<string, unknown>>, text: string): Record<string, unknown> {
  const [, count, , sequence, channel] = text.split(',')
  if (count === '1') return {}
  const key = `${sequence}/${channel}`
  const known = parts.get(key)
  if (known !== undefined) return known
  const session = {}
  parts.set(key, session)
  return session
}

const reasonOf = (error: string): string =>
  /checksum/.test(error) ? 'wrong checksum' : error.replace(/^AisDecode: /, '').replace(/\.$/, '')

/** Padding is `@`. */
const nameIn = (text: string): string => text.replace(/@.*$/s, '').trim()

/** 102.3 knots, and 63 in the long-range message, mean that it is not available. */
function speedOf({ sog, aistype }: Decoded): number | null {
  const unknown = aistype === 27 ? 63 : 102.3
  return sog === undefined || sog >= unknown ? null : sog
}

/** 360 and more means that it is not available. */
const courseOf = ({ cog }: Decoded): number | null => (cog === undefined || cog >= 360 ? null : cog)

/** The time of reception beside a sentence: tag block `c:`, a leading ISO time, or trailing Unix seconds. */
function receivedAt(before: string, after: string): number | null {
  const tag = /\\[^\\]*\bc:(\d{9,13})/.exec(before)?.[1]
  const trailing = /^\s*[,;]\s*(\d{9,13})/.exec(after)?.[1]
  const unix = tag ?? trailing
  if (unix !== undefined) return unix.length > 11 ? Number(unix) : Number(unix) * 1000
  return parseTime(before.replace(/(?<![\s,;])[\s,;]+$/, '')) ?? null
}

function shipFeature(
  mmsi: string,
  { fixes, name = `MMSI ${mmsi}`, kind }: Ship,
  { id, min_interval_s }: { id: string; min_interval_s: number | undefined },
): Feature | undefined {
  const kept = kind === 'vessel' ? fixes : fixes.slice(-1)
  return featureOf(kept, { id, name, source: 'AIS', min_interval_s, properties: { mmsi, stationType: kind } })
}
