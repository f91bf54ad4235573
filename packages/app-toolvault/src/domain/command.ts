/** DebriefCommand: what a tool wants done to a plot. An object with exactly `command` and `payload`. */
import type { Feature } from './feature.ts'
import { legible } from './legible.ts'

/** Kinds of commands, as the plot applies them. */
export const commandNames = [
  'addFeatures',
  'updateFeatures',
  'deleteFeatures',
  'setFeatureCollection',
  'setViewport',
  'setSelection',
  'setTimeState',
  'showText',
  'showData',
  'showImage',
  'logMessage',
  'composite',
] as const

/** One command. */
export interface DebriefCommand {
  readonly command: (typeof commandNames)[number]
  readonly payload: unknown
}

/** Time of a plot: ISO 8601, UTC. */
export interface TimeState {
  readonly current: string
  readonly start: string
  readonly end: string
}

/** West, south, east, north in degrees; east is above 180 where the box crosses the antimeridian. */
export type Bounds = readonly [west: number, south: number, east: number, north: number]

export const addFeatures = (features: readonly Feature[]): DebriefCommand => ({
  command: 'addFeatures',
  payload: features,
})

/** Replaces each feature wholly, by its id. */
export const updateFeatures = (features: readonly Feature[]): DebriefCommand => ({
  command: 'updateFeatures',
  payload: features,
})

export const deleteFeatures = (ids: readonly string[]): DebriefCommand => ({
  command: 'deleteFeatures',
  payload: ids,
})

export const setViewport = (bounds: Bounds): DebriefCommand => ({
  command: 'setViewport',
  payload: { bounds },
})

export const setSelection = (selectedIds: readonly string[]): DebriefCommand => ({
  command: 'setSelection',
  payload: { selectedIds },
})

export const setTimeState = (time: TimeState): DebriefCommand => ({ command: 'setTimeState', payload: time })

export const showText = (text: string): DebriefCommand => ({ command: 'showText', payload: text })

/** Figures with a sentence that says what they mean; what their names give a unit is rounded as that unit deserves. */
export const showData = (
  data: { readonly title: string; readonly summary: string } & Readonly<Record<string, unknown>>,
): DebriefCommand => ({ command: 'showData', payload: legible(data) })

/** Several commands as one; alone where there is but one. */
export function composite(commands: readonly DebriefCommand[]): DebriefCommand {
  const [only] = commands
  return commands.length === 1 && only !== undefined ? only : { command: 'composite', payload: commands }
}
