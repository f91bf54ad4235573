/** Opening a plot: what is asked of it happens one thing after the other, and each change is one transaction. */
import { CausewayError, isCausewayError } from '@causeway/protocol'
import type { CallOptions } from '@causeway/worker'
import { weightOf } from './domain/weight.ts'
import type { ChangeCall, Plot, PlotStamp, Requester } from './plot.ts'
import { changePlot, stampOf } from './plot-change.ts'
import { signatureOf } from './plot-file.ts'
import { type PlotHolder, workerBytes } from './plot-holder.ts'
import { loadPlot } from './plot-loading.ts'
import type { Prepared } from './plot-methods.ts'
import { dropCopy, isForeign, isTouched, settleFile, trySave, writeCopy, writePlot } from './plot-saving.ts'
import { checkFile, isKnown } from './plot-watching.ts'
import { saveTimer } from './save-timer.ts'
import { type PlotEnv, tellFile } from './standing.ts'

/** Objects and positions of a command from which on a worker applies it. */
const heavy = 20_000

/** Opens a plot by its real path. Throws as `loadPlot` does. */
export async function openPlot(env: PlotEnv, path: string, watch: CallOptions = {}): Promise<Plot> {
  let plot = await loadPlot(env, path, watch)
  let isLost = false
  let isClosed = false
  let closing: Promise<void> | undefined
  let isUndoKept = true
  const released = new WeakSet<PlotHolder>()
  let last: Promise<unknown> = Promise.resolve()
  let isUnkept = false
  let usedMs = env.now()

  /** Runs after everything that was asked for before; a plot that was lost with its worker is read again first. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const run = async (): Promise<T> => {
      if (isClosed) throw closedMeanwhile(plot.filename)
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

  const timer = saveTimer({
    now: env.now,
    saveAfterMs: env.saveAfterMs,
    save: () =>
      void inTurn(() => saveNow()).catch((error) => env.log.error({ err: error }, 'saving a plot failed')),
  })
  const saveSoon = (): void => {
    if (plot.savedRev !== plot.rev && !isForeign(plot.file)) timer.soon(plot.file === 'unsaved')
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

  const stamp = (): PlotStamp => stampOf(plot)
  const transact = async <Answer>(by: Requester, call: ChangeCall<Answer>): Promise<Answer> => {
    const onDoubt = (): void => {
      isLost = true
    }
    const changed = await changePlot(env, plot, { by, call, onDoubt })
    isUnkept ||= !changed.isKept
    isUndoKept &&= changed.isUndoKept
    return changed.given
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
    const reload = (): Promise<PlotStamp> =>
      reloaded({ requestId: `reload-${env.newId()}`, client: { name: 'another program' } })
    if (await checkFile(env, plot, reload)) saveSoon()
  }
  /** What is read is never older than the file. */
  const checkFirst = async (): Promise<void> => {
    usedMs = env.now()
    const signature = await signatureOf(path)
    if (isLost || !isKnown(plot, signature)) await inTurn(check)
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
        if (isClosed) throw closedMeanwhile(plot.filename)
        // Released or replaced since, or ended by another call: the plot is read again, by one call at a time.
        if (!released.has(holder) && holder === plot.holder) isLost = true
        return inTurn(async () => ({ data: await plot.holder.read(query), stamp: stamp() }))
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
      if (!isLost && !isClosed) await inTurn(check)
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
      timer.stop()
      // In its turn to the end: who asks meanwhile must not find a plot that nobody holds, and read it anew.
      closing ??= inTurn(async () => {
        isClosed = true
        await trySave(env, plot)
      })
        .catch((error) => env.log.error({ plot: plot.filename, err: error }, 'saving a plot failed'))
        .then(async () => {
          isClosed = true
          await plot.holder.stop()
        })
      await closing
    },
  }
}

const closedMeanwhile = (filename: string): CausewayError =>
  new CausewayError('PLOT_NOT_FOUND', `the plot was closed meanwhile: ${filename}`, {
    remedy: 'call open_plot, which opens it again with all that was changed',
    data: { filename },
  })
