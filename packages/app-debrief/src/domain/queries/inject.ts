import { formatCount, type Injection } from '@causeway/plot'
import type { JsonObject } from '@causeway/protocol'
import type { Item } from '../document/item.ts'
import { getTimeState, getViewport, type PlotDocument } from '../document/plot-document.ts'

export type Injections = Readonly<Record<string, Injection>>

/** Returns the values that the plot has, and for each missing value the reason. */
export function resolveInjections(document: PlotDocument, injections: Injections) {
  const values: Record<string, unknown> = {}
  const missing: Record<string, string> = {}
  for (const [name, injection] of Object.entries(injections)) {
    const value = resolve(document, injection)
    if (typeof value === 'string') missing[name] = value
    else values[name] = value
  }
  return { values, missing }
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

function resolve(document: PlotDocument, injection: Injection): unknown {
  switch (injection.from) {
    case 'selection':
      return resolveSelection(document, injection)
    case 'collection': {
      const selected = listSelected(document)
      const items = selected.length > 0 ? selected : document.items
      return { type: 'FeatureCollection', features: items.map(({ value }) => value) }
    }
    case 'track': {
      const isTrack = ({ summary }: Item): boolean => summary.dataType === 'track'
      const track = listSelected(document).find(isTrack) ?? document.items.find(isTrack)
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
  const acceptsAll = kinds.includes('any')
  const features = listSelected(document).filter(
    ({ summary }) => acceptsAll || kinds.includes(summary.dataType ?? ''),
  )
  const format = (count: number): string => {
    if (acceptsAll) return formatCount(count, 'feature')
    return `${count} ${kinds.map((kind) => kind + (count === 1 ? '' : 's')).join(' or ')}`
  }
  const current = features.length === 1 ? '1 is selected' : `${features.length} are selected`
  if (features.length < min) return `select at least ${format(min)}; ${current}`
  if (max !== null && features.length > max) return `select at most ${format(max)}; ${current}`
  return features.map(({ value }) => value)
}

export function listSelected({ items, selection }: PlotDocument): readonly Item[] {
  if (selection.length === 0) return []
  const ids = new Set(selection)
  return items.filter(({ id }) => id !== null && ids.has(id))
}
