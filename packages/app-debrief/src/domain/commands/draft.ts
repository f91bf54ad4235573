import { getFeatureId } from '@causeway/plot'
import type { JsonObject } from '@causeway/protocol'
import { type Item, isSameItem } from '../document/item.ts'
import { createItem, filterKnownIds, type PlotDocument, type StateItem } from '../document/plot-document.ts'
import { formatFeature, type PlotLayout, setMembers } from '../document/plot-text.ts'

/** Collects changes to a copy of a document. */
export class Draft {
  readonly #before: PlotDocument
  /** `undefined` for removed items. */
  #slots: (Item | undefined)[]
  #states: readonly StateItem[]
  #layout: PlotLayout
  #selection: readonly string[]
  #index: Map<string, number[]> | undefined

  constructor(before: PlotDocument) {
    this.#before = before
    this.#slots = [...before.items]
    this.#states = before.states
    this.#layout = before.layout
    this.#selection = before.selection
  }

  /** Counts features with this id. Returns more than 1 if the file repeats it. */
  count(id: string): number {
    return this.#getIndex().get(id)?.length ?? 0
  }

  append(feature: JsonObject): void {
    const item = createItem(feature, this.#layout)
    if (item.id !== null) addSlot(this.#getIndex(), item.id, this.#slots.length)
    this.#slots.push(item)
  }

  replace(feature: JsonObject): void {
    const slot = this.#getIndex().get(getFeatureId(feature) ?? '')?.[0]
    const oldItem = this.#slots[slot ?? -1]
    if (slot === undefined || oldItem === undefined) return
    const item = createItem(feature, this.#layout)
    if (!isSameItem(oldItem, item)) this.#slots[slot] = item
  }

  remove(id: string): void {
    for (const slot of this.#getIndex().get(id) ?? []) this.#slots[slot] = undefined
    this.#getIndex().delete(id)
  }

  /** Unchanged features retain their text. */
  replaceAll(features: readonly JsonObject[], members: JsonObject): void {
    this.#layout = setMembers(this.#layout, members)
    const oldItems = new Map(this.items().map((item) => [item.id, item]))
    this.#slots = features.map((feature) => {
      const item = createItem(feature, this.#layout)
      const oldItem = oldItems.get(item.id)
      return oldItem !== undefined && item.id !== null && isSameItem(oldItem, item) ? oldItem : item
    })
    this.#index = undefined
  }

  setState(kind: string, createFeature: (before: JsonObject | undefined) => JsonObject): void {
    const oldState = this.#states.find((state) => state.kind === kind)
    const value = createFeature(oldState?.value)
    const place = oldState?.place ?? Number.MAX_SAFE_INTEGER
    const newState = { kind, place, value, text: formatFeature(value, this.#layout) }
    this.#states =
      oldState === undefined
        ? [...this.#states, newState]
        : this.#states.map((state) => (state === oldState ? newState : state))
  }

  select(ids: readonly string[]): void {
    this.#selection = ids
  }

  items(): readonly Item[] {
    return this.#slots.filter((item) => item !== undefined)
  }

  /** Omits unknown ids from the selection. */
  toDocument(): PlotDocument {
    const { items: before } = this.#before
    const items = this.items()
    const isUnchanged = items.length === before.length && items.every((item, index) => item === before[index])
    return {
      layout: this.#layout,
      items: isUnchanged ? before : items,
      states: this.#states,
      selection: this.#selection.length === 0 ? this.#selection : filterKnownIds({ items }, this.#selection),
    }
  }

  #getIndex(): Map<string, number[]> {
    if (this.#index !== undefined) return this.#index
    const index = new Map<string, number[]>()
    for (const [slot, item] of this.#slots.entries()) if (item?.id != null) addSlot(index, item.id, slot)
    this.#index = index
    return index
  }
}

function addSlot(index: Map<string, number[]>, id: string, slot: number): void {
  const slots = index.get(id)
  if (slots === undefined) index.set(id, [slot])
  else slots.push(slot)
}
