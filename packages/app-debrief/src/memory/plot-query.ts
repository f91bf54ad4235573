import { type Bounds, type Injection, padBounds, type TimeState, uniteBounds } from '@causeway/plot'
import { isObject, type JsonObject } from '@causeway/protocol'
import { findState, getTimeState, getViewport, type PlotDocument } from '../domain/document/plot-document.ts'
import type { ViewportState } from '../domain/document/plot-state.ts'
import { parseMembers, toOneLine } from '../domain/document/plot-text.ts'
import { countSteps, type History, type StepCounts } from '../domain/history/history.ts'
import { createMapData, type MapData } from '../domain/map/map-data.ts'
import type { TimeStyle } from '../domain/map/time-labels.ts'
import {
  countByType,
  type FeatureFilter,
  type FeatureRow,
  filterItems,
  type Page,
  takeFeatures,
  toRow,
} from '../domain/queries/feature-rows.ts'
import {
  type InjectedArguments,
  listMissingArguments,
  listSelected,
  resolveInjections,
} from '../domain/queries/inject.ts'

export type Query =
  | { readonly kind: 'rows'; readonly filter: FeatureFilter; readonly page: Page }
  | {
      readonly kind: 'features'
      readonly filter: FeatureFilter
      readonly page: Page
      readonly maxCharacters: number
      readonly toleranceM?: number | undefined
    }
  | { readonly kind: 'state' }
  | { readonly kind: 'selected' }
  /** The collection as JSON text, without metadata features. */
  | { readonly kind: 'collection' }
  /** A viewer's initial state as members of a JSON object, with features up to a size. */
  | { readonly kind: 'snapshot'; readonly maxCharacters: number }
  | { readonly kind: 'bounds'; readonly padding: number; readonly ids?: readonly string[] }
  | { readonly kind: 'inject'; readonly wanted: Readonly<Record<string, Injection>> }
  | {
      readonly kind: 'missing'
      readonly tools: Readonly<Record<string, Readonly<Record<string, Injection>>>>
    }
  | {
      readonly kind: 'map'
      readonly bounds?: Bounds | undefined
      readonly width: number
      readonly timeStyle?: TimeStyle | undefined
    }

interface PlotState {
  readonly selection: readonly string[]
  readonly time: TimeState | null
  readonly timeFrom: 'file' | 'data'
  readonly viewport: ViewportState | null
  readonly viewportFrom: 'file' | 'data'
  readonly features: number
  readonly title: string | null
  readonly depths: StepCounts
}

interface FeatureList<T> {
  readonly items: readonly T[]
  readonly total: number
  readonly byType: Readonly<Record<string, number>>
}

export interface QueryResults {
  readonly rows: FeatureList<FeatureRow>
  readonly features: FeatureList<JsonObject>
  readonly state: PlotState
  readonly selected: readonly JsonObject[]
  readonly collection: string
  readonly snapshot: string
  /** `null` if there are no positions. */
  readonly bounds: Bounds | null
  readonly inject: InjectedArguments
  readonly missing: Readonly<Record<string, InjectedArguments['missing']>>
  readonly map: MapData
}

export type QueryResult = QueryResults[Query['kind']]

export function runQuery(document: PlotDocument, history: History, query: Query): QueryResult {
  switch (query.kind) {
    case 'rows': {
      const items = filterItems(document, query.filter)
      const { from, limit } = query.page
      return { items: items.slice(from, from + limit).map(toRow), ...countItems(items) }
    }
    case 'features': {
      const items = filterItems(document, query.filter)
      return { items: takeFeatures(items, { ...query.page, ...query }), ...countItems(items) }
    }
    case 'state':
      return getState(document, history)
    case 'selected':
      return listSelected(document).map(({ value }) => value)
    case 'collection':
      return formatCollection(document)
    case 'snapshot':
      return formatSnapshot(document, query.maxCharacters)
    case 'bounds': {
      const items =
        query.ids === undefined ? listSelected(document) : filterItems(document, { ids: query.ids })
      const bounds = uniteBounds(items.map(({ summary }) => summary.bounds))
      return bounds && padBounds(bounds, query.padding)
    }
    case 'inject':
      return resolveInjections(document, query.wanted)
    case 'missing':
      return listMissingArguments(document, query.tools)
    case 'map':
      return createMapData(document, query)
  }
}

const countItems = (items: PlotDocument['items']): Pick<FeatureList<never>, 'total' | 'byType'> => ({
  total: items.length,
  byType: countByType(items),
})

function getState(document: PlotDocument, history: History): PlotState {
  const { properties } = parseMembers(document.layout)
  const title = isObject(properties) ? (properties.title ?? properties.name) : null
  return {
    selection: document.selection,
    time: getTimeState(document),
    timeFrom: findState(document, 'time') === undefined ? 'data' : 'file',
    viewport: getViewport(document),
    viewportFrom: findState(document, 'viewport') === undefined ? 'data' : 'file',
    features: document.items.length,
    title: typeof title === 'string' && title !== '' ? title : null,
    depths: countSteps(history),
  }
}

function formatCollection({ layout, items }: PlotDocument): string {
  const { type: _, ...members } = parseMembers(layout)
  const others = Object.entries(members).map(
    ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)},`,
  )
  const features = items.map(({ text }) => toOneLine(text)).join(',')
  return `{"type":"FeatureCollection",${others.join('')}"features":[${features}]}`
}

function formatSnapshot(document: PlotDocument, maxCharacters: number): string {
  const { items, selection } = document
  const size = items.reduce((sum, { text }) => sum + text.length, 0)
  const features = size > maxCharacters ? 'null' : `[${items.map(({ text }) => toOneLine(text)).join(',')}]`
  return [
    `"features":${features}`,
    `"feature_count":${items.length}`,
    `"selectedIds":${JSON.stringify(selection)}`,
    `"timeState":${JSON.stringify(getTimeState(document))}`,
    `"viewportState":${JSON.stringify(getViewport(document))}`,
  ].join(',')
}
