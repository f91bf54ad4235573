import { DebriefError } from '../errors.ts'
import { maxPatchLength } from '../memory/packed-patch.ts'
import type { Change, PreparedChange } from '../memory/plot-methods.ts'
import { getPlotUri } from '../resources/plot-uri.ts'
import { createStatus, type PlotEnv, type PlotRecord, type PlotStatus } from './plot-record.ts'

export interface Requester {
  readonly requestId: string
  readonly client: { readonly name: string }
}

export interface ChangeRequest<Result> {
  readonly change: Change
  /** Required revision. Another revision causes `REV_MISMATCH`. */
  readonly ifRev?: number | undefined
  readonly createResult: (prepared: PreparedChange, status: PlotStatus) => Result
}

interface ChangeOptions<Result> {
  readonly requester: Requester
  readonly request: ChangeRequest<Result>
  /** Called if memory and journal may differ. The plot must then be loaded again. */
  readonly onUncertain: () => void
}

interface ChangeOutcome<Result> {
  readonly result: Result
  readonly isJournaled: boolean
  readonly isUndoJournaled: boolean
}

/** Throws `REV_MISMATCH` and errors of the change. */
export async function changePlot<Result>(
  env: PlotEnv,
  plot: PlotRecord,
  { requester, request: { change, ifRev, createResult }, onUncertain }: ChangeOptions<Result>,
): Promise<ChangeOutcome<Result>> {
  const { journal } = env
  const { requestId, client } = requester
  const storedResult = await journal.getResult(requestId)
  if (storedResult !== undefined)
    return { result: storedResult as Result, isJournaled: true, isUndoJournaled: true }
  if (ifRev !== undefined && ifRev !== plot.rev)
    throw new DebriefError('REV_MISMATCH', `the plot is at revision ${plot.rev}, not ${ifRev}`, {
      data: { filename: plot.filename, current_rev: plot.rev },
    })
  const idPrefix = `feature-${env.newId()}`
  const prepared = await plot.holder.call('prepare', {
    change,
    actor: client.name,
    atMs: env.now(),
    idPrefix,
  })
  const isReload = prepared.file !== undefined
  try {
    if (prepared.isNoop) {
      const result = createResult(prepared, createStatus(plot))
      await journal.putResult(requestId, result)
      await plot.holder.call('settle', { isAccepted: isReload })
      notifyNotices(plot, prepared, requester)
      return { result, isJournaled: true, isUndoJournaled: true }
    }
    const isSaved = isReload || (!prepared.affectsFile && plot.rev === plot.savedRev)
    const result = createResult(prepared, { ...createStatus(plot), rev: plot.rev + 1, dirty: !isSaved })
    const { label, ids, patch, entries, droppedEntries, selection } = prepared
    await journal.commit(
      {
        path: plot.path,
        rev: plot.rev,
        request: requestId,
        actor: client.name,
        kind: change.kind,
        label,
        ids,
        patch,
        entries,
        droppedEntries,
        selection,
      },
      result,
    )
    await plot.holder.call('settle', { isAccepted: true })
    plot.rev += 1
    if (isSaved && !isReload) {
      plot.savedRev = plot.rev
      await journal.markSaved(plot.path, plot.rev, plot.sha256)
    }
    notifyChange(env, plot, prepared, requester)
    const isUndoJournaled = entries.every((entry) => (entry.patch?.length ?? 0) <= maxPatchLength)
    return { result, isJournaled: patch !== null, isUndoJournaled }
  } catch (error) {
    // The journal is authoritative, so the plot is loaded again from it.
    onUncertain()
    throw error
  }
}

function notifyChange(
  { changed }: PlotEnv,
  plot: PlotRecord,
  prepared: PreparedChange,
  requester: Requester,
): void {
  const { live, rev, filename } = plot
  if (prepared.file !== undefined) live.emit(rev, 'reloaded', `"feature_count":${prepared.features}`)
  for (const { event, members } of prepared.events) {
    live.emit(rev, event, `"origin":${createOrigin(requester)},${members}`)
    const section = event === 'patch' ? 'features' : event
    changed.resource(getPlotUri(section, filename))
    changed.resource(getPlotUri(section))
  }
  notifyNotices(plot, prepared, requester)
}

function notifyNotices({ live, rev }: PlotRecord, { notices }: PreparedChange, requester: Requester): void {
  for (const notice of notices)
    live.emit(rev, 'notice', `"origin":${createOrigin(requester)},"notice":${JSON.stringify(notice)}`)
}

const createOrigin = ({ requestId, client }: Requester): string =>
  JSON.stringify({ client: client.name, request: requestId })
