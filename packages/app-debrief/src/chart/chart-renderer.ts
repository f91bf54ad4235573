import type { CallContext } from '@causeway/app-kit'
import { openPicture, type Picture, type PictureLog } from '@causeway/picture'
import type { Bounds } from '@causeway/plot'
import { resolveWorkerFile, WorkerLink, type WorkerMemory, WorkerPool } from '@causeway/worker'
import type { MapDrawing } from '../domain/map/map-drawing.ts'
import type { ChartMethods } from './chart-worker.ts'

/** Number of PNG pixels per pixel of the chart. */
const pngScale = 1.5

/** Idle time after which the worker stops and frees its coastlines. */
const defaultIdleMs = 60_000

/** One worker draws the SVG, another converts it to PNG. */
export class ChartRenderer {
  readonly #pictures: ReturnType<typeof openPicture>
  readonly #pool: WorkerPool<ChartMethods>

  constructor(log: PictureLog, { idleMs = defaultIdleMs } = {}) {
    this.#pictures = openPicture({ log, limits: { idleMs } })
    const startWorker = () =>
      new WorkerLink<ChartMethods>(resolveWorkerFile('chart-worker', import.meta.url), {
        name: 'the worker that draws charts',
      })
    this.#pool = new WorkerPool<ChartMethods>(startWorker, { name: 'charts', maxRunning: 1, idleMs })
  }

  get isLoaded(): boolean {
    return this.#pool.workers.length > 0
  }

  get memory(): WorkerMemory {
    return this.#pool.memory
  }

  /** Throws `CANCELLED`, `DEADLINE_EXCEEDED`, `OVERLOADED` and `WORKER_LOST`. */
  async render(
    drawing: Omit<MapDrawing, 'land' | 'coast'>,
    { clientKey: client, signal }: Pick<CallContext, 'clientKey' | 'signal'>,
  ): Promise<Picture> {
    const svg = await this.#pool.call('draw', drawing, { client, signal })
    return this.#pictures.drawing(svg, { width_px: drawing.width, scale: pngScale, signal })
  }

  /** Returns land within bounds plus a margin, as JSON of a GeoJSON MultiPolygon. Throws the errors of `render`. */
  clipLand(
    bounds: Bounds,
    { clientKey: client, signal }: Pick<CallContext, 'clientKey' | 'signal'>,
  ): Promise<string> {
    return this.#pool.call('clip', bounds, { client, signal })
  }

  async close(): Promise<void> {
    await Promise.all([this.#pictures.close(), this.#pool.stop()])
  }
}
