import { CausewayError } from '@causeway/protocol'
import { startWorker, type WorkerLink, workerFile } from '@causeway/worker'
import type { TopLevelSpec } from 'vega-lite'
import { invalidPicture } from './invalid-picture.ts'
import type { Job, Picture, RenderMethods, Source } from './render-methods.ts'

/** How a picture is drawn and by what it is stopped. */
export interface PictureOptions {
  /** width in CSS pixels, 50 to 4000, default 900; the height follows from the proportions */
  readonly width_px?: number | undefined
  /** PNG pixels for each CSS pixel, 0.5 to 4, default 1.5: sharp, and still small at chat size */
  readonly scale?: number | undefined
  /** aborted: the call ends with `CANCELLED`, at once */
  readonly signal?: AbortSignal | undefined
}

/** Bounds of one renderer. */
export interface PictureLimits {
  /** longest time that one picture may take, without its wait for others; milliseconds */
  readonly deadlineMs: number
  /** an idle worker is ended after this; milliseconds */
  readonly idleMs: number
  /** pictures that may wait */
  readonly waiting: number
}

/** Draws pictures, one after the other, in a worker that is started by the first one. */
export interface Renderer {
  /**
   * A Vega-Lite specification, under our theme (`lineChart` makes one). Its data must stand in it. It is code, as its
   * expressions are: pass on none that a client wrote.
   *
   * Throws `INVALID_PICTURE`, `CANCELLED`, `DEADLINE_EXCEEDED`, `OVERLOADED`, `SHUTTING_DOWN`, and `WORKER_LOST`
   * where the worker dies.
   */
  chart(spec: TopLevelSpec, options?: PictureOptions): Promise<Picture>
  /** SVG text without images (`drawing` writes it). Throws as `chart` does. */
  drawing(svg: string, options?: PictureOptions): Promise<Picture>
  /** Ends the worker; calls in hand end with `SHUTTING_DOWN`. */
  close(): Promise<void>
}

/** Where the warnings of Vega-Lite go. */
export interface PictureLog {
  warn(fields: object, message: string): void
}

const defaults: PictureLimits = { deadlineMs: 10_000, idleMs: 60_000, waiting: 64 }

interface Task {
  readonly job: Job
  readonly resolve: (picture: Picture) => void
  readonly reject: (error: unknown) => void
}

/** Makes a renderer; nothing is started before the first picture. */
export function openPicture({
  log,
  limits,
}: {
  readonly log?: PictureLog
  readonly limits?: Partial<PictureLimits>
} = {}): Renderer {
  const { deadlineMs, idleMs, waiting } = { ...defaults, ...limits }
  const queue: Task[] = []
  let link: WorkerLink<RenderMethods> | undefined
  let current: Task | undefined
  let idle: NodeJS.Timeout | undefined
  let isClosed = false

  const endWorker = async () => {
    const ended = link
    link = undefined
    await ended?.kill()
  }
  const draw = async ({ job, resolve, reject }: Task) => {
    if (!link?.isAlive) link = startRenderer()
    const drawing = link
    const deadline = setTimeout(() => {
      reject(tooSlow(deadlineMs))
      void drawing.kill()
    }, deadlineMs)
    try {
      const { picture, warnings } = await drawing.call('draw', job)
      if (warnings.length > 0) log?.warn({ warnings }, 'a chart was drawn with warnings')
      resolve(picture)
    } catch (error) {
      reject(isUncloneable(error) ? notPlain(error) : error)
    } finally {
      clearTimeout(deadline)
    }
  }
  const work = async () => {
    if (current) return
    clearTimeout(idle)
    for (current = queue.shift(); current; current = queue.shift()) await draw(current)
    if (!isClosed) idle = setTimeout(endWorker, idleMs).unref()
  }
  const ask = async (source: Source, { signal, ...size }: PictureOptions = {}): Promise<Picture> => {
    const job = jobOf(source, size)
    if (isClosed) throw closing()
    if (signal?.aborted) throw cancelled()
    if (queue.length >= waiting) throw overloaded(queue.length)
    let cancel = () => {}
    try {
      return await new Promise<Picture>((resolve, reject) => {
        const task: Task = { job, resolve, reject }
        cancel = () => {
          // A picture that is being drawn is drawn to its end, for nobody: a new worker would cost more.
          const place = queue.indexOf(task)
          if (place >= 0) queue.splice(place, 1)
          reject(cancelled())
        }
        signal?.addEventListener('abort', cancel, { once: true })
        queue.push(task)
        void work()
      })
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
  }

  return {
    chart: (spec, options) => ask({ kind: 'chart', spec }, options),
    drawing: (svg, options) => ask({ kind: 'drawing', svg }, options),
    async close() {
      isClosed = true
      clearTimeout(idle)
      for (const { reject } of queue.splice(0)) reject(closing())
      current?.reject(closing())
      await endWorker()
    },
  }
}

/** Starts a worker; it keeps the process alive only while it draws. */
const startRenderer = (): WorkerLink<RenderMethods> =>
  startWorker<RenderMethods>(workerFile('render-worker', import.meta.url), {
    name: 'the worker that draws pictures',
    remedy: 'call again: a new worker is started; draw fewer points if it repeats',
    // What grows beyond it ends the worker alone; a single allocation as large may end the process.
    resourceLimits: { maxOldGenerationSizeMb: 1024 },
  })

function jobOf(source: Source, { width_px = 900, scale = 1.5 }: PictureOptions): Job {
  if (!(width_px >= 50 && width_px <= 4000)) {
    throw invalidPicture('width_px must be 50 to 4000', { data: { width_px } })
  }
  if (!(scale >= 0.5 && scale <= 4)) throw invalidPicture('scale must be 0.5 to 4', { data: { scale } })
  return { source, width_px, scale }
}

/** The structured clone refuses functions and symbols. */
const isUncloneable = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'DataCloneError'

const notPlain = (cause: unknown) =>
  invalidPicture('the chart is not plain data: it holds a function or a symbol', { cause })

const cancelled = () => new CausewayError('CANCELLED', 'the call was cancelled')

const closing = () => new CausewayError('SHUTTING_DOWN', 'the renderer of pictures was closed')

const overloaded = (queued: number) =>
  new CausewayError('OVERLOADED', `${queued} pictures wait to be drawn`, { data: { retry_after_ms: 1000 } })

const tooSlow = (deadlineMs: number) =>
  new CausewayError('DEADLINE_EXCEEDED', `drawing the picture took longer than ${deadlineMs} ms`, {
    remedy: 'draw fewer points or a shorter range',
    data: { deadline_ms: deadlineMs },
  })
