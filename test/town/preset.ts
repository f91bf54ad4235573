/** Presets of towns, from fixtures/minds/presets.json. */
import { readFileSync } from 'node:fs'

/** Objects of one kind, which satisfy the same need. */
export interface ThingKind {
  readonly name: string
  readonly count: number
  /** Name of the interaction. */
  readonly does: string
  /** Name of the need. */
  readonly fills: string
  /** Gain of the need per game minute. */
  readonly rate: number
  /** Maximum duration of a use, in game minutes. */
  readonly minutes: number
  /** Maximum number of concurrent users. */
  readonly capacity: number
  /** Opening hours in minutes since midnight. By default the object is always available. */
  readonly opens?: number
  readonly closes?: number
}

/** Describes a town and the messages of its game. */
export interface Preset {
  readonly about: string
  readonly width: number
  readonly height: number
  /** The value of a fully satisfied need. */
  readonly max: number
  /** Maps each need to its loss per game minute, which varies by ±20 % between characters. */
  readonly needs: Readonly<Record<string, number>>
  readonly talkFills: string
  readonly talkRate: number
  readonly things: readonly ThingKind[]
  /** Whether the game reports refusals and arrivals as events. It always reports invitations. */
  readonly hasEvents: boolean
  /** Whether messages have timestamps. */
  readonly hasTimes: boolean
  /** Whether observations include the rate and the duration of interactions. */
  readonly hasRates: boolean
}

export const presetNames = ['rich', 'scarce', 'renamed'] as const

export type PresetName = (typeof presetNames)[number]

export function loadPreset(name: PresetName): Preset {
  const file = new URL('../../fixtures/minds/presets.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as Record<PresetName, Preset>)[name] // a file of this repository
}
