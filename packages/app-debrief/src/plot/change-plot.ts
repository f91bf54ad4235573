import { DebriefError } from '../errors.ts'
import { maxPatchLength } from '../memory/packed-patch.ts'
import type { Change, Prepared } from '../memory/plot-methods.ts'
import { getPlotUri } from '../resources/plot-uri.ts'
import { createStamp, type PlotEnv, type PlotRecord, type PlotStamp } from './plot-record.ts'

export interface Requester {
  readonly requestId: string
  readonly client: { readonly name: string }
}

export interface ChangeRequest<Result> {
  readonly change: Change
  /** Rejects the change if the plot has a different revision. */
  readonly ifRev?: number | undefined
  readonly createResult: (prepared: Prepared, stamp: PlotStamp) => Result
}

interface ChangeOptions<Result> {
  readonly by: Requester
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
  { by, request: { change, ifRev, createResult }, onUncertain }: ChangeOptions<Result>,
): Promise<ChangeOutcome<Result>> {
  const { journal } = env
  const { requestId, client } = by
  const earlier = await journal.getResult(requestId)
  if (earlier !== undefined) return { result: earlier as Result, isJournaled: true, isUndoJournaled: true }
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
      const result = createResult(prepared, createStamp(plot))
      await journal.putResult(requestId, result)
      await plot.holder.call('settle', { install: isReload })
      notifyNotices(plot, prepared, by)
      return { result, isJournaled: true, isUndoJournaled: true }
    }
    const isSaved = isReload || (!prepared.touchesFile && plot.rev === plot.savedRev)
    const result = createResult(prepared, { ...createStamp(plot), rev: plot.rev + 1, dirty: !isSaved })
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
    await plot.holder.call('settle', { install: true })
    plot.rev += 1
    if (isSaved && !isReload) {
      plot.savedRev = plot.rev
      await journal.markSaved(plot.path, plot.rev, plot.sha256)
    }
    notifyChange(env, plot, prepared, by)
    const isUndoJournaled = entries.every((entry) => (entry.patch?.length ?? 0) <= maxPatchLength)
    return { result, isJournaled: patch !== null, isUndoJournaled }
  } catch (error) {
    // The journal is authoritative, so the plot is loaded again from it.
    onUncertain()
    throw error
  }
}

function notifyChange({ changed }: PlotEnv, plot: PlotRecord, prepared: Prepared, by: Requester): void {
  const { live, rev, filename } = plot
  if (prepared.file !== undefined) live.emit(rev, 'reloaded', `"feature_count":${prepared.features}`)
  for (const { event, members } of prepared.events) {
    live.emit(rev, event, `"origin":${createOrigin(by)},${members}`)
    const part = event === 'patch' ? 'features' : event
    changed.resource(getPlotUri(part, filename))
    changed.resource(getPlotUri(part))
  }
  notifyNotices(plot, prepared, by)
}

function notifyNotices({ live, rev }: PlotRecord, { notices }: Prepared, by: Requester): void {
  for (const notice of notices)
    live.emit(rev, 'notice', `"origin":${createOrigin(by)},"notice":${JSON.stringify(notice)}`)
}

const createOrigin = ({ requestId, client }: Requester): string =>
  JSON.stringify({ client: client.name, request: requestId })
