/** One change of an open plot: prepared by its holder, kept in the data file, and then in force. */
import { CausewayError } from '@causeway/protocol'
import { mostEntry } from './journal.ts'
import type { ChangeCall, PlotStamp, Requester } from './plot.ts'
import { tellChange, tellNotices } from './plot-telling.ts'
import type { PlotEnv, Standing } from './standing.ts'

/** A wanted change. */
export interface ChangeOrder<Answer> {
  readonly by: Requester
  readonly call: ChangeCall<Answer>
  /** Memory and data file may differ: the plot is to be read again. */
  readonly onDoubt: () => void
}

/** What became of it. */
export interface Changed<Answer> {
  readonly given: Answer
  /** False where it is too large for the data file, so that only the plot file keeps it. */
  readonly isKept: boolean
  /** False where a step to undo is only in memory. */
  readonly isUndoKept: boolean
}

/** What every answer says of a plot. */
export function stampOf({ filename, rev, savedRev, file, message }: Standing): PlotStamp {
  const plain = { filename, rev, dirty: rev !== savedRev }
  return file === 'ok' ? plain : { ...plain, file, file_message: message }
}

/**
 * Changes a plot, all or nothing; a repeat of the same request gets the answer of the first. Throws `REV_MISMATCH`, and
 * what is wrong with the change.
 */
export async function changePlot<Answer>(
  env: PlotEnv,
  plot: Standing,
  { by: { requestId, client }, call: { change, ifRev, answer }, onDoubt }: ChangeOrder<Answer>,
): Promise<Changed<Answer>> {
  const { journal } = env
  const asBefore = { isKept: true, isUndoKept: true }
  const earlier = await journal.answered(requestId)
  if (earlier !== undefined) return { given: earlier as Answer, ...asBefore } // what was stored under this id
  if (ifRev !== undefined && ifRev !== plot.rev)
    throw new CausewayError('REV_MISMATCH', `the plot is at revision ${plot.rev} and not at ${ifRev}`, {
      data: { filename: plot.filename, current_rev: plot.rev },
    })
  const idPrefix = `feature-${env.newId()}`
  const made = await plot.holder.call('prepare', { change, actor: client.name, atMs: env.now(), idPrefix })
  const isReload = made.file !== undefined
  try {
    if (made.isNoop) {
      const given = answer(made, stampOf(plot))
      await journal.answer(requestId, given)
      await plot.holder.call('settle', { install: isReload })
      tellNotices(plot, made, { requestId, client })
      return { given, ...asBefore }
    }
    const isSaved = isReload || (!made.touchesFile && plot.rev === plot.savedRev)
    const given = answer(made, { ...stampOf(plot), rev: plot.rev + 1, dirty: !isSaved })
    const { label, ids, patch, entries, droppedEntries, selection } = made
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
      given,
    )
    await plot.holder.call('settle', { install: true })
    plot.rev += 1
    if (isSaved && !isReload) {
      plot.savedRev = plot.rev
      await journal.saved(plot.path, plot.rev, plot.sha256)
    }
    tellChange(env, plot, made, { requestId, client, isReload })
    const isUndoKept = entries.every(({ patch: kept }) => (kept?.length ?? 0) <= mostEntry)
    return { given, isKept: patch !== null, isUndoKept }
  } catch (error) {
    // The data file decides: what it does not have did not happen, and what it has is read from it.
    onDoubt()
    throw error
  }
}
