/** Arguments of analysis tools that the plot can give: the selection, a collection, a track, the view, the time. */

import { isObject, type JsonObject } from '@causeway/protocol'
import type { Item } from './item.ts'
import { type PlotDocument, timeState, viewportState } from './plot-document.ts'

/** Where an argument comes from when the caller gives none. */
export type Injection =
  | {
      readonly from: 'selection'
      /** data types that fit; `any` for all */
      readonly kinds: readonly string[]
      readonly min: number
      readonly max: number | null
    }
  | { readonly from: 'collection' | 'track' | 'viewport' | 'time' }

/** Arguments that the plot gives, and why it cannot give the others. */
export interface Injected {
  readonly values: JsonObject
  readonly missing: Readonly<Record<string, string>>
}

/** Reads the hint of one argument; null for a form that is not known. */
export function readInjection(value: unknown): Injection | null {
  if (!isObject(value)) return null
  const { from, kinds = ['any'], min = 1, max = null } = value
  if (from === 'collection' || from === 'track' || from === 'viewport' || from === 'time') return { from }
  if (from !== 'selection' || !Array.isArray(kinds)) return null
  return { from, kinds: kinds.map(String), min: Number(min), max: max === null ? null : Number(max) }
}

/** The arguments of these names. What a caller gives is not asked for here, and so never replaced. */
export function injected(document: PlotDocument, wanted: Readonly<Record<string, Injection>>): Injected {
  const values: Record<string, unknown> = {}
  const missing: Record<string, string> = {}
  for (const [name, injection] of Object.entries(wanted)) {
    const value = valueFor(document, injection)
    if (typeof value === 'string') missing[name] = value
    else values[name] = value
  }
  return { values, missing }
}

/** Which arguments of each tool the plot cannot give, and why. */
export const missingFor = (
  document: PlotDocument,
  tools: Readonly<Record<string, Readonly<Record<string, Injection>>>>,
): Readonly<Record<string, Injected['missing']>> =>
  Object.fromEntries(
    Object.entries(tools).map(([tool, wanted]) => [tool, injected(document, wanted).missing]),
  )

/** The value, or why there is none. */
function valueFor(document: PlotDocument, injection: Injection): unknown {
  switch (injection.from) {
    case 'selection':
      return selectedOf(document, injection)
    case 'collection': {
      const selected = selectedItems(document)
      const items = selected.length > 0 ? selected : document.items
      return { type: 'FeatureCollection', features: items.map(({ value }) => value) }
    }
    case 'track': {
      const isTrack = ({ looks }: Item): boolean => looks.dataType === 'track'
      const track = selectedItems(document).find(isTrack) ?? document.items.find(isTrack)
      return track?.value ?? 'the plot has no track'
    }
    case 'viewport':
      return viewportState(document) ?? 'the plot has neither a viewport nor features with a place'
    case 'time':
      return timeState(document) ?? 'the plot has no times'
  }
}

function selectedOf(
  document: PlotDocument,
  { kinds, min, max }: Extract<Injection, { from: 'selection' }>,
): readonly JsonObject[] | string {
  const fits = ({ looks }: Item): boolean => kinds.includes('any') || kinds.includes(looks.dataType ?? '')
  const features = selectedItems(document).filter(fits)
  const amount = (count: number): string => {
    const plural = count === 1 ? '' : 's'
    return `${count} ${kinds.includes('any') ? `feature${plural}` : kinds.map((kind) => kind + plural).join(' or ')}`
  }
  const now = `now ${features.length === 1 ? '1 is' : `${features.length} are`} selected`
  if (features.length < min) return `select at least ${amount(min)}; ${now}`
  if (max !== null && features.length > max) return `select at most ${amount(max)}; ${now}`
  return features.map(({ value }) => value)
}

/** The features of the selection, in the order of the plot. */
export function selectedItems({ items, selection }: PlotDocument): readonly Item[] {
  if (selection.length === 0) return []
  const wanted = new Set(selection)
  return items.filter(({ id }) => id !== null && wanted.has(id))
}
