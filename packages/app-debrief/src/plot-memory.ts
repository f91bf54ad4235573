/** A plot in memory: the document that is in force, its history, and the change that is being prepared. */
import { CausewayError, type JsonObject } from '@causeway/protocol'
import { type HandlersOf, inSlices } from '@causeway/worker'
import { type Applied, applyCommands } from './domain/apply-command.ts'
import { readCommands } from './domain/command.ts'
import { idOf } from './domain/feature.ts'
import { featureChecker } from './domain/feature-problems.ts'
import { depths, type History, type HistoryEntry, kindOf, redo, remember, undo } from './domain/history.ts'
import { alignedWith, applyPatch, type Patch, patchBetween } from './domain/patch.ts'
import { eventsOf } from './domain/patch-event.ts'
import { type PlotDocument, parseSteps, textParts } from './domain/plot-document.ts'
import { packed, unpacked } from './packed-patch.ts'
import { type ReadFile, readPlotFile, stagePlot } from './plot-file.ts'
import type { Change, ChangeBy, ChangedEntry, Kept, Loaded, PlotMethods, Prepared } from './plot-methods.ts'
import { answerQuery } from './plot-query.ts'

/** Largest patch that is kept in the data file, characters; after a larger one the plot file is saved at once. */
const mostKept = 2 ** 20

/** Warnings about a file that are told. */
const mostWarnings = 5

interface State {
  readonly document: PlotDocument
  readonly history: History
  readonly lastSeq: number
}

/** Makes the methods over one plot. They must be called one after the other, `load` first. */
export function plotMemory(): HandlersOf<PlotMethods> {
  let state: State | undefined
  let pending: State | undefined
  const current = (): State => {
    if (state !== undefined) return state
    throw new CausewayError('WORKER_LOST', 'the plot is not in memory')
  }
  return {
    async load({ path }, { signal, progress }) {
      const { text, ...file } = await readPlotFile(path, {
        signal,
        read: (bytes, of) => progress(bytes, 3 * of, 'reading'),
      })
      const { check, warnings } = checker()
      const document = await inSlices(parseSteps(text, { check }), {
        signal,
        told: (letters) => progress(text.length + letters, 3 * text.length, 'parsing'),
      })
      state = { document, history: [], lastSeq: 0 }
      return { ...loaded(file), features: document.items.length, warnings: warnings() }
    },
    restore(kept) {
      state = restored(current(), kept)
      return { selection: state.document.selection }
    },
    async prepare(by) {
      const before = current()
      const made = await changed(before, by)
      pending = made.state
      return await prepared(before, made)
    },
    settle({ install }) {
      if (install && pending !== undefined) state = pending
      pending = undefined
      return null
    },
    read: (query) => answerQuery(current().document, current().history, query),
    stage: ({ path }) => stagePlot(path, textParts(current().document)),
  }
}

/** A change before it is in force. */
interface Made {
  readonly state: State
  readonly patch: Patch
  /** the patch, where it was written already: one of a whole plot is long */
  readonly json?: string
  readonly label: string
  readonly applied?: Applied
  readonly steps?: number
  readonly file?: Omit<ReadFile, 'text'>
}

async function changed(before: State, by: ChangeBy): Promise<Made> {
  const { change } = by
  if (change.kind === 'reload') return reloaded(before, change.path, by)
  if (change.kind !== 'commands') return stepped(before, change)
  const commands = readCommands(change.commands)
  const applied = applyCommands(before.document, commands, {
    idPrefix: by.idPrefix,
    ignoreMissing: change.ignoreMissing === true,
  })
  const label = applied.results
    .filter(({ kind }) => kind !== 'display')
    .map(({ message }) => message)
    .join('; ')
  return { ...recorded(before, applied.document, label.slice(0, 200), by), applied }
}

function stepped(before: State, { kind, scope, steps }: Extract<Change, { kind: 'undo' | 'redo' }>): Made {
  let { document, history } = before
  const labels: string[] = []
  const step = kind === 'undo' ? undo : redo
  for (
    let taken = step(history, document, scope);
    taken !== undefined;
    taken = step(history, document, scope)
  ) {
    document = taken.document
    history = taken.history
    labels.push(taken.entry.label)
    if (labels.length === steps) break
  }
  if (labels.length === 0)
    throw new CausewayError('NOTHING_TO_UNDO', `there is nothing to ${kind} in scope ${scope}`, {
      remedy: 'see data.undo and data.redo for what there is in each scope',
      data: { ...depths(before.history) },
    })
  const state = { ...before, document, history }
  const label = `${kind} ${labels.join('; ')}`.slice(0, 200)
  return { state, patch: patchBetween(before.document, document), label, steps: labels.length }
}

async function reloaded(before: State, path: string, by: ChangeBy): Promise<Made> {
  const { text, ...file } = await readPlotFile(path)
  const document = await inSlices(parseSteps(text, { selection: before.document.selection }))
  // White space is no change, but the text of the file is what the next save goes on from.
  const different = alignedWith(before.document, document)
  const made = recorded(before, different, 'the file was changed by another program', by)
  return { ...made, state: { ...made.state, document }, file: loaded(file) }
}

/** The state with a transaction in its history, unless nothing is different. */
function recorded(before: State, document: PlotDocument, label: string, { actor, atMs }: ChangeBy): Made {
  const patch = patchBetween(before.document, document)
  if (Object.keys(patch).length === 0) return { state: before, patch, label }
  const seq = before.lastSeq + 1
  const json = JSON.stringify(patch)
  const size = json.length
  const entry: HistoryEntry = { seq, kind: kindOf(patch), label, actor, atMs, patch, size, isUndone: false }
  return { state: { document, history: remember(before.history, entry), lastSeq: seq }, patch, json, label }
}

async function prepared(
  before: State,
  { state, patch, label, applied, steps = 0, file, ...made }: Made,
): Promise<Prepared> {
  const isNoop = Object.keys(patch).length === 0
  const json = made.json ?? (isNoop ? '' : JSON.stringify(patch))
  const written = json.length > mostKept ? null : await packed(json)
  const known = new Map(before.history.map((entry) => [entry.seq, entry]))
  const entryOf = async (entry: HistoryEntry): Promise<ChangedEntry> => {
    const isAsBefore = known.get(entry.seq)?.patch === entry.patch
    if (isAsBefore) return entryRow(entry, null)
    // One that is not kept is told by its length.
    return entryRow(
      entry,
      entry.patch === patch ? (written ?? json) : await packed(JSON.stringify(entry.patch)),
    )
  }
  const seqs = new Set(state.history.map(({ seq }) => seq))
  return {
    isNoop,
    touchesFile: Object.keys(patch).some((part) => part !== 'selection'),
    label,
    results: applied?.results ?? [],
    notices: applied?.notices ?? [],
    addedIds: applied?.addedIds ?? [],
    ids: touched(patch),
    steps,
    patch: written,
    events: eventsOf(patch, state.document),
    entries: await Promise.all(state.history.filter((entry) => known.get(entry.seq) !== entry).map(entryOf)),
    droppedEntries: before.history.flatMap(({ seq }) => (seqs.has(seq) ? [] : seq)),
    selection: state.document.selection,
    features: state.document.items.length,
    depths: depths(state.history),
    ...(file === undefined ? {} : { file }),
  }
}

function touched({ features, selection }: Patch): readonly string[] {
  const texts = features
    ? [...features.removed, ...features.added, ...features.updated].slice(0, 20).map(([, text]) => text)
    : []
  if (features === undefined) return selection?.after.slice(0, 20) ?? []
  return texts.flatMap((text) => idOf(JSON.parse(text) as JsonObject) ?? []) // our own text of a feature
}

const entryRow = (
  { seq, kind, label, actor, atMs, isUndone }: HistoryEntry,
  patch: string | null,
): ChangedEntry => ({
  seq,
  kind,
  label,
  actor,
  at_ms: atMs,
  patch,
  is_undone: isUndone ? 1 : 0,
})

function restored({ document: read }: State, { selection, entries, patches }: Kept): State {
  let document = read
  for (const kept of patches) document = applyPatch(document, JSON.parse(unpacked(kept)) as Patch) // our own data file
  const known = new Set(document.items.map(({ id }) => id))
  if (selection !== null) document = { ...document, selection: selection.filter((id) => known.has(id)) }
  const history = entries.map(({ at_ms, is_undone, patch, ...entry }) => {
    const json = unpacked(patch)
    return {
      ...entry,
      atMs: at_ms,
      isUndone: is_undone === 1,
      patch: JSON.parse(json) as Patch, // our own data file
      size: json.length,
    }
  })
  return { document, history, lastSeq: history.at(-1)?.seq ?? 0 }
}

const loaded = ({
  sha256,
  signature,
  bytes,
}: Omit<ReadFile, 'text'>): Omit<Loaded, 'features' | 'warnings'> => ({
  sha256,
  signature,
  bytes,
})

/** A file is read with tolerance, and its reader is told what is odd in it. */
function checker(): { check(feature: JsonObject, index: number): void; warnings(): readonly string[] } {
  const problemOf = featureChecker({ idRequired: true })
  const named: string[] = []
  let more = 0
  return {
    check(feature, index) {
      const problem = problemOf(feature, index)
      if (problem === null) return
      if (named.length === mostWarnings) more += 1
      else named.push(`feature ${index} (${problem.featureId ?? 'no id'}): ${problem.errors[0]}`)
    },
    warnings: () => (more > 0 ? [...named, `and ${more} more features`] : named),
  }
}
