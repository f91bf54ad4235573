import { isObject } from '@causeway/protocol'

/**
 * Source of an omitted argument of an analysis tool: the selected features of some data types; the selected features,
 * otherwise all, as a collection; the first selected track, otherwise the first track; the viewport or time of the
 * plot.
 */
export type Injection =
  | {
      readonly from: 'selection'
      /** `any` accepts all data types. */
      readonly kinds: readonly string[]
      readonly min: number
      readonly max: number | null
    }
  | { readonly from: 'collection' | 'track' | 'viewport' | 'time' }

/** Returns `null` for an unknown form. */
export function readInjection(value: unknown): Injection | null {
  if (!isObject(value)) return null
  const { from, kinds = ['any'], min = 1, max = null } = value
  if (from === 'collection' || from === 'track' || from === 'viewport' || from === 'time') return { from }
  if (from !== 'selection' || !Array.isArray(kinds)) return null
  return { from, kinds: kinds.map(String), min: Number(min), max: max === null ? null : Number(max) }
}
