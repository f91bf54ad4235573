import type { PlotDocument } from '../document/plot-document.ts'
import { applyPatch, invertPatch, type Patch } from './patch.ts'

export type EntryKind = 'features' | 'selection' | 'time' | 'viewport'

export type Scope = 'features' | 'all'

/** An undo step. The scope `features` skips steps that do not change features. */
export interface HistoryEntry {
  /** Ascending and never reused. */
  readonly seq: number
  readonly kind: EntryKind
  readonly label: string
  readonly actor: string
  readonly atMs: number
  readonly patch: Patch
  readonly size: number
  readonly isUndone: boolean
}

/** Oldest first. */
export type History = readonly HistoryEntry[]

export type StepCounts = Readonly<Record<'undo' | 'redo', Readonly<Record<Scope, number>>>>

interface HistoryStep {
  readonly document: PlotDocument
  readonly entry: HistoryEntry
  readonly history: History
}

const maxEntries = 100
const maxCharacters = 64 * 2 ** 20
/** Changes of the same state by one client within this time share an entry. */
const coalesceMs = 1000

/** Adds or merges an entry. Discards redo steps, but retains those of features unless the entry changes features. */
export function recordEntry(history: History, entry: HistoryEntry): History {
  const retainedEntries = history.filter(
    ({ isUndone, kind }) => !isUndone || (entry.kind !== 'features' && kind === 'features'),
  )
  const last = retainedEntries.findLast(({ isUndone }) => !isUndone)
  if (last !== undefined && canMerge(last, entry)) {
    const mergedEntry = { ...last, atMs: entry.atMs, patch: mergePatches(last.patch, entry.patch) }
    return retainedEntries.map((item) => (item === last ? mergedEntry : item))
  }
  return limitSize([...retainedEntries, entry])
}

export function undo(history: History, document: PlotDocument, scope: Scope): HistoryStep | undefined {
  const entry = history.findLast(({ isUndone, kind }) => !isUndone && isInScope(kind, scope))
  if (entry === undefined) return undefined
  return {
    document: restoreSelection(
      applyPatch(document, omitSelection(invertPatch(entry.patch), entry)),
      entry,
      'undo',
    ),
    entry,
    history: setUndone(history, entry, true),
  }
}

export function redo(history: History, document: PlotDocument, scope: Scope): HistoryStep | undefined {
  const entry = history.find(({ isUndone, kind }) => isUndone && isInScope(kind, scope))
  if (entry === undefined) return undefined
  return {
    document: restoreSelection(applyPatch(document, omitSelection(entry.patch, entry)), entry, 'redo'),
    entry,
    history: setUndone(history, entry, false),
  }
}

export function countSteps(history: History): StepCounts {
  const count = (isUndone: boolean, scope: Scope): number =>
    history.filter((entry) => entry.isUndone === isUndone && isInScope(entry.kind, scope)).length
  const countByScope = (isUndone: boolean) => ({
    features: count(isUndone, 'features'),
    all: count(isUndone, 'all'),
  })
  return { undo: countByScope(false), redo: countByScope(true) }
}

export function getEntryKind({ features, layout, time, viewport }: Patch): EntryKind {
  if (features !== undefined || layout !== undefined) return 'features'
  if (time !== undefined) return 'time'
  return viewport === undefined ? 'selection' : 'viewport'
}

const isInScope = (kind: EntryKind, scope: Scope): boolean => scope === 'all' || kind === 'features'

const canMerge = (last: HistoryEntry, next: HistoryEntry): boolean =>
  next.kind !== 'features' &&
  last.kind === next.kind &&
  last.actor === next.actor &&
  next.atMs - last.atMs <= coalesceMs

function mergePatches(first: Patch, second: Patch): Patch {
  const names = ['selection', 'time', 'viewport'] as const
  return Object.fromEntries(
    names.flatMap((name) => {
      const [a, b] = [first[name], second[name]]
      const change = a !== undefined && b !== undefined ? { before: a.before, after: b.after } : (a ?? b)
      return change === undefined ? [] : [[name, change]]
    }),
  )
}

function limitSize(entries: History): History {
  let characters = 0
  let from = entries.length
  while (from > 0 && entries.length - from < maxEntries) {
    characters += entries[from - 1]?.size ?? 0
    if (characters > maxCharacters && from < entries.length) break
    from -= 1
  }
  return entries.slice(from)
}

const setUndone = (history: History, entry: HistoryEntry, isUndone: boolean): History =>
  history.map((item) => (item === entry ? { ...item, isUndone } : item))

const omitSelection = ({ selection, ...patch }: Patch, { kind }: HistoryEntry): Patch =>
  kind === 'features' || selection === undefined ? patch : { ...patch, selection }

/** Restores the selection that belonged to the features, unless the selection was changed since. */
function restoreSelection(
  document: PlotDocument,
  { kind, patch: { selection } }: HistoryEntry,
  direction: 'undo' | 'redo',
): PlotDocument {
  const knownIds = new Set(document.items.map(({ id }) => id))
  const knownSelection = document.selection.filter((id) => knownIds.has(id))
  if (kind !== 'features' || selection === undefined) return { ...document, selection: knownSelection }
  const [from, to] =
    direction === 'undo' ? [selection.after, selection.before] : [selection.before, selection.after]
  const isUnchanged = JSON.stringify(document.selection) === JSON.stringify(from)
  return { ...document, selection: isUnchanged ? to.filter((id) => knownIds.has(id)) : knownSelection }
}
