import { getFeatureId } from '@causeway/plot'
import { CausewayError, type JsonObject } from '@causeway/protocol'
import { type Handlers, runInSlices, WorkerError } from '@causeway/worker'
import { type AppliedCommands, applyCommands } from '../domain/commands/apply-command.ts'
import { parseCommands } from '../domain/commands/command.ts'
import { createFeatureChecker } from '../domain/commands/feature-problems.ts'
import { formatParts, type PlotDocument, parseSteps } from '../domain/document/plot-document.ts'
import {
  countSteps,
  getEntryKind,
  type History,
  type HistoryEntry,
  recordEntry,
  redo,
  undo,
} from '../domain/history/history.ts'
import { alignDocument, applyPatch, createPatch, type Patch } from '../domain/history/patch.ts'
import { listEvents } from '../domain/history/patch-event.ts'
import { type PlotFileStatus, readPlotFile, stagePlot } from '../files/plot-file.ts'
import { maxPatchLength, packPatch, unpackPatch } from './packed-patch.ts'
import type { Change, ChangedEntry, ChangeOrder, PlotMethods, Prepared, StoredState } from './plot-methods.ts'
import { runQuery } from './plot-query.ts'

const maxWarnings = 5

interface State {
  readonly document: PlotDocument
  readonly history: History
  readonly lastSeq: number
}

/** Methods must be called one at a time, `load` first. */
export function createPlotMemory(): Handlers<PlotMethods> {
  let state: State | undefined
  let pending: State | undefined
  const requireState = (): State => {
    if (state !== undefined) return state
    throw new WorkerError('WORKER_LOST', 'the plot is not in memory')
  }
  return {
    async load({ path }, { signal, progress }) {
      const { text, ...file } = await readPlotFile(path, {
        signal,
        onRead: (bytes, total) => progress(bytes, 3 * total, 'reading'),
      })
      const { check, listWarnings } = createWarningCollector()
      const document = await runInSlices(parseSteps(text, { check }), {
        signal,
        progress: (characters) => progress(text.length + characters, 3 * text.length, 'parsing'),
      })
      state = { document, history: [], lastSeq: 0 }
      return { ...file, features: document.items.length, warnings: listWarnings() }
    },
    restore(stored) {
      state = restoreState(requireState(), stored)
      return { selection: state.document.selection }
    },
    async prepare(order) {
      const before = requireState()
      const draft = await computeChange(before, order)
      pending = draft.state
      return describeChange(before, draft)
    },
    settle({ install }) {
      if (install && pending !== undefined) state = pending
      pending = undefined
      return null
    },
    read: (query) => runQuery(requireState(), query),
    stage: ({ path }) => stagePlot(path, formatParts(requireState().document)),
  }
}

interface ChangeDraft {
  readonly state: State
  readonly patch: Patch
  readonly json?: string
  readonly label: string
  readonly applied?: AppliedCommands
  readonly steps?: number
  readonly file?: PlotFileStatus
}

async function computeChange(before: State, order: ChangeOrder): Promise<ChangeDraft> {
  const { change } = order
  if (change.kind === 'reload') return reload(before, change.path, order)
  if (change.kind !== 'commands') return undoOrRedo(before, change)
  const applied = applyCommands(before.document, parseCommands(change.commands), {
    idPrefix: order.idPrefix,
    ignoreMissing: change.ignoreMissing === true,
  })
  const label = applied.results
    .filter(({ kind }) => kind !== 'display')
    .map(({ message }) => message)
    .join('; ')
  return { ...addEntry(before, applied.document, label.slice(0, 200), order), applied }
}

function undoOrRedo(
  before: State,
  { kind, scope, steps }: Extract<Change, { kind: 'undo' | 'redo' }>,
): ChangeDraft {
  let { document, history } = before
  const labels: string[] = []
  const run = kind === 'undo' ? undo : redo
  while (labels.length < steps) {
    const step = run(history, document, scope)
    if (step === undefined) break
    document = step.document
    history = step.history
    labels.push(step.entry.label)
  }
  if (labels.length === 0)
    throw new CausewayError('NOTHING_TO_UNDO', `there is nothing to ${kind} in scope ${scope}`, {
      remedy: 'data.undo and data.redo have the number of steps in each scope',
      data: { ...countSteps(before.history) },
    })
  const state = { ...before, document, history }
  const label = `${kind} ${labels.join('; ')}`.slice(0, 200)
  return { state, patch: createPatch(before.document, document), label, steps: labels.length }
}

async function reload(before: State, path: string, order: ChangeOrder): Promise<ChangeDraft> {
  const { text, ...file } = await readPlotFile(path)
  const document = await runInSlices(parseSteps(text, { selection: before.document.selection }))
  // White space alone is not a change. The next save preserves the text of the file.
  const aligned = alignDocument(before.document, document)
  const draft = addEntry(before, aligned, 'the file was changed by another program', order)
  return { ...draft, state: { ...draft.state, document }, file }
}

function addEntry(
  before: State,
  document: PlotDocument,
  label: string,
  { actor, atMs }: ChangeOrder,
): ChangeDraft {
  const patch = createPatch(before.document, document)
  if (Object.keys(patch).length === 0) return { state: before, patch, label }
  const seq = before.lastSeq + 1
  const json = JSON.stringify(patch)
  const entry: HistoryEntry = {
    seq,
    kind: getEntryKind(patch),
    label,
    actor,
    atMs,
    patch,
    size: json.length,
    isUndone: false,
  }
  return {
    state: { document, history: recordEntry(before.history, entry), lastSeq: seq },
    patch,
    json,
    label,
  }
}

async function describeChange(
  before: State,
  { state, patch, label, applied, steps = 0, file, ...draft }: ChangeDraft,
): Promise<Prepared> {
  const isNoop = Object.keys(patch).length === 0
  const json = draft.json ?? (isNoop ? '' : JSON.stringify(patch))
  const stored = json.length > maxPatchLength ? null : await packPatch(json)
  const known = new Map(before.history.map((entry) => [entry.seq, entry]))
  const toChangedEntry = async (entry: HistoryEntry): Promise<ChangedEntry> => {
    const { size: _, ...row } = entry
    if (known.get(entry.seq)?.patch === entry.patch) return { ...row, patch: null }
    const text = entry.patch === patch ? (stored ?? json) : await packPatch(JSON.stringify(entry.patch))
    return { ...row, patch: text }
  }
  const seqs = new Set(state.history.map(({ seq }) => seq))
  const changed = state.history.filter((entry) => known.get(entry.seq) !== entry)
  return {
    isNoop,
    touchesFile: Object.keys(patch).some((part) => part !== 'selection'),
    label,
    results: applied?.results ?? [],
    notices: applied?.notices ?? [],
    addedIds: applied?.addedIds ?? [],
    ids: listAffectedIds(patch),
    steps,
    patch: stored,
    events: listEvents(patch, state.document),
    entries: await Promise.all(changed.map(toChangedEntry)),
    droppedEntries: before.history.flatMap(({ seq }) => (seqs.has(seq) ? [] : seq)),
    selection: state.document.selection,
    features: state.document.items.length,
    depths: countSteps(state.history),
    ...(file === undefined ? {} : { file }),
  }
}

function listAffectedIds({ features, selection }: Patch): readonly string[] {
  if (features === undefined) return selection?.after.slice(0, 20) ?? []
  return [...features.removed, ...features.added, ...features.updated]
    .slice(0, 20)
    .flatMap(([, text]) => getFeatureId(JSON.parse(text) as JsonObject) ?? [])
}

function restoreState({ document: loaded }: State, { selection, entries, patches }: StoredState): State {
  let document = loaded
  for (const stored of patches) document = applyPatch(document, JSON.parse(unpackPatch(stored)) as Patch)
  const known = new Set(document.items.map(({ id }) => id))
  if (selection !== null) document = { ...document, selection: selection.filter((id) => known.has(id)) }
  const history = entries.map((entry) => {
    const json = unpackPatch(entry.patch)
    return { ...entry, patch: JSON.parse(json) as Patch, size: json.length }
  })
  return { document, history, lastSeq: history.at(-1)?.seq ?? 0 }
}

function createWarningCollector() {
  const findProblem = createFeatureChecker({ idRequired: true })
  const warnings: string[] = []
  let more = 0
  return {
    check(feature: JsonObject, index: number): void {
      const problem = findProblem(feature, index)
      if (problem === null) return
      if (warnings.length === maxWarnings) more += 1
      else warnings.push(`feature ${index} (${problem.featureId ?? 'no id'}): ${problem.errors[0]}`)
    },
    listWarnings: (): readonly string[] => (more > 0 ? [...warnings, `and ${more} more features`] : warnings),
  }
}
