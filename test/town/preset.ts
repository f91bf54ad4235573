/** Kinds of towns, from fixtures/minds/presets.json. */
import { readFileSync } from 'node:fs'

/** Things of one kind that a need is filled at. */
export interface ThingKind {
  readonly name: string
  readonly count: number
  /** Name of the interaction. */
  readonly does: string
  readonly fills: string
  /** Gain of the need per game minute. */
  readonly rate: number
  /** Longest use, game minutes. */
  readonly minutes: number
  /** How many can use it at once. */
  readonly capacity: number
  /** Minutes of the day between which it is open; absent: always. */
  readonly opens?: number
  readonly closes?: number
}

/** A kind of town. */
export interface Preset {
  readonly about: string
  readonly width: number
  readonly height: number
  /** The value of a full need. */
  readonly max: number
  /** need -> loss per game minute, ±20 % from character to character */
  readonly needs: Readonly<Record<string, number>>
  readonly talkFills: string
  readonly talkRate: number
  readonly things: readonly ThingKind[]
  /** Whether refusals and arrivals are told as events; invitations always are. */
  readonly tellsEvents: boolean
  /** Whether messages carry times. */
  readonly hasTimes: boolean
  readonly tellsRates: boolean
}

/** Names of the kinds of towns. */
export const presetNames = ['rich', 'scarce', 'renamed'] as const

/** Name of a kind of town. */
export type PresetName = (typeof presetNames)[number]

/** Reads one. */
export function presetOf(name: PresetName): Preset {
  const file = new URL('../../fixtures/minds/presets.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as Record<PresetName, Preset>)[name] // a file of this repository
}
