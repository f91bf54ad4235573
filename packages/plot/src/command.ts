import type { Bounds } from './bounds.ts'
import type { Feature } from './feature.ts'
import type { TimeState } from './time.ts'

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

/** Older names of `setSelection` and `setViewport`. */
export const legacyCommandNames = ['highlightFeatures', 'updateViewport'] as const

/** A change of a plot, or something to display. Analysis tools return commands, and Debrief applies them. */
export interface DebriefCommand {
  readonly command: (typeof commandNames)[number]
  readonly payload: unknown
}

export const addFeatures = (features: readonly Feature[]): DebriefCommand => ({
  command: 'addFeatures',
  payload: features,
})

/** Replaces features with the same ids completely. */
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

/** Rounds numbers whose names end in a unit: `_m`, `_nm`, `_deg`, `_kn` or `_s`. */
export const showData = (
  data: { readonly title: string; readonly summary: string } & Readonly<Record<string, unknown>>,
): DebriefCommand => ({ command: 'showData', payload: roundUnits(data, '') })

const decimals: Readonly<Record<string, number>> = { m: 3, nm: 6, deg: 4, kn: 4, s: 3 }

function roundUnits(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((item) => roundUnits(item, ''))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, roundUnits(member, key)]))
  if (typeof value !== 'number' || !Number.isFinite(value)) return value
  const places = decimals[/_([a-z]+)$/.exec(name)?.[1] ?? '']
  return places === undefined ? value : Number(value.toFixed(places))
}

/** Returns a single command unchanged. */
export function createComposite(commands: readonly DebriefCommand[]): DebriefCommand {
  const [only] = commands
  return commands.length === 1 && only !== undefined ? only : { command: 'composite', payload: commands }
}
