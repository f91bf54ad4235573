/** A document while commands are applied to it; it is not seen before all of them have succeeded. */
import type { JsonObject } from '@causeway/protocol'
import { idOf } from './feature.ts'
import { type Item, isSameItem } from './item.ts'
import { itemOf, keepKnown, type PlotDocument, type StateItem } from './plot-document.ts'
import { featureText, type PlotLayout, withMembers } from './plot-text.ts'

/** Changes of one document, in order. */
export interface Draft {
  /** Items of an id; more than one only where the file repeats an id. */
  count(id: string): number
  find(id: string): Item | undefined
  append(feature: JsonObject): void
  /** Puts a feature in the place of the one with its id. */
  replace(feature: JsonObject): void
  remove(id: string): void
  /** Replaces everything that is shown; features that stay the same keep their text. */
  replaceAll(features: readonly JsonObject[], members: JsonObject): void
  setState(kind: string, feature: (before: JsonObject | undefined) => JsonObject): void
  select(ids: readonly string[]): void
  /** What is shown as it is now. */
  items(): readonly Item[]
  /** The document with all changes; its selection holds only ids that it has. */
  document(): PlotDocument
}

/** Begins changes of a document. */
export function draftOf(before: PlotDocument): Draft {
  let slots: (Item | undefined)[] = [...before.items]
  let states: readonly StateItem[] = before.states
  let layout: PlotLayout = before.layout
  let selection = before.selection
  let places: Map<string, number[]> | undefined

  const index = (): Map<string, number[]> => {
    if (places !== undefined) return places
    const made = new Map<string, number[]>()
    for (const [place, item] of slots.entries()) if (item?.id != null) note(made, item.id, place)
    places = made
    return made
  }
  const shown = (): Item[] => slots.filter((item) => item !== undefined)

  return {
    count: (id) => index().get(id)?.length ?? 0,
    find: (id) => slots[index().get(id)?.[0] ?? -1],
    append(feature) {
      const item = itemOf(feature, layout)
      if (item.id !== null) note(index(), item.id, slots.length)
      slots.push(item)
    },
    replace(feature) {
      const place = index().get(idOf(feature) ?? '')?.[0]
      const old = slots[place ?? -1]
      if (place === undefined || old === undefined) return
      const item = itemOf(feature, layout)
      if (!isSameItem(old, item)) slots[place] = item
    },
    remove(id) {
      for (const place of index().get(id) ?? []) slots[place] = undefined
      index().delete(id)
    },
    replaceAll(features, members) {
      layout = withMembers(layout, members)
      const old = new Map(shown().map((item) => [item.id, item]))
      slots = features.map((feature) => {
        const item = itemOf(feature, layout)
        const kept = old.get(item.id)
        return kept !== undefined && item.id !== null && isSameItem(kept, item) ? kept : item
      })
      places = undefined
    },
    setState(kind, feature) {
      const old = states.find((state) => state.kind === kind)
      const value = feature(old?.value)
      const place = old?.place ?? Number.MAX_SAFE_INTEGER
      const made = { kind, place, value, text: featureText(value, layout) }
      states = old === undefined ? [...states, made] : states.map((state) => (state === old ? made : state))
    },
    select(ids) {
      selection = ids
    },
    items: shown,
    document() {
      const items = shown()
      const isAsBefore =
        items.length === before.items.length && items.every((item, at) => item === before.items[at])
      return {
        layout,
        items: isAsBefore ? before.items : items,
        states,
        selection: selection.length === 0 ? selection : keepKnown({ items }, selection),
      }
    },
  }
}

function note(places: Map<string, number[]>, id: string, place: number): void {
  const list = places.get(id)
  if (list === undefined) places.set(id, [place])
  else list.push(place)
}
