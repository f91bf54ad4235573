/** Opening a plot: what is asked of it happens one thing after the other, and each change is one transaction. */
import { CausewayError, isCausewayError } from '@causeway/protocol'
import type { CallOptions } from '@causeway/worker'
import { weightOf } from './domain/weight.ts'
import { mostEntry } from './journal.ts'
import type { ChangeCall, Plot, PlotStamp, Requester } from './plot.ts'
import { signatureOf } from './plot-file.ts'
import { type PlotHolder, workerBytes } from './plot-holder.ts'
import { loadPlot } from './plot-loading.ts'
import type { Prepared } from './plot-methods.ts'
import {
  dropCopy,
  isForeign,
  isTouched,
  keepCopy,
  settleFile,
  trySave,
  writeCopy,
  writePlot,
} from './plot-saving.ts'
import { tellChange, tellNotices } from './plot-telling.ts'
import { type PlotEnv, tellFile } from './standing.ts'

/** Longest time that a change waits for its save while others follow it, ms. */
const mostWaitMs = 2000
/** Positions of a command above which it is worked on by a worker. */
const heavy = 20_000
/** A save that failed is tried again after this, ms. */
const againMs = 5000

/** Opens a plot by its real path. Throws as `loadPlot` does. */
export async function openPlot(env: PlotEnv, path: string, watch: CallOptions = {}): Promise<Plot> {
  let plot = await loadPlot(env, path, watch)
  let isLost = false
  let isUndoKept = true
  const released = new WeakSet<PlotHolder>()
  let isClosed = false
  let last: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let dirtySince = 0
  let isUnkept = false
  let usedMs = env.now()

  /** Runs after everything that was asked for before; a plot that was lost with its worker is read again first. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const run = async (): Promise<T> => {
      if (isLost) {
        await plot.holder.stop()
        plot = await loadPlot(env, path, { live: plot.live })
        isLost = false
      }
      try {
        return await work()
      } catch (error) {
        if (isCausewayError(error) && error.code === 'WORKER_LOST') isLost = true
        throw error
      }
    }
    const turn = last.then(run, run)
    last = turn.catch(() => {})
    return turn
  }

  const saveSoon = (): void => {
    if (plot.savedRev === plot.rev || isForeign(plot.file) || isClosed) return
    if (timer === undefined) dirtySince = env.now()
    clearTimeout(timer)
    const waited = env.now() - dirtySince
    const wait = plot.file === 'ok' ? Math.min(env.saveAfterMs, Math.max(0, mostWaitMs - waited)) : againMs
    timer = setTimeout(() => {
      timer = undefined
      void inTurn(() => saveNow()).catch((error) => env.log.error({ err: error }, 'saving a plot failed'))
    }, wait).unref()
  }
  const saveNow = async (): Promise<void> => {
    await trySave(env, plot)
    if (plot.savedRev === plot.rev && plot.bytes > workerBytes && !plot.holder.isWorker) await moveToWorker()
    saveSoon()
  }
  /** A plot that has grown leaves this thread; the data file has all that is not in the plot file. */
  const moveToWorker = async (): Promise<void> => {
    const { holder, live } = plot
    plot = await loadPlot(env, path, { live, isInWorker: true })
    await holder.stop()
  }

  const stamp = (): PlotStamp => {
    const { filename, rev, savedRev, file, message } = plot
    const plain = { filename, rev, dirty: rev !== savedRev }
    return file === 'ok' ? plain : { ...plain, file, file_message: message }
  }

  const transact = async <Answer>(
    { requestId, client }: Requester,
    { change, ifRev, answer }: ChangeCall<Answer>,
  ): Promise<Answer> => {
    const { journal } = env
    const earlier = await journal.answered(requestId)
    if (earlier !== undefined) return earlier as Answer // what was stored under this id
    if (ifRev !== undefined && ifRev !== plot.rev)
      throw new CausewayError('REV_MISMATCH', `the plot is at revision ${plot.rev} and not at ${ifRev}`, {
        data: { filename: plot.filename, current_rev: plot.rev },
      })
    const by = { change, actor: client.name, atMs: env.now(), idPrefix: `feature-${env.newId()}` }
    const made = await plot.holder.call('prepare', by)
    const isReload = made.file !== undefined
    try {
      if (made.isNoop) {
        const given = answer(made, stamp())
        await journal.answer(requestId, given)
        await plot.holder.call('settle', { install: isReload })
        tellNotices(plot, made, { requestId, client })
        return given
      }
      const isSaved = isReload || (!made.touchesFile && plot.rev === plot.savedRev)
      const given = answer(made, { ...stamp(), rev: plot.rev + 1, dirty: !isSaved })
      const { label, ids, patch, entries, droppedEntries, selection } = made
      await journal.commit(
        {
          ...{ path: plot.path, rev: plot.rev, request: requestId, actor: client.name, kind: change.kind },
          ...{ label, ids, patch, entries, droppedEntries, selection },
        },
        given,
      )
      await plot.holder.call('settle', { install: true })
      plot.rev += 1
      isUnkept ||= patch === null
      isUndoKept &&= entries.every(({ patch: kept }) => (kept?.length ?? 0) <= mostEntry)
      if (isSaved && !isReload) {
        plot.savedRev = plot.rev
        await journal.saved(plot.path, plot.rev, plot.sha256)
      }
      tellChange(env, plot, made, { requestId, client, isReload })
      return given
    } catch (error) {
      // The data file decides: what it does not have did not happen, and what it has is read from it.
      isLost = true
      throw error
    }
  }

  const reloaded = async (by: Requester): Promise<PlotStamp> => {
    let read: Prepared | undefined
    await transact(by, {
      change: { kind: 'reload', path: plot.path },
      answer: (made, at) => {
        read = made
        return at
      },
    })
    if (read?.file !== undefined) {
      const { sha256, signature, bytes } = read.file
      Object.assign(plot, { sha256, signature, bytes, savedRev: plot.rev })
      await env.journal.saved(plot.path, plot.rev, sha256)
      await dropCopy(env, plot)
    }
    settleFile(plot, 'ok', '')
    tellFile(plot)
    return stamp()
  }

  const check = async (): Promise<void> => {
    const signature = await signatureOf(path)
    if (isForeign(plot.file) && signature === plot.judged) return
    if (!(await isTouched(plot))) {
      if (!isForeign(plot.file)) return
      settleFile(plot, 'ok', '')
      tellFile(plot)
      saveSoon()
      return
    }
    plot.judged = signature
    await judge(signature)
    if (plot.file !== 'ok') tellFile(plot)
  }
  /** A file that another program wrote is taken over, unless there are changes of our own, or it cannot be read. */
  const judge = async (signature: string | null): Promise<void> => {
    if (signature === null) return settleFile(plot, 'missing', 'the file was removed by another program')
    if (plot.rev !== plot.savedRev) {
      settleFile(plot, 'conflict', 'the file was changed by another program, and the plot here as well')
      return keepCopy(env, plot)
    }
    try {
      await reloaded({ requestId: `reload-${env.newId()}`, client: { name: 'another program' } })
    } catch (error) {
      if (!isCausewayError(error) || error.code === 'WORKER_LOST') throw error
      settleFile(plot, error.code === 'PLOT_NOT_FOUND' ? 'missing' : 'invalid', error.message)
    }
  }

  await check()
  saveSoon()
  return {
    filename: plot.filename,
    path,
    get live() {
      return plot.live
    },
    async read(query) {
      await checkFirst()
      const { holder } = plot
      try {
        return { data: await holder.read(query), stamp: stamp() }
      } catch (error) {
        if (!isCausewayError(error) || error.code !== 'WORKER_LOST') throw error
        // Let go of between the look and the question: it is read again, in its turn.
        if (released.has(holder))
          return inTurn(async () => ({ data: await plot.holder.read(query), stamp: stamp() }))
        isLost = true
        throw error
      }
    },
    begin: (query, start) => inTurn(async () => start(await plot.holder.read(query), plot.rev)),
    async change(by, call) {
      await checkFirst()
      return inTurn(async () => {
        // Much to check and to write: not on the thread that answers everybody. All of it is in the data file.
        if (!plot.holder.isWorker && plot.file === 'ok' && weightOf(call.change, heavy) === heavy)
          await moveToWorker()
        const given = await transact(by, call)
        // A change that is too large for the data file is safe only in the plot file.
        if (isUnkept) await saveNow()
        isUnkept = false
        saveSoon()
        return given
      })
    },
    save: (isForced = false) =>
      inTurn(async () => {
        if (isForced || plot.rev !== plot.savedRev || (await isTouched(plot))) {
          await writePlot(env, plot, isForced)
          tellFile(plot)
        }
        return stamp()
      }),
    reload: (by) => inTurn(() => reloaded(by)),
    saveCopy: (filename) => inTurn(() => writeCopy(plot, filename)),
    async check() {
      if (!isLost) await inTurn(check)
    },
    release: () =>
      inTurn(async () => {
        await trySave(env, plot)
        // First: who asks meanwhile waits for its turn, and reads it anew.
        isLost = true
        released.add(plot.holder)
        await plot.holder.stop()
      }),
    get isReleasable() {
      return isUndoKept
    },
    async memoryBytes() {
      if (isLost) return 0
      // Texts and what was read off them; a feature that is asked for is parsed for a moment.
      return plot.holder.isWorker ? plot.holder.bytes() : 2 * plot.bytes
    },
    idleMs: () => (plot.live.listeners > 0 ? 0 : env.now() - usedMs),
    stamp,
    get bytes() {
      return plot.bytes
    },
    get warnings() {
      return plot.warnings
    },
    get isInWorker() {
      return plot.holder.isWorker && !isLost
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await inTurn(async () => trySave(env, plot)).catch((error) =>
        env.log.error({ plot: plot.filename, err: error }, 'saving a plot failed'),
      )
      await plot.holder.stop()
    },
  }

  /** What is read is never older than the file. */
  async function checkFirst(): Promise<void> {
    usedMs = env.now()
    const signature = await signatureOf(path)
    const isKnown = signature === plot.signature || (isForeign(plot.file) && signature === plot.judged)
    if (isLost || signature === null || !isKnown) await inTurn(check)
  }
}
