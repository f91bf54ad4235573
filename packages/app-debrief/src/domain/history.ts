/** What was done to a plot and can be undone. Feature edits and changes of state are undone apart from each other. */
import { applyPatch, inverse, type Patch } from './patch.ts'
import type { PlotDocument } from './plot-document.ts'

/** What an entry changed: features, or one of the states beside them. */
export type EntryKind = 'features' | 'selection' | 'time' | 'viewport'

/** Which entries an undo may take. */
export type Scope = 'features' | 'all'

/** One transaction. */
export interface HistoryEntry {
  /** counts up, never used again */
  readonly seq: number
  readonly kind: EntryKind
  readonly label: string
  /** who did it, as the client calls itself */
  readonly actor: string
  readonly atMs: number
  readonly patch: Patch
  /** characters of the patch as JSON */
  readonly size: number
  readonly isUndone: boolean
}

/** Entries, oldest first. */
export type History = readonly HistoryEntry[]

/** What undo and redo could do. */
export type Depths = Readonly<Record<'undo' | 'redo', Readonly<Record<Scope, number>>>>

/** An undo or redo: the document after it, the entry, and the history after it. */
export interface Step {
  readonly document: PlotDocument
  readonly entry: HistoryEntry
  readonly history: History
}

const mostEntries = 100
const mostCharacters = 64 * 2 ** 20
/** Changes of the same state by the same actor within this time are one entry, ms. */
const coalesceMs = 1000

/** Remembers a transaction. A feature edit ends every redo, a change of state only those of states. */
export function remember(history: History, entry: HistoryEntry): History {
  const kept = history.filter(
    ({ isUndone, kind }) => !isUndone || (entry.kind !== 'features' && kind === 'features'),
  )
  const last = kept.findLast(({ isUndone }) => !isUndone)
  if (last !== undefined && joins(last, entry)) {
    const joined = { ...last, atMs: entry.atMs, patch: joinedPatch(last.patch, entry.patch) }
    return kept.map((one) => (one === last ? joined : one))
  }
  return bounded([...kept, entry])
}

/** Undoes the latest entry of the scope; undefined where there is none. */
export function undo(history: History, document: PlotDocument, scope: Scope): Step | undefined {
  const entry = history.findLast(({ isUndone, kind }) => !isUndone && isIn(kind, scope))
  if (entry === undefined) return undefined
  return {
    document: reselected(applyPatch(document, withoutSelection(inverse(entry.patch), entry)), entry, 'undo'),
    entry,
    history: marked(history, entry, true),
  }
}

/** Does again what was undone last; undefined where there is nothing. */
export function redo(history: History, document: PlotDocument, scope: Scope): Step | undefined {
  const entry = history.find(({ isUndone, kind }) => isUndone && isIn(kind, scope))
  if (entry === undefined) return undefined
  return {
    document: reselected(applyPatch(document, withoutSelection(entry.patch, entry)), entry, 'redo'),
    entry,
    history: marked(history, entry, false),
  }
}

/** Entries that an undo and a redo could take, of features and in all. */
export function depths(history: History): Depths {
  const count = (isUndone: boolean, scope: Scope): number =>
    history.filter((entry) => entry.isUndone === isUndone && isIn(entry.kind, scope)).length
  const both = (isUndone: boolean) => ({ features: count(isUndone, 'features'), all: count(isUndone, 'all') })
  return { undo: both(false), redo: both(true) }
}

/** What a patch changed first of all. */
export function kindOf({ features, layout, time, viewport }: Patch): EntryKind {
  if (features !== undefined || layout !== undefined) return 'features'
  if (time !== undefined) return 'time'
  return viewport === undefined ? 'selection' : 'viewport'
}

const isIn = (kind: EntryKind, scope: Scope): boolean => scope === 'all' || kind === 'features'

const joins = (last: HistoryEntry, next: HistoryEntry): boolean =>
  next.kind !== 'features' &&
  last.kind === next.kind &&
  last.actor === next.actor &&
  next.atMs - last.atMs <= coalesceMs

/** Both changes of one state in one: from before the first to after the second. */
function joinedPatch(first: Patch, second: Patch): Patch {
  const names = ['selection', 'time', 'viewport'] as const
  return Object.fromEntries(
    names.flatMap((name) => {
      const [a, b] = [first[name], second[name]]
      const change = a !== undefined && b !== undefined ? { before: a.before, after: b.after } : (a ?? b)
      return change === undefined ? [] : [[name, change]]
    }),
  )
}

function bounded(entries: History): History {
  let characters = 0
  let from = entries.length
  while (from > 0 && entries.length - from < mostEntries) {
    characters += entries[from - 1]?.size ?? 0
    if (characters > mostCharacters && from < entries.length) break
    from -= 1
  }
  return entries.slice(from)
}

const marked = (history: History, entry: HistoryEntry, isUndone: boolean): History =>
  history.map((one) => (one === entry ? { ...one, isUndone } : one))

/** The selection of a feature edit is only restored where nobody has selected something else since. */
const withoutSelection = ({ selection, ...patch }: Patch, { kind }: HistoryEntry): Patch =>
  kind === 'features' || selection === undefined ? patch : { ...patch, selection }

function reselected(
  document: PlotDocument,
  { kind, patch: { selection } }: HistoryEntry,
  way: 'undo' | 'redo',
): PlotDocument {
  const known = new Set(document.items.map(({ id }) => id))
  const present = document.selection.filter((id) => known.has(id))
  if (kind !== 'features' || selection === undefined) return { ...document, selection: present }
  const [from, to] =
    way === 'undo' ? [selection.after, selection.before] : [selection.before, selection.after]
  const isAsLeft = JSON.stringify(document.selection) === JSON.stringify(from)
  return { ...document, selection: isAsLeft ? to.filter((id) => known.has(id)) : present }
}
