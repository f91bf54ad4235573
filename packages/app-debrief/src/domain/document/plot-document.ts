import { formatTime } from '@causeway/app-kit/time'
import { type Bounds, getProperties, type TimeState, uniteBounds } from '@causeway/plot'
import { isObject, type JsonObject } from '@causeway/protocol'
import { DebriefError } from '../../errors.ts'
import { type Item, makeItem } from './item.ts'
import { getMetadataKind, readStoredTime, readStoredViewport, type ViewportState } from './plot-state.ts'
import { formatFeature, formatLayout, type PlotLayout, scanInSteps } from './plot-text.ts'

/** A metadata feature, which lists of features omit. */
export interface StateItem {
  /** `time`, `viewport` or another kind. */
  readonly kind: string
  /** Number of preceding items in the file. New metadata features are at the end. */
  readonly place: number
  readonly value: JsonObject
  readonly text: string
}

/** An immutable plot in memory. New documents share unchanged parts. */
export interface PlotDocument {
  readonly layout: PlotLayout
  readonly items: readonly Item[]
  readonly states: readonly StateItem[]
  /** Unique ids, which the file does not store. */
  readonly selection: readonly string[]
}

interface ParseOptions {
  readonly selection?: readonly string[] | undefined
  readonly check?: ((feature: JsonObject, index: number) => void) | undefined
}

/** Yields the number of scanned plus parsed characters. Throws `INVALID_PLOT`. */
export function* parseInSteps(
  text: string,
  { selection, check }: ParseOptions = {},
): Generator<number, PlotDocument> {
  const { layout, features } = yield* scanInSteps(text)
  const items: Item[] = []
  const states: StateItem[] = []
  let processedCharacters = text.length
  for (const [index, featureText] of features.entries()) {
    const value = parseFeature(featureText, index)
    const kind = getMetadataKind(value)
    if (kind !== null) states.push({ kind, place: items.length, value, text: featureText })
    else {
      check?.(value, items.length)
      items.push(makeItem(value, featureText))
    }
    processedCharacters += featureText.length
    yield processedCharacters
  }
  const document = { layout, items, states, selection: [] }
  return { ...document, selection: filterKnownIds(document, selection ?? readStoredSelection(states)) }
}

/** Returns the text in pieces, to avoid a second copy in memory. Unchanged parts remain as they are in the file. */
export function formatParts({ layout, items, states }: PlotDocument): Iterable<string> {
  const featureTexts: string[] = []
  const remainingStates = [...states].sort((a, b) => a.place - b.place)
  for (const [index, { text }] of items.entries()) {
    while (remainingStates[0] !== undefined && remainingStates[0].place <= index)
      featureTexts.push(remainingStates.shift()?.text ?? '')
    featureTexts.push(text)
  }
  return formatLayout(layout, [...featureTexts, ...remainingStates.map(({ text }) => text)])
}

export const createItem = (value: JsonObject, layout: PlotLayout): Item =>
  makeItem(value, formatFeature(value, layout))

export const findState = ({ states }: PlotDocument, kind: string): StateItem | undefined =>
  states.find((state) => state.kind === kind)

/** Returns the stored time, otherwise the time range of the features, otherwise `null`. */
export function getTimeState(document: PlotDocument): TimeState | null {
  const storedTime = readStoredTime(findState(document, 'time')?.value)
  if (storedTime !== null) return storedTime
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  for (const { summary } of document.items) {
    if (summary.times === null) continue
    first = Math.min(first, summary.times[0])
    last = Math.max(last, summary.times[1])
  }
  if (first > last) return null
  const start = formatTime(first)
  return { current: start, start, end: formatTime(last) }
}

/** Returns the stored viewport, otherwise the bounds of the features, otherwise `null`. */
export const getViewport = (document: PlotDocument): ViewportState | null =>
  readStoredViewport(findState(document, 'viewport')?.value) ?? toViewport(getDataBounds(document))

export const getDataBounds = ({ items }: PlotDocument): Bounds | null =>
  uniteBounds(items.map(({ summary }) => summary.bounds))

export function filterKnownIds(
  { items }: Pick<PlotDocument, 'items'>,
  ids: readonly string[],
): readonly string[] {
  const knownIds = new Set(items.map(({ id }) => id))
  return [...new Set(ids)].filter((id) => knownIds.has(id))
}

const toViewport = (bounds: Bounds | null): ViewportState | null => bounds && { bounds }

function parseFeature(text: string, index: number): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new DebriefError('INVALID_PLOT', `features[${index}] is not JSON: ${message}`, {
      data: { index },
      cause,
    })
  }
  if (isObject(value)) return value
  throw new DebriefError('INVALID_PLOT', `features[${index}] is not an object`, { data: { index } })
}

function readStoredSelection(states: readonly StateItem[]): readonly string[] {
  const ids = getProperties(states.find(({ kind }) => kind === 'selection')?.value ?? {}).selectedIds
  return Array.isArray(ids) ? ids.map(String) : []
}
