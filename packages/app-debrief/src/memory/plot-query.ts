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
  takeFeatures,
  toRow,
} from '../domain/queries/feature-rows.ts'
import {
  type Injections,
  listMissingArguments,
  listSelected,
  resolveInjections,
} from '../domain/queries/inject.ts'

interface Source {
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
  rows({ document }: Source, { filter, page: { from, limit } }: FeatureQuery) {
    const items = filterItems(document, filter)
    return { items: items.slice(from, from + limit).map(toRow), ...countItems(items) }
  },
  features({ document }: Source, query: SizedFeatureQuery) {
    const items = filterItems(document, query.filter)
    return { items: takeFeatures(items, { ...query.page, ...query }), ...countItems(items) }
  },
  state: getState,
  selected: ({ document }: Source) => listSelected(document).map(({ value }) => value),
  /** Returns the collection as JSON text, without metadata features. */
  collection: ({ document }: Source) => formatCollection(document),
  /** Returns a viewer's initial state as members of a JSON object. */
  snapshot: ({ document }: Source, query: { readonly maxCharacters: number }) =>
    formatSnapshot(document, query.maxCharacters),
  /** Returns the bounds of the selection, or `null` if it has no positions. */
  bounds({ document }: Source, { padding }: { readonly padding: number }) {
    const bounds = uniteBounds(listSelected(document).map(({ summary }) => summary.bounds))
    return bounds && padBounds(bounds, padding)
  },
  inject: ({ document }: Source, { wanted }: { readonly wanted: Injections }) =>
    resolveInjections(document, wanted),
  missing: ({ document }: Source, { tools }: { readonly tools: Readonly<Record<string, Injections>> }) =>
    listMissingArguments(document, tools),
  map: ({ document }: Source, options: MapOptions) => createMapData(document, options),
}

type Queries = typeof queries
type Kind = keyof Queries
type Members<Of extends Kind> = Parameters<Queries[Of]> extends [Source, infer Given] ? Given : unknown

export type Query = { [Of in Kind]: { readonly kind: Of } & Members<Of> }[Kind]
export type QueryResults = { readonly [Of in Kind]: ReturnType<Queries[Of]> }
export type QueryResult = QueryResults[Kind]

export const runQuery = (source: Source, query: Query): QueryResult =>
  (queries[query.kind] as (source: Source, query: Query) => QueryResult)(source, query)

const countItems = (items: PlotDocument['items']) => ({
  total: items.length,
  byType: countByType(items),
})

function getState({ document, history }: Source) {
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
