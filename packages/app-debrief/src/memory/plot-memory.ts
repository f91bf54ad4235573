import { getFeatureId } from '@causeway/plot'
import { CausewayError, type JsonObject } from '@causeway/protocol'
import { type Handlers, runInSlices, WorkerError } from '@causeway/worker'
import { type AppliedCommands, applyCommands } from '../domain/commands/apply-command.ts'
import { parseCommands } from '../domain/commands/command.ts'
import { createFeatureChecker } from '../domain/commands/feature-problems.ts'
import { formatParts, type PlotDocument, parseInSteps } from '../domain/document/plot-document.ts'
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
import type {
  Change,
  ChangedEntry,
  ChangeInput,
  PlotMethods,
  PreparedChange,
  StoredState,
} from './plot-methods.ts'
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
  let pendingState: State | undefined
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
      const document = await runInSlices(parseInSteps(text, { check }), {
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
    async prepare(input) {
      const previousState = requireState()
      const draft = await computeChange(previousState, input)
      pendingState = draft.state
      return describeChange(previousState, draft)
    },
    settle({ isAccepted }) {
      if (isAccepted && pendingState !== undefined) state = pendingState
      pendingState = undefined
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

async function computeChange(previousState: State, input: ChangeInput): Promise<ChangeDraft> {
  const { change } = input
  if (change.kind === 'reload') return reload(previousState, change.path, input)
  if (change.kind !== 'commands') return undoOrRedo(previousState, change)
  const applied = applyCommands(previousState.document, parseCommands(change.commands), {
    idPrefix: input.idPrefix,
    ignoreMissing: change.ignoreMissing === true,
  })
  const label = applied.results
    .filter(({ kind }) => kind !== 'display')
    .map(({ message }) => message)
    .join('; ')
  return { ...addEntry(previousState, applied.document, label.slice(0, 200), input), applied }
}

function undoOrRedo(
  previousState: State,
  { kind, scope, steps }: Extract<Change, { kind: 'undo' | 'redo' }>,
): ChangeDraft {
  let { document, history } = previousState
  const labels: string[] = []
  const step = kind === 'undo' ? undo : redo
  while (labels.length < steps) {
    const historyStep = step(history, document, scope)
    if (historyStep === undefined) break
    document = historyStep.document
    history = historyStep.history
    labels.push(historyStep.entry.label)
  }
  if (labels.length === 0)
    throw new CausewayError('NOTHING_TO_UNDO', `there is nothing to ${kind} in scope ${scope}`, {
      remedy: 'data.undo and data.redo have the number of steps in each scope',
      data: { ...countSteps(previousState.history) },
    })
  const state = { ...previousState, document, history }
  const label = `${kind} ${labels.join('; ')}`.slice(0, 200)
  return { state, patch: createPatch(previousState.document, document), label, steps: labels.length }
}

async function reload(previousState: State, path: string, input: ChangeInput): Promise<ChangeDraft> {
  const { text, ...file } = await readPlotFile(path)
  const document = await runInSlices(parseInSteps(text, { selection: previousState.document.selection }))
  // White space alone is not a change. The next save preserves the text of the file.
  const alignedDocument = alignDocument(previousState.document, document)
  const draft = addEntry(previousState, alignedDocument, 'the file was changed by another program', input)
  return { ...draft, state: { ...draft.state, document }, file }
}

function addEntry(
  previousState: State,
  document: PlotDocument,
  label: string,
  { actor, atMs }: ChangeInput,
): ChangeDraft {
  const patch = createPatch(previousState.document, document)
  if (Object.keys(patch).length === 0) return { state: previousState, patch, label }
  const seq = previousState.lastSeq + 1
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
    state: { document, history: recordEntry(previousState.history, entry), lastSeq: seq },
    patch,
    json,
    label,
  }
}

async function describeChange(
  previousState: State,
  { state, patch, label, applied, steps = 0, file, ...draft }: ChangeDraft,
): Promise<PreparedChange> {
  const isNoop = Object.keys(patch).length === 0
  const json = draft.json ?? (isNoop ? '' : JSON.stringify(patch))
  const packedPatch = json.length > maxPatchLength ? null : await packPatch(json)
  const previousEntries = new Map(previousState.history.map((entry) => [entry.seq, entry]))
  const createChangedEntry = async (entry: HistoryEntry): Promise<ChangedEntry> => {
    const { size: _, ...row } = entry
    if (previousEntries.get(entry.seq)?.patch === entry.patch) return { ...row, patch: null }
    const packedText =
      entry.patch === patch ? (packedPatch ?? json) : await packPatch(JSON.stringify(entry.patch))
    return { ...row, patch: packedText }
  }
  const retainedSeqs = new Set(state.history.map(({ seq }) => seq))
  const changedEntries = state.history.filter((entry) => previousEntries.get(entry.seq) !== entry)
  return {
    isNoop,
    affectsFile: Object.keys(patch).some((member) => member !== 'selection'),
    label,
    results: applied?.results ?? [],
    notices: applied?.notices ?? [],
    addedIds: applied?.addedIds ?? [],
    ids: listAffectedIds(patch),
    steps,
    patch: packedPatch,
    events: listEvents(patch, state.document),
    entries: await Promise.all(changedEntries.map(createChangedEntry)),
    droppedEntries: previousState.history.flatMap(({ seq }) => (retainedSeqs.has(seq) ? [] : seq)),
    selection: state.document.selection,
    features: state.document.items.length,
    stepCounts: countSteps(state.history),
    ...(file === undefined ? {} : { file }),
  }
}

function listAffectedIds({ features, selection }: Patch): readonly string[] {
  if (features === undefined) return selection?.after.slice(0, 20) ?? []
  return [...features.removed, ...features.added, ...features.updated]
    .slice(0, 20)
    .flatMap(([, text]) => getFeatureId(JSON.parse(text) as JsonObject) ?? [])
}

function restoreState(
  { document: loadedDocument }: State,
  { selection, entries, patches }: StoredState,
): State {
  let document = loadedDocument
  for (const storedPatch of patches)
    document = applyPatch(document, JSON.parse(unpackPatch(storedPatch)) as Patch)
  const knownIds = new Set(document.items.map(({ id }) => id))
  if (selection !== null) document = { ...document, selection: selection.filter((id) => knownIds.has(id)) }
  const history = entries.map((entry) => {
    const json = unpackPatch(entry.patch)
    return { ...entry, patch: JSON.parse(json) as Patch, size: json.length }
  })
  return { document, history, lastSeq: history.at(-1)?.seq ?? 0 }
}

function createWarningCollector() {
  const findProblem = createFeatureChecker({ idRequired: true })
  const warnings: string[] = []
  let omittedCount = 0
  return {
    check(feature: JsonObject, index: number): void {
      const problem = findProblem(feature, index)
      if (problem === null) return
      if (warnings.length === maxWarnings) omittedCount += 1
      else warnings.push(`feature ${index} (${problem.featureId ?? 'no id'}): ${problem.errors[0]}`)
    },
    listWarnings: (): readonly string[] =>
      omittedCount > 0 ? [...warnings, `and ${omittedCount} more features`] : warnings,
  }
}
