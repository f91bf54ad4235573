/** A plot in memory. Documents are never changed: a change makes another one that shares what stayed the same. */

import { formatTime } from '@causeway/app-kit/time'
import { CausewayError, isObject, type JsonObject } from '@causeway/protocol'
import { type Bounds, unionOf } from './bounds.ts'
import { propertiesOf } from './feature.ts'
import { type Item, makeItem } from './item.ts'
import { metadataKind, type TimeState, timeOf, type ViewportState, viewportOf } from './plot-state.ts'
import { featureText, type PlotLayout, plotParts, scanSteps } from './plot-text.ts'
import { finished } from './steps.ts'

/** A metadata feature: not shown, but kept at its place in the file. */
export interface StateItem {
  /** `time`, `viewport`, or what else the file says */
  readonly kind: string
  /** how many shown features stand before it in the file; one that is new stands at the end */
  readonly place: number
  readonly value: JsonObject
  readonly text: string
}

/** A plot. */
export interface PlotDocument {
  readonly layout: PlotLayout
  readonly items: readonly Item[]
  readonly states: readonly StateItem[]
  /** ids, without repetition; kept beside the file and not in it */
  readonly selection: readonly string[]
}

/** How a plot is read. */
export interface ParseOptions {
  /** ids; without them those that the file names */
  readonly selection?: readonly string[] | undefined
  /** sees each feature that is shown, with its place */
  readonly check?: ((feature: JsonObject, index: number) => void) | undefined
}

/** Reads the text of a plot file. Throws `INVALID_PLOT`. */
export const parsePlot = (text: string, options?: ParseOptions): PlotDocument =>
  finished(parseSteps(text, options))

/** The same in steps; yields how many letters are done, each of which counts twice. */
export function* parseSteps(
  text: string,
  { selection, check }: ParseOptions = {},
): Generator<number, PlotDocument> {
  const { layout, features } = yield* scanSteps(text)
  const items: Item[] = []
  const states: StateItem[] = []
  let done = text.length
  for (const [index, part] of features.entries()) {
    const value = parseFeature(part, index)
    const kind = metadataKind(value)
    if (kind !== null) states.push({ kind, place: items.length, value, text: part })
    else {
      check?.(value, items.length)
      items.push(makeItem(value, part))
    }
    done += part.length
    yield done
  }
  const document = { layout, items, states, selection: [] }
  return { ...document, selection: keepKnown(document, selection ?? storedSelection(states)) }
}

/** The text of a plot: every byte of what was not changed is as it was read. */
export const textOf = (document: PlotDocument): string => [...textParts(document)].join('')

/** The same in pieces: a large plot is never in memory twice. */
export function textParts({ layout, items, states }: PlotDocument): Iterable<string> {
  const texts: string[] = []
  const waiting = [...states].sort((a, b) => a.place - b.place)
  for (const [index, { text }] of items.entries()) {
    while (waiting[0] !== undefined && waiting[0].place <= index) texts.push(waiting.shift()?.text ?? '')
    texts.push(text)
  }
  return plotParts(layout, [...texts, ...waiting.map(({ text }) => text)])
}

/** A feature as an item, its text in the manner of the file. */
export const itemOf = (value: JsonObject, layout: PlotLayout): Item =>
  makeItem(value, featureText(value, layout))

/** The metadata feature of a kind. */
export const stateOf = ({ states }: PlotDocument, kind: string): StateItem | undefined =>
  states.find((state) => state.kind === kind)

/** The time slider: of the file, else from the first to the last time of the data; null without any time. */
export function timeState(document: PlotDocument): TimeState | null {
  const stored = timeOf(stateOf(document, 'time')?.value)
  if (stored !== null) return stored
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  for (const { looks } of document.items) {
    if (looks.times === null) continue
    first = Math.min(first, looks.times[0])
    last = Math.max(last, looks.times[1])
  }
  if (first > last) return null
  const start = formatTime(first)
  return { current: start, start, end: formatTime(last) }
}

/** The view: of the file, else around all features; null without any place. */
export const viewportState = (document: PlotDocument): ViewportState | null =>
  viewportOf(stateOf(document, 'viewport')?.value) ?? whole(dataBounds(document))

/** The box around all features that are shown. */
export const dataBounds = ({ items }: PlotDocument): Bounds | null =>
  unionOf(items.map(({ looks }) => looks.bounds))

/** Those ids of a selection that the plot has, each once. */
export function keepKnown({ items }: Pick<PlotDocument, 'items'>, ids: readonly string[]): readonly string[] {
  const known = new Set(items.map(({ id }) => id))
  return [...new Set(ids)].filter((id) => known.has(id))
}

const whole = (bounds: Bounds | null): ViewportState | null => bounds && { bounds }

function parseFeature(text: string, index: number): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new CausewayError('INVALID_PLOT', `features[${index}] is no JSON: ${message}`, {
      data: { index },
      cause,
    })
  }
  if (isObject(value)) return value
  throw new CausewayError('INVALID_PLOT', `features[${index}] is no object`, { data: { index } })
}

/** Some writers keep the selection in the file: it is read where we know of none, and left there as it stands. */
function storedSelection(states: readonly StateItem[]): readonly string[] {
  const ids = propertiesOf(states.find(({ kind }) => kind === 'selection')?.value ?? {}).selectedIds
  return Array.isArray(ids) ? ids.map(String) : []
}
