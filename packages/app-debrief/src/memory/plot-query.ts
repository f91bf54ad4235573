import { padBounds, uniteBounds } from '@causeway/plot'
import { isObject } from '@causeway/protocol'
import { findState, getTimeState, getViewport, type PlotDocument } from '../domain/document/plot-document.ts'
import { parseMembers, toOneLine } from '../domain/document/plot-text.ts'
import { countSteps, type History } from '../domain/history/history.ts'
import { createMapData, type MapOptions } from '../domain/map/map-data.ts'
import {
  countByType,
  type FeatureFilter,
  filterItems,
  type Page,
  selectPage,
  toRow,
} from '../domain/queries/feature-rows.ts'
import {
  type Injections,
  listMissingArguments,
  listSelectedItems,
  resolveInjections,
} from '../domain/queries/inject.ts'

interface QuerySource {
  readonly document: PlotDocument
  readonly history: History
}

interface FeatureQuery {
  readonly filter: FeatureFilter
  readonly page: Page
}

interface SizedFeatureQuery extends FeatureQuery {
  readonly maxCharacters: number
  readonly toleranceM?: number | undefined
}

const queries = {
  rows({ document }: QuerySource, { filter, page: { from, limit } }: FeatureQuery) {
    const items = filterItems(document, filter)
    return { items: items.slice(from, from + limit).map(toRow), ...countItems(items) }
  },
  features({ document }: QuerySource, query: SizedFeatureQuery) {
    const items = filterItems(document, query.filter)
    return { items: selectPage(items, { ...query.page, ...query }), ...countItems(items) }
  },
  state: getState,
  selected: ({ document }: QuerySource) => listSelectedItems(document).map(({ value }) => value),
  /** Returns the collection as JSON text, without metadata features. */
  collection: ({ document }: QuerySource) => formatCollection(document),
  /** Returns a viewer's initial state as members of a JSON object. */
  snapshot: ({ document }: QuerySource, query: { readonly maxCharacters: number }) =>
    formatSnapshot(document, query.maxCharacters),
  /** Returns the bounds of the selection, or `null` if it has no positions. */
  bounds({ document }: QuerySource, { padding }: { readonly padding: number }) {
    const bounds = uniteBounds(listSelectedItems(document).map(({ summary }) => summary.bounds))
    return bounds && padBounds(bounds, padding)
  },
  inject: ({ document }: QuerySource, { injections }: { readonly injections: Injections }) =>
    resolveInjections(document, injections),
  missing: ({ document }: QuerySource, { tools }: { readonly tools: Readonly<Record<string, Injections>> }) =>
    listMissingArguments(document, tools),
  map: ({ document }: QuerySource, options: MapOptions) => createMapData(document, options),
}

type Queries = typeof queries
type QueryKind = keyof Queries
type QueryParameters<K extends QueryKind> =
  Parameters<Queries[K]> extends [QuerySource, infer P] ? P : unknown

export type Query = { [K in QueryKind]: { readonly kind: K } & QueryParameters<K> }[QueryKind]
export type QueryResults = { readonly [K in QueryKind]: ReturnType<Queries[K]> }
export type QueryResult = QueryResults[QueryKind]

export const runQuery = (source: QuerySource, query: Query): QueryResult =>
  (queries[query.kind] as (source: QuerySource, query: Query) => QueryResult)(source, query)

const countItems = (items: PlotDocument['items']) => ({
  total: items.length,
  byType: countByType(items),
})

function getState({ document, history }: QuerySource) {
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
  const memberTexts = Object.entries(members).map(
    ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)},`,
  )
  const features = items.map(({ text }) => toOneLine(text)).join(',')
  return `{"type":"FeatureCollection",${memberTexts.join('')}"features":[${features}]}`
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
