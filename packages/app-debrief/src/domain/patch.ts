/** The difference between two documents, which can be undone, sent and kept. */
import type { JsonObject } from '@causeway/protocol'
import { type Item, isSameItem, makeItem } from './item.ts'
import type { PlotDocument, StateItem } from './plot-document.ts'
import { metadataKind, type StateKind } from './plot-state.ts'
import { membersOf, type PlotLayout } from './plot-text.ts'

/** Texts of features with their places; places of `removed` and `updated` count before the change, of `added` after it. */
export interface FeaturePatch {
  readonly removed: readonly (readonly [place: number, text: string])[]
  readonly added: readonly (readonly [place: number, text: string])[]
  readonly updated: readonly (readonly [place: number, before: string, after: string])[]
}

/** Before and after. */
export interface Replaced<T> {
  readonly before: T
  readonly after: T
}

/** The text of a metadata feature and its place; null for none. */
export type KeptState = { readonly place: number; readonly text: string } | null

/** A change of a document: plain JSON. */
export interface Patch {
  readonly features?: FeaturePatch
  readonly layout?: Replaced<Pick<PlotLayout, 'head' | 'rest'>>
  readonly selection?: Replaced<readonly string[]>
  readonly time?: Replaced<KeptState>
  readonly viewport?: Replaced<KeptState>
}

/** The difference; an empty object where there is none. */
export function patchBetween(before: PlotDocument, after: PlotDocument): Patch {
  const features = before.items === after.items ? undefined : featurePatch(before.items, after.items)
  const isRedrawn = before.layout.head !== after.layout.head || before.layout.rest !== after.layout.rest
  const isReselected = JSON.stringify(before.selection) !== JSON.stringify(after.selection)
  return {
    ...(features === undefined ? {} : { features }),
    ...(isRedrawn ? { layout: { before: ends(before.layout), after: ends(after.layout) } } : {}),
    ...(isReselected ? { selection: { before: before.selection, after: after.selection } } : {}),
    ...statePatch('time', before, after),
    ...statePatch('viewport', before, after),
  }
}

/** A document with the parts of another one wherever their values are equal: only true differences are left. */
export function alignedWith(old: PlotDocument, document: PlotDocument): PlotDocument {
  const known = new Map(old.items.map((item) => [item.id, item]))
  const states = document.states.map((state) => {
    const before = old.states.find(({ kind }) => kind === state.kind)
    return before !== undefined && isEqual(before.value, state.value) ? before : state
  })
  return {
    ...document,
    layout: isEqual(membersOf(old.layout), membersOf(document.layout)) ? old.layout : document.layout,
    items: document.items.map((item) => {
      const before = item.id === null ? undefined : known.get(item.id)
      return before !== undefined && isSameItem(before, item) ? before : item
    }),
    states,
  }
}

/** The change that takes this one back. */
export function inverse({ features, ...states }: Patch): Patch {
  const turned = Object.fromEntries(
    Object.entries(states).map(([name, { before, after }]) => [name, { before: after, after: before }]),
  ) as Omit<Patch, 'features'> // the same members, each turned round
  if (features === undefined) return turned
  const { removed, added, updated } = features
  const placeAfter = placesAfter(features)
  return {
    ...turned,
    features: {
      removed: added,
      added: removed,
      updated: updated.map(([place, before, after]) => [placeAfter(place), after, before]),
    },
  }
}

/** The document after a change that was made from this very state of its parts. */
export function applyPatch(document: PlotDocument, patch: Patch): PlotDocument {
  const { features, layout, selection } = patch
  let states = document.states
  for (const kind of stateKinds) {
    const change = patch[kind]
    if (change !== undefined) states = withState(states, kind, change.after)
  }
  return {
    layout: layout === undefined ? document.layout : { ...document.layout, ...layout.after },
    items: features === undefined ? document.items : patchedItems(document.items, features),
    states,
    selection: selection === undefined ? document.selection : selection.after,
  }
}

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const stateKinds: readonly StateKind[] = ['time', 'viewport']

const ends = ({ head, rest }: PlotLayout): Pick<PlotLayout, 'head' | 'rest'> => ({ head, rest })

function featurePatch(before: readonly Item[], after: readonly Item[]): FeaturePatch | undefined {
  const keysBefore = keysOf(before)
  const keysAfter = keysOf(after)
  const placeBefore = new Map(keysBefore.map((key, place) => [key, place]))
  const inAfter = new Set(keysAfter)
  const removed: [number, string][] = []
  const added: [number, string][] = []
  const updated: [number, string, string][] = []
  for (const [place, item] of before.entries())
    if (!inAfter.has(keysBefore[place] ?? '')) removed.push([place, item.text])
  let last = -1
  for (const [place, item] of after.entries()) {
    const old = placeBefore.get(keysAfter[place] ?? '')
    if (old === undefined) added.push([place, item.text])
    else {
      // The order of what stays is another one: then everything is taken out and put in again.
      if (old < last) return everything(before, after)
      last = old
      const text = before[old]?.text ?? ''
      if (text !== item.text) updated.push([old, text, item.text])
    }
  }
  const isEmpty = removed.length + added.length + updated.length === 0
  return isEmpty ? undefined : { removed, added, updated }
}

const everything = (before: readonly Item[], after: readonly Item[]): FeaturePatch => ({
  removed: before.map(({ text }, place) => [place, text]),
  added: after.map(({ text }, place) => [place, text]),
  updated: [],
})

/** What tells items apart: the id, else the text; a repetition is counted. */
function keysOf(items: readonly Item[]): readonly string[] {
  const seen = new Map<string, number>()
  return items.map(({ id, text }) => {
    const key = id === null ? `text ${text}` : `id ${id}`
    const times = seen.get(key) ?? 0
    seen.set(key, times + 1)
    return times === 0 ? key : `${times} ${key}`
  })
}

function patchedItems(items: readonly Item[], { removed, added, updated }: FeaturePatch): readonly Item[] {
  const gone = new Set(removed.map(([place]) => place))
  const changed = new Map(updated.map(([place, , text]) => [place, text]))
  const kept: Item[] = []
  for (const [place, item] of items.entries()) {
    if (gone.has(place)) continue
    const text = changed.get(place)
    kept.push(text === undefined ? item : fromText(text))
  }
  const made: Item[] = []
  let next = 0
  const ordered = [...added].sort((a, b) => a[0] - b[0])
  for (const [place, text] of ordered) {
    while (made.length < place && next < kept.length) made.push(kept[next++] as Item) // below its length
    made.push(fromText(text))
  }
  for (; next < kept.length; next += 1) made.push(kept[next] as Item)
  return made
}

/** Where a feature that stays stands after the change. */
function placesAfter({ removed, added }: FeaturePatch): (place: number) => number {
  const gone = removed.map(([place]) => place).sort((a, b) => a - b)
  const come = added.map(([place]) => place).sort((a, b) => a - b)
  return (place) => {
    let at = place - below(gone, place)
    for (const other of come) {
      if (other > at) break
      at += 1
    }
    return at
  }
}

function below(sorted: readonly number[], limit: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < limit) low = middle + 1
    else high = middle
  }
  return low
}

const fromText = (text: string): Item => makeItem(JSON.parse(text) as JsonObject, text) // our own text of a feature

const kept = ({ states }: PlotDocument, kind: StateKind): KeptState => {
  const state = states.find((one) => one.kind === kind)
  return state === undefined ? null : { place: state.place, text: state.text }
}

function statePatch(
  kind: StateKind,
  from: PlotDocument,
  to: PlotDocument,
): Partial<Record<StateKind, Replaced<KeptState>>> {
  const [before, after] = [kept(from, kind), kept(to, kind)]
  return before?.text === after?.text ? {} : { [kind]: { before, after } }
}

function withState(states: readonly StateItem[], kind: StateKind, next: KeptState): readonly StateItem[] {
  const others = states.filter((state) => state.kind !== kind)
  if (next === null) return others
  const value = JSON.parse(next.text) as JsonObject // our own text of a feature
  return [...others, { kind: metadataKind(value) ?? kind, place: next.place, value, text: next.text }]
}
