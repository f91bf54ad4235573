import { formatCount, type Injection } from '@causeway/plot'
import type { JsonObject } from '@causeway/protocol'
import type { Item } from '../document/item.ts'
import { getTimeState, getViewport, type PlotDocument } from '../document/plot-document.ts'

export type Injections = Readonly<Record<string, Injection>>

/** Returns the values that the plot has, and for each missing value the reason. */
export function resolveInjections(document: PlotDocument, injections: Injections) {
  const values: Record<string, unknown> = {}
  const missingReasons: Record<string, string> = {}
  for (const [name, injection] of Object.entries(injections)) {
    const value = resolveInjection(document, injection)
    if (typeof value === 'string') missingReasons[name] = value
    else values[name] = value
  }
  return { values, missing: missingReasons }
}

export const listMissingArguments = (
  document: PlotDocument,
  tools: Readonly<Record<string, Injections>>,
): Readonly<Record<string, Readonly<Record<string, string>>>> =>
  Object.fromEntries(
    Object.entries(tools).map(([tool, injections]) => [
      tool,
      resolveInjections(document, injections).missing,
    ]),
  )

function resolveInjection(document: PlotDocument, injection: Injection): unknown {
  switch (injection.from) {
    case 'selection':
      return resolveSelection(document, injection)
    case 'collection': {
      const selectedItems = listSelectedItems(document)
      const items = selectedItems.length > 0 ? selectedItems : document.items
      return { type: 'FeatureCollection', features: items.map(({ value }) => value) }
    }
    case 'track': {
      const isTrack = ({ summary }: Item): boolean => summary.dataType === 'track'
      const track = listSelectedItems(document).find(isTrack) ?? document.items.find(isTrack)
      return track?.value ?? 'the plot has no track'
    }
    case 'viewport':
      return getViewport(document) ?? 'the plot has neither a viewport nor features with a geometry'
    case 'time':
      return getTimeState(document) ?? 'the plot has no times'
  }
}

function resolveSelection(
  document: PlotDocument,
  { kinds, min, max }: Extract<Injection, { from: 'selection' }>,
): readonly JsonObject[] | string {
  const acceptsAnyKind = kinds.includes('any')
  const features = listSelectedItems(document).filter(
    ({ summary }) => acceptsAnyKind || kinds.includes(summary.dataType ?? ''),
  )
  const formatRequired = (count: number): string => {
    if (acceptsAnyKind) return formatCount(count, 'feature')
    return `${count} ${kinds.map((kind) => kind + (count === 1 ? '' : 's')).join(' or ')}`
  }
  const selectedText = features.length === 1 ? '1 is selected' : `${features.length} are selected`
  if (features.length < min) return `select at least ${formatRequired(min)}; ${selectedText}`
  if (max !== null && features.length > max) return `select at most ${formatRequired(max)}; ${selectedText}`
  return features.map(({ value }) => value)
}

export function listSelectedItems({ items, selection }: PlotDocument): readonly Item[] {
  if (selection.length === 0) return []
  const ids = new Set(selection)
  return items.filter(({ id }) => id !== null && ids.has(id))
}
