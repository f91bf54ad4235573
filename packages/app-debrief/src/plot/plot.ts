import type { CausewayError } from '@causeway/protocol'
import { type CallOptions, WorkerError } from '@causeway/worker'
import { DebriefError } from '../errors.ts'
import { getSignature } from '../files/plot-file.ts'
import type { PlotEvents } from '../live/plot-events.ts'
import { type PlotHolder, workerBytes } from '../memory/plot-holder.ts'
import type { PreparedChange } from '../memory/plot-methods.ts'
import type { Query, QueryResults } from '../memory/plot-query.ts'
import { type ChangeRequest, changePlot, type Requester } from './change-plot.ts'
import { checkFile, isKnownSignature } from './check-file.ts'
import { loadPlot } from './load-plot.ts'
import {
  createStatus,
  isChangedExternally,
  notifyFileStatus,
  type PlotEnv,
  type PlotRecord,
  type PlotStatus,
  setFileStatus,
} from './plot-record.ts'
import { isModified, removeRescue, trySave, writeCopy, writePlot } from './save-plot.ts'
import { SaveTimer } from './save-timer.ts'

/** Minimum number of objects and positions in a change that a worker applies. */
const minWorkerChangeSize = 20_000

/** Runs changes, saves and checks one at a time. */
export class Plot {
  readonly filename: string
  readonly path: string
  readonly #env: PlotEnv
  readonly #timer: SaveTimer
  readonly #releasedHolders = new WeakSet<PlotHolder>()
  #record: PlotRecord
  #queue: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | undefined
  #isClosed = false
  #isLost = false
  #needsImmediateSave = false
  #isUndoJournaled = true
  #lastUsedMs: number

  /** Throws the errors of `loadPlot`. */
  static async open(env: PlotEnv, path: string, options: CallOptions = {}): Promise<Plot> {
    const plot = new Plot(env, await loadPlot(env, path, options))
    await plot.#check()
    plot.#scheduleSave()
    return plot
  }

  private constructor(env: PlotEnv, record: PlotRecord) {
    this.#env = env
    this.#record = record
    this.filename = record.filename
    this.path = record.path
    this.#lastUsedMs = env.now()
    this.#timer = new SaveTimer({
      now: env.now,
      saveAfterMs: env.saveAfterMs,
      save: () => {
        this.#enqueue(() => this.#saveNow()).catch((error) =>
          env.log.error({ err: error }, 'saving a plot failed'),
        )
      },
    })
  }

  get live(): PlotEvents {
    return this.#record.live
  }

  get bytes(): number {
    return this.#record.bytes
  }

  get warnings(): readonly string[] {
    return this.#record.warnings
  }

  get isInWorker(): boolean {
    return this.#record.holder.isWorker && !this.#isLost
  }

  /** Whether the journal has all undo steps. */
  get isReleasable(): boolean {
    return this.#isUndoJournaled
  }

  getStatus(): PlotStatus {
    return createStatus(this.#record)
  }

  async read<Q extends Query>(
    query: Q,
  ): Promise<{ readonly data: QueryResults[Q['kind']]; readonly status: PlotStatus }> {
    await this.#checkBeforeUse()
    const { holder } = this.#record
    try {
      return { data: await holder.read(query), status: this.getStatus() }
    } catch (error) {
      if (!WorkerError.is(error, 'WORKER_LOST')) throw error
      if (this.#isClosed) throw this.#createClosedError()
      // If the holder was released or replaced, another call loads the plot again.
      if (!this.#releasedHolders.has(holder) && holder === this.#record.holder) this.#isLost = true
      return this.#enqueue(async () => ({
        data: await this.#record.holder.read(query),
        status: this.getStatus(),
      }))
    }
  }

  /** Passes the result of a query to `start` before the next change. */
  readThen<Q extends Query, T>(
    query: Q,
    start: (data: QueryResults[Q['kind']], rev: number) => T,
  ): Promise<T> {
    return this.#enqueue(async () => start(await this.#record.holder.read(query), this.#record.rev))
  }

  /** A repeated request returns the first result. */
  async change<Result>(requester: Requester, request: ChangeRequest<Result>): Promise<Result> {
    await this.#checkBeforeUse()
    return this.#enqueue(async () => {
      const { holder, file } = this.#record
      if (
        !holder.isWorker &&
        file === 'ok' &&
        estimateChangeSize(request.change, minWorkerChangeSize) === minWorkerChangeSize
      )
        await this.#moveToWorker()
      const result = await this.#transact(requester, request)
      // Only the plot file can store a change that is too large for the journal.
      if (this.#needsImmediateSave) await this.#saveNow()
      this.#needsImmediateSave = false
      this.#scheduleSave()
      return result
    })
  }

  /** Throws the errors of `writePlot`. */
  save(isForced = false): Promise<PlotStatus> {
    return this.#enqueue(async () => {
      const { rev, savedRev } = this.#record
      if (isForced || rev !== savedRev || (await isModified(this.#record))) {
        await writePlot(this.#env, this.#record, isForced)
        notifyFileStatus(this.#record)
      }
      return this.getStatus()
    })
  }

  /** A reload can be undone. */
  reload(requester: Requester): Promise<PlotStatus> {
    return this.#enqueue(() => this.#reload(requester))
  }

  /** Returns the copy's path. Throws `PLOT_EXISTS`. */
  saveCopy(filename: string): Promise<string> {
    return this.#enqueue(() => writeCopy(this.#record, filename))
  }

  async check(): Promise<void> {
    if (!this.#isLost && !this.#isClosed) await this.#enqueue(() => this.#check())
  }

  /** Saves the plot and frees its memory. The next call loads it again. */
  release(): Promise<void> {
    return this.#enqueue(async () => {
      await trySave(this.#env, this.#record)
      // Makes concurrent reads wait and load the plot again.
      this.#isLost = true
      this.#releasedHolders.add(this.#record.holder)
      await this.#record.holder.stop()
    })
  }

  /** Returns an estimate if this thread holds the plot, and 0 after a release. */
  async memoryBytes(): Promise<number> {
    if (this.#isLost) return 0
    const { holder, bytes } = this.#record
    return holder.isWorker ? holder.bytes() : 2 * bytes
  }

  /** Returns 0 if there are viewers. */
  idleMs(): number {
    return this.#record.live.listenerCount > 0 ? 0 : this.#env.now() - this.#lastUsedMs
  }

  async close(): Promise<void> {
    this.#timer.stop()
    // Occupies the queue so that concurrent calls do not load the plot again.
    this.#closing ??= this.#enqueue(async () => {
      this.#isClosed = true
      await trySave(this.#env, this.#record)
    })
      .catch((error) => this.#env.log.error({ plot: this.filename, err: error }, 'saving a plot failed'))
      .then(async () => {
        this.#isClosed = true
        await this.#record.holder.stop()
      })
    await this.#closing
  }

  /** Runs `work` after all previous operations. Loads the plot first if it is not in memory. */
  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const run = async (): Promise<T> => {
      if (this.#isClosed) throw this.#createClosedError()
      if (this.#isLost) {
        await this.#record.holder.stop()
        this.#record = await loadPlot(this.#env, this.path, { live: this.live })
        this.#isLost = false
      }
      try {
        return await work()
      } catch (error) {
        if (WorkerError.is(error, 'WORKER_LOST')) this.#isLost = true
        throw error
      }
    }
    const result = this.#queue.then(run, run)
    this.#queue = result.catch(() => {})
    return result
  }

  #scheduleSave(): void {
    const { savedRev, rev, file } = this.#record
    if (savedRev !== rev && !isChangedExternally(file)) this.#timer.schedule(file === 'unsaved')
  }

  async #saveNow(): Promise<void> {
    const record = this.#record
    await trySave(this.#env, record)
    if (record.savedRev === record.rev && record.bytes > workerBytes && !record.holder.isWorker)
      await this.#moveToWorker()
    this.#scheduleSave()
  }

  /** Loads the plot in a worker from its file and the journal, which contains unsaved changes. */
  async #moveToWorker(): Promise<void> {
    const { holder, live } = this.#record
    this.#record = await loadPlot(this.#env, this.path, { live, isInWorker: true })
    await holder.stop()
  }

  async #transact<Result>(requester: Requester, request: ChangeRequest<Result>): Promise<Result> {
    const outcome = await changePlot(this.#env, this.#record, {
      requester,
      request,
      onUncertain: () => {
        this.#isLost = true
      },
    })
    this.#needsImmediateSave ||= !outcome.isJournaled
    this.#isUndoJournaled &&= outcome.isUndoJournaled
    return outcome.result
  }

  async #reload(requester: Requester): Promise<PlotStatus> {
    const record = this.#record
    let prepared: PreparedChange | undefined
    await this.#transact(requester, {
      change: { kind: 'reload', path: this.path },
      createResult: (preparedChange, status) => {
        prepared = preparedChange
        return status
      },
    })
    if (prepared?.file !== undefined) {
      const { sha256, signature, bytes } = prepared.file
      Object.assign(record, { sha256, signature, bytes, savedRev: record.rev })
      await this.#env.journal.markSaved(this.path, record.rev, sha256)
      await removeRescue(this.#env, record)
    }
    setFileStatus(record, 'ok')
    notifyFileStatus(record)
    return this.getStatus()
  }

  async #check(): Promise<void> {
    const requestId = `reload-${this.#env.newId()}`
    const reload = () => this.#reload({ requestId, client: { name: 'another program' } })
    if (await checkFile(this.#env, this.#record, reload)) this.#scheduleSave()
  }

  async #checkBeforeUse(): Promise<void> {
    this.#lastUsedMs = this.#env.now()
    const signature = await getSignature(this.path)
    if (this.#isLost || !isKnownSignature(this.#record, signature)) await this.#enqueue(() => this.#check())
  }

  #createClosedError(): CausewayError {
    return new DebriefError('PLOT_NOT_FOUND', `the plot was closed by another client: ${this.filename}`, {
      remedy: 'call open_plot to open it again with all changes',
      data: { filename: this.filename },
    })
  }
}

function estimateChangeSize(value: unknown, maxSize: number): number {
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value) && typeof value[0] === 'number') return 1
  let size = Array.isArray(value) ? 0 : 1
  for (const member of Object.values(value)) {
    size += estimateChangeSize(member, maxSize - size)
    if (size >= maxSize) return maxSize
  }
  return size
}
