import { CausewayError } from '@causeway/protocol'
import { resolveWorkerFile, WorkerLink } from '@causeway/worker'
import type { TopLevelSpec } from 'vega-lite'
import { createInvalidPictureError } from './errors.ts'
import type { Job, Picture, RenderMethods, Source } from './render-methods.ts'

interface PictureOptions {
  /** CSS pixels, 50 to 4000. Default: 900. The aspect ratio determines the height. */
  readonly width_px?: number | undefined
  /** PNG pixels per CSS pixel, 0.5 to 4. Default: 1.5. */
  readonly scale?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface PictureLimits {
  readonly deadlineMs: number
  readonly idleMs: number
  readonly maxQueued: number
}

export interface PictureLog {
  warn(fields: object, message: string): void
}

const defaultLimits: PictureLimits = { deadlineMs: 10_000, idleMs: 60_000, maxQueued: 64 }

interface Task {
  readonly job: Job
  readonly resolve: (picture: Picture) => void
  readonly reject: (error: unknown) => void
}

export const openPicture = ({
  log,
  limits,
}: {
  readonly log?: PictureLog
  readonly limits?: Partial<PictureLimits>
} = {}): Renderer => new Renderer({ ...defaultLimits, ...limits }, log)

/** Draws one picture after another in a worker. */
export class Renderer {
  readonly #limits: PictureLimits
  readonly #log: PictureLog | undefined
  readonly #queue: Task[] = []
  #link: WorkerLink<RenderMethods> | undefined
  #currentTask: Task | undefined
  #idleTimer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(limits: PictureLimits, log?: PictureLog) {
    this.#limits = limits
    this.#log = log
  }

  /**
   * Draws a Vega-Lite specification, which must contain its data. Never pass a client's specification, because
   * expressions are code. Throws `INVALID_PICTURE`, `CANCELLED`, `DEADLINE_EXCEEDED`, `OVERLOADED`, `SHUTTING_DOWN`
   * and `WORKER_LOST`.
   */
  chart(spec: TopLevelSpec, options?: PictureOptions): Promise<Picture> {
    return this.#render({ kind: 'chart', spec }, options)
  }

  /** Draws an SVG document, which must not contain images. Throws the errors of `chart`. */
  drawing(svg: string, options?: PictureOptions): Promise<Picture> {
    return this.#render({ kind: 'drawing', svg }, options)
  }

  /** Stops the worker. Pending calls reject with `SHUTTING_DOWN`. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#idleTimer)
    for (const { reject } of this.#queue.splice(0)) reject(createClosedError())
    this.#currentTask?.reject(createClosedError())
    await this.#stopWorker()
  }

  async #render(source: Source, { signal, ...size }: PictureOptions = {}): Promise<Picture> {
    const job = createJob(source, size)
    if (this.#isClosed) throw createClosedError()
    if (signal?.aborted) throw createCancelledError()
    if (this.#queue.length >= this.#limits.maxQueued) throw createOverloadedError(this.#queue.length)
    let cancel = () => {}
    try {
      return await new Promise<Picture>((resolve, reject) => {
        const task: Task = { job, resolve, reject }
        cancel = () => {
          // The worker completes a started picture, because a new worker would cost more.
          const position = this.#queue.indexOf(task)
          if (position >= 0) this.#queue.splice(position, 1)
          reject(createCancelledError())
        }
        signal?.addEventListener('abort', cancel, { once: true })
        this.#queue.push(task)
        void this.#drawQueue()
      })
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
  }

  async #drawQueue(): Promise<void> {
    if (this.#currentTask) return
    clearTimeout(this.#idleTimer)
    for (this.#currentTask = this.#queue.shift(); this.#currentTask; this.#currentTask = this.#queue.shift())
      await this.#draw(this.#currentTask)
    if (!this.#isClosed)
      this.#idleTimer = setTimeout(() => void this.#stopWorker(), this.#limits.idleMs).unref()
  }

  async #draw({ job, resolve, reject }: Task): Promise<void> {
    if (!this.#link?.isAlive) this.#link = startWorker()
    const link = this.#link
    const deadline = setTimeout(() => {
      reject(createDeadlineError(this.#limits.deadlineMs))
      void link.kill()
    }, this.#limits.deadlineMs)
    try {
      const { picture, warnings } = await link.call('draw', job)
      if (warnings.length > 0) this.#log?.warn({ warnings }, 'a chart was drawn with warnings')
      resolve(picture)
    } catch (error) {
      reject(isUncloneable(error) ? createUncloneableError(error) : error)
    } finally {
      clearTimeout(deadline)
    }
  }

  async #stopWorker(): Promise<void> {
    const link = this.#link
    this.#link = undefined
    await link?.kill()
  }
}

const startWorker = (): WorkerLink<RenderMethods> =>
  new WorkerLink<RenderMethods>(resolveWorkerFile('render-worker', import.meta.url), {
    name: 'the worker that draws pictures',
    remedy: 'call again: a new worker is started; draw fewer points if it repeats',
    // A single large allocation can still end the process.
    resourceLimits: { maxOldGenerationSizeMb: 1024 },
  })

function createJob(source: Source, { width_px = 900, scale = 1.5 }: PictureOptions): Job {
  if (!(width_px >= 50 && width_px <= 4000)) {
    throw createInvalidPictureError('width_px must be 50 to 4000', { data: { width_px } })
  }
  if (!(scale >= 0.5 && scale <= 4))
    throw createInvalidPictureError('scale must be 0.5 to 4', { data: { scale } })
  return { source, width_px, scale }
}

/** The structured clone algorithm rejects functions and symbols. */
const isUncloneable = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'DataCloneError'

const createUncloneableError = (cause: unknown) =>
  createInvalidPictureError('the chart is not plain data: it contains a function or a symbol', { cause })

const createCancelledError = () => new CausewayError('CANCELLED', 'the call was cancelled')

const createClosedError = () => new CausewayError('SHUTTING_DOWN', 'the picture renderer is closed')

const createOverloadedError = (queued: number) =>
  new CausewayError('OVERLOADED', `${queued} pictures are queued`, { data: { retry_after_ms: 1000 } })

const createDeadlineError = (deadlineMs: number) =>
  new CausewayError('DEADLINE_EXCEEDED', `drawing the picture took longer than ${deadlineMs} ms`, {
    remedy: 'draw fewer points or a shorter range',
    data: { deadline_ms: deadlineMs },
  })
