import type { JsonObject } from '@causeway/protocol'
import { type Item, isSameItem, makeItem } from '../document/item.ts'
import type { PlotDocument, StateItem } from '../document/plot-document.ts'
import { getMetadataKind, type StateKind } from '../document/plot-state.ts'
import { type PlotLayout, parseMembers } from '../document/plot-text.ts'

/** `removed` and `updated` contain positions before the change, `added` contains positions after it. */
export interface FeaturePatch {
  readonly removed: readonly (readonly [position: number, text: string])[]
  readonly added: readonly (readonly [position: number, text: string])[]
  readonly updated: readonly (readonly [position: number, before: string, after: string])[]
}

interface Replacement<T> {
  readonly before: T
  readonly after: T
}

/** `null` if the metadata feature does not exist. */
type StoredState = { readonly place: number; readonly text: string } | null

export interface Patch {
  readonly features?: FeaturePatch
  readonly layout?: Replacement<Pick<PlotLayout, 'head' | 'rest'>>
  readonly selection?: Replacement<readonly string[]>
  readonly time?: Replacement<StoredState>
  readonly viewport?: Replacement<StoredState>
}

/** Returns an empty object if the documents are equal. */
export function createPatch(before: PlotDocument, after: PlotDocument): Patch {
  const features = before.items === after.items ? undefined : createFeaturePatch(before.items, after.items)
  const hasNewLayout = before.layout.head !== after.layout.head || before.layout.rest !== after.layout.rest
  const hasNewSelection = JSON.stringify(before.selection) !== JSON.stringify(after.selection)
  return {
    ...(features === undefined ? {} : { features }),
    ...(hasNewLayout
      ? { layout: { before: getOuterText(before.layout), after: getOuterText(after.layout) } }
      : {}),
    ...(hasNewSelection ? { selection: { before: before.selection, after: after.selection } } : {}),
    ...createStatePatch('time', before, after),
    ...createStatePatch('viewport', before, after),
  }
}

/** Replaces parts of `document` with equal parts of `old`, so that patches contain only real differences. */
export function alignDocument(old: PlotDocument, document: PlotDocument): PlotDocument {
  const oldItems = new Map(old.items.map((item) => [item.id, item]))
  const states = document.states.map((state) => {
    const before = old.states.find(({ kind }) => kind === state.kind)
    return before !== undefined && isEqual(before.value, state.value) ? before : state
  })
  return {
    ...document,
    layout: isEqual(parseMembers(old.layout), parseMembers(document.layout)) ? old.layout : document.layout,
    items: document.items.map((item) => {
      const before = item.id === null ? undefined : oldItems.get(item.id)
      return before !== undefined && isSameItem(before, item) ? before : item
    }),
    states,
  }
}

export function invertPatch({ features, ...states }: Patch): Patch {
  const inverted = Object.fromEntries(
    Object.entries(states).map(([name, { before, after }]) => [name, { before: after, after: before }]),
  ) as Omit<Patch, 'features'>
  if (features === undefined) return inverted
  const { removed, added, updated } = features
  const getNewPosition = createPositionMap(features)
  return {
    ...inverted,
    features: {
      removed: added,
      added: removed,
      updated: updated.map(([position, before, after]) => [getNewPosition(position), after, before]),
    },
  }
}

export function applyPatch(document: PlotDocument, patch: Patch): PlotDocument {
  const { features, layout, selection } = patch
  let states = document.states
  for (const kind of stateKinds) {
    const change = patch[kind]
    if (change !== undefined) states = replaceState(states, kind, change.after)
  }
  return {
    layout: layout === undefined ? document.layout : { ...document.layout, ...layout.after },
    items: features === undefined ? document.items : patchItems(document.items, features),
    states,
    selection: selection === undefined ? document.selection : selection.after,
  }
}

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const stateKinds: readonly StateKind[] = ['time', 'viewport']

const getOuterText = ({ head, rest }: PlotLayout): Pick<PlotLayout, 'head' | 'rest'> => ({ head, rest })

function createFeaturePatch(before: readonly Item[], after: readonly Item[]): FeaturePatch | undefined {
  const keysBefore = createKeys(before)
  const keysAfter = createKeys(after)
  const positionsBefore = new Map(keysBefore.map((key, position) => [key, position]))
  const keysAfterSet = new Set(keysAfter)
  const removed: [number, string][] = []
  const added: [number, string][] = []
  const updated: [number, string, string][] = []
  for (const [position, item] of before.entries())
    if (!keysAfterSet.has(keysBefore[position] ?? '')) removed.push([position, item.text])
  let lastPosition = -1
  for (const [position, item] of after.entries()) {
    const oldPosition = positionsBefore.get(keysAfter[position] ?? '')
    if (oldPosition === undefined) added.push([position, item.text])
    else {
      if (oldPosition < lastPosition) return replaceAll(before, after)
      lastPosition = oldPosition
      const text = before[oldPosition]?.text ?? ''
      if (text !== item.text) updated.push([oldPosition, text, item.text])
    }
  }
  const isEmpty = removed.length + added.length + updated.length === 0
  return isEmpty ? undefined : { removed, added, updated }
}

const replaceAll = (before: readonly Item[], after: readonly Item[]): FeaturePatch => ({
  removed: before.map(({ text }, position) => [position, text]),
  added: after.map(({ text }, position) => [position, text]),
  updated: [],
})

/** Returns a unique key per item: its id or text, with a counter if repeated. */
function createKeys(items: readonly Item[]): readonly string[] {
  const keyCounts = new Map<string, number>()
  return items.map(({ id, text }) => {
    const key = id === null ? `text ${text}` : `id ${id}`
    const occurrences = keyCounts.get(key) ?? 0
    keyCounts.set(key, occurrences + 1)
    return occurrences === 0 ? key : `${occurrences} ${key}`
  })
}

function patchItems(items: readonly Item[], { removed, added, updated }: FeaturePatch): readonly Item[] {
  const removedPositions = new Set(removed.map(([position]) => position))
  const updatedTexts = new Map(updated.map(([position, , text]) => [position, text]))
  const retainedItems: Item[] = []
  for (const [position, item] of items.entries()) {
    if (removedPositions.has(position)) continue
    const text = updatedTexts.get(position)
    retainedItems.push(text === undefined ? item : parseItem(text))
  }
  const patchedItems: Item[] = []
  let next = 0
  const sortedAdded = [...added].sort((a, b) => a[0] - b[0])
  for (const [position, text] of sortedAdded) {
    while (patchedItems.length < position && next < retainedItems.length)
      patchedItems.push(retainedItems[next++] as Item)
    patchedItems.push(parseItem(text))
  }
  for (; next < retainedItems.length; next += 1) patchedItems.push(retainedItems[next] as Item)
  return patchedItems
}

/** Maps the old position of a retained feature to its new position. */
function createPositionMap({ removed, added }: FeaturePatch): (position: number) => number {
  const sortedRemoved = removed.map(([position]) => position).sort((a, b) => a - b)
  const sortedAdded = added.map(([position]) => position).sort((a, b) => a - b)
  return (position) => {
    let newPosition = position - countBelow(sortedRemoved, position)
    for (const addedPosition of sortedAdded) {
      if (addedPosition > newPosition) break
      newPosition += 1
    }
    return newPosition
  }
}

function countBelow(sorted: readonly number[], limit: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < limit) low = middle + 1
    else high = middle
  }
  return low
}

const parseItem = (text: string): Item => makeItem(JSON.parse(text) as JsonObject, text)

const getStoredState = ({ states }: PlotDocument, kind: StateKind): StoredState => {
  const state = states.find((item) => item.kind === kind)
  return state === undefined ? null : { place: state.place, text: state.text }
}

function createStatePatch(
  kind: StateKind,
  from: PlotDocument,
  to: PlotDocument,
): Partial<Record<StateKind, Replacement<StoredState>>> {
  const [before, after] = [getStoredState(from, kind), getStoredState(to, kind)]
  return before?.text === after?.text ? {} : { [kind]: { before, after } }
}

function replaceState(
  states: readonly StateItem[],
  kind: StateKind,
  next: StoredState,
): readonly StateItem[] {
  const otherStates = states.filter((state) => state.kind !== kind)
  if (next === null) return otherStates
  const value = JSON.parse(next.text) as JsonObject
  return [...otherStates, { kind: getMetadataKind(value) ?? kind, place: next.place, value, text: next.text }]
}
