/** Questions to a plot in memory, answered with plain data. */
import { isObject, type JsonObject } from '@causeway/protocol'
import { type Bounds, padded, unionOf } from './domain/bounds.ts'
import {
  countByType,
  type FeatureFilter,
  type FeatureRow,
  featureRow,
  fitting,
  type Part,
  wholeFeatures,
} from './domain/feature-rows.ts'
import { type Depths, depths, type History } from './domain/history.ts'
import { type Injected, type Injection, injected, missingFor, selectedItems } from './domain/inject.ts'
import { type MapData, mapData } from './domain/map/map-data.ts'
import { oneLine } from './domain/patch-event.ts'
import { type PlotDocument, stateOf, timeState, viewportState } from './domain/plot-document.ts'
import type { TimeState, ViewportState } from './domain/plot-state.ts'
import { membersOf } from './domain/plot-text.ts'

/** A question. */
export type Query =
  | { readonly kind: 'rows'; readonly filter: FeatureFilter; readonly part: Part }
  | {
      readonly kind: 'features'
      readonly filter: FeatureFilter
      readonly part: Part
      readonly mostCharacters: number
      readonly toleranceM?: number | undefined
    }
  | { readonly kind: 'state' }
  | { readonly kind: 'selected' }
  /** the whole collection as JSON text, without metadata features */
  | { readonly kind: 'collection' }
  /** everything a view needs to begin, as the members of a JSON object; features only up to a size */
  | { readonly kind: 'snapshot'; readonly mostCharacters: number }
  | { readonly kind: 'bounds'; readonly padding: number; readonly ids?: readonly string[] }
  | { readonly kind: 'inject'; readonly wanted: Readonly<Record<string, Injection>> }
  | {
      readonly kind: 'missing'
      readonly tools: Readonly<Record<string, Readonly<Record<string, Injection>>>>
    }
  | { readonly kind: 'map'; readonly bounds?: Bounds | undefined; readonly width: number }

/** What a plot is like beside its features. */
export interface PlotState {
  readonly selection: readonly string[]
  readonly time: TimeState | null
  readonly timeFrom: 'file' | 'data'
  readonly viewport: ViewportState | null
  readonly viewportFrom: 'file' | 'data'
  readonly features: number
  readonly title: string | null
  readonly depths: Depths
}

/** A part of the features. */
export interface Listed<T> {
  readonly items: readonly T[]
  readonly total: number
  readonly byType: Readonly<Record<string, number>>
}

/** The answers, by the kind of the question. */
export interface Answers {
  readonly rows: Listed<FeatureRow>
  readonly features: Listed<JsonObject>
  readonly state: PlotState
  readonly selected: readonly JsonObject[]
  readonly collection: string
  readonly snapshot: string
  /** null where nothing has a place */
  readonly bounds: Bounds | null
  readonly inject: Injected
  /** arguments that the plot cannot give, by tool */
  readonly missing: Readonly<Record<string, Injected['missing']>>
  readonly map: MapData
}

/** Any answer. */
export type QueryAnswer = Answers[Query['kind']]

/** Answers a question. */
export function answerQuery(document: PlotDocument, history: History, query: Query): QueryAnswer {
  switch (query.kind) {
    case 'rows': {
      const items = fitting(document, query.filter)
      const { from, limit } = query.part
      return { items: items.slice(from, from + limit).map(featureRow), ...totals(items) }
    }
    case 'features': {
      const items = fitting(document, query.filter)
      return { items: wholeFeatures(items, { ...query.part, ...query }), ...totals(items) }
    }
    case 'state':
      return stateAnswer(document, history)
    case 'selected':
      return selectedItems(document).map(({ value }) => value)
    case 'collection':
      return collectionText(document)
    case 'snapshot':
      return snapshot(document, query.mostCharacters)
    case 'bounds': {
      const items = query.ids === undefined ? selectedItems(document) : fitting(document, { ids: query.ids })
      const bounds = unionOf(items.map(({ looks }) => looks.bounds))
      return bounds && padded(bounds, query.padding)
    }
    case 'inject':
      return injected(document, query.wanted)
    case 'missing':
      return missingFor(document, query.tools)
    case 'map':
      return mapData(document, query)
  }
}

const totals = (items: PlotDocument['items']): Pick<Listed<never>, 'total' | 'byType'> => ({
  total: items.length,
  byType: countByType(items),
})

function stateAnswer(document: PlotDocument, history: History): PlotState {
  const { properties } = membersOf(document.layout)
  const title = isObject(properties) ? (properties.title ?? properties.name) : null
  return {
    selection: document.selection,
    time: timeState(document),
    timeFrom: stateOf(document, 'time') === undefined ? 'data' : 'file',
    viewport: viewportState(document),
    viewportFrom: stateOf(document, 'viewport') === undefined ? 'data' : 'file',
    features: document.items.length,
    title: typeof title === 'string' && title !== '' ? title : null,
    depths: depths(history),
  }
}

function collectionText({ layout, items }: PlotDocument): string {
  const { type: _, ...members } = membersOf(layout)
  const others = Object.entries(members).map(
    ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)},`,
  )
  const features = items.map(({ text }) => oneLine(text)).join(',')
  return `{"type":"FeatureCollection",${others.join('')}"features":[${features}]}`
}

function snapshot(document: PlotDocument, mostCharacters: number): string {
  const { items, selection } = document
  const size = items.reduce((sum, { text }) => sum + text.length, 0)
  const features = size > mostCharacters ? 'null' : `[${items.map(({ text }) => oneLine(text)).join(',')}]`
  return [
    `"features":${features}`,
    `"feature_count":${items.length}`,
    `"selectedIds":${JSON.stringify(selection)}`,
    `"timeState":${JSON.stringify(timeState(document))}`,
    `"viewportState":${JSON.stringify(viewportState(document))}`,
  ].join(',')
}
