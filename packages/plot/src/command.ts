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
): DebriefCommand => ({ command: 'showData', payload: roundByUnit(data, '') })

const decimalsByUnit: Readonly<Record<string, number>> = { m: 3, nm: 6, deg: 4, kn: 4, s: 3 }

function roundByUnit(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((item) => roundByUnit(item, ''))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, roundByUnit(member, key)]))
  if (typeof value !== 'number' || !Number.isFinite(value)) return value
  const decimals = decimalsByUnit[/_([a-z]+)$/.exec(name)?.[1] ?? '']
  return decimals === undefined ? value : Number(value.toFixed(decimals))
}

/** Combines commands into one. Returns a single command unchanged. */
export function createComposite(commands: readonly DebriefCommand[]): DebriefCommand {
  const [onlyCommand] = commands
  return commands.length === 1 && onlyCommand !== undefined
    ? onlyCommand
    : { command: 'composite', payload: commands }
}
