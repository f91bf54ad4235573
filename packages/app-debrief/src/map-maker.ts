/** Charts of plots as pictures: drawn in one worker, made into pixels in another. */
import type { CallContext } from '@causeway/app-kit'
import { openPicture, type Picture, type PictureLog } from '@causeway/picture'
import { type RestingWorkers, startWorker, WorkerPool, workerFile } from '@causeway/worker'
import type { MapDrawing } from './domain/map/map-drawing.ts'
import type { MapMethods } from './map-worker.ts'

/** The client that requests a chart, and the signal that cancels the request. */
type MapCaller = Pick<CallContext, 'clientKey' | 'signal'>

/** Makes charts; nothing is started before the first one. */
export interface MapMaker {
  /** Throws `CANCELLED`, `DEADLINE_EXCEEDED`, `OVERLOADED`, `WORKER_LOST`. */
  draw(drawing: Omit<MapDrawing, 'land'>, caller: MapCaller): Promise<Picture>
  /** The memory of the worker that draws; the one that makes pixels ends by itself. */
  readonly memory: RestingWorkers
  /** False while no worker holds the coastline. */
  readonly isAwake: boolean
  close(): Promise<void>
}

/** PNG pixels for each pixel of the chart: sharp, and still small enough for a chat. */
const scale = 1.5

/** The coastline of the world takes 60 MB: its worker is let go when nobody has wanted a chart for so long, ms. */
const restAfterMs = 60_000

/** A maker of charts. */
export function openMapMaker(log: PictureLog, { idleMs = restAfterMs } = {}): MapMaker {
  const renderer = openPicture({ log, limits: { idleMs } })
  const start = () =>
    startWorker<MapMethods>(workerFile('map-worker', import.meta.url), {
      name: 'the worker that draws charts',
    })
  const pool = new WorkerPool<MapMethods>(start, { name: 'charts', maxRunning: 1, idleMs })
  return {
    get isAwake() {
      return pool.workers.length > 0
    },
    async draw(drawing, { clientKey: client, signal }) {
      const svg = await pool.call('draw', drawing, { client, signal })
      return renderer.drawing(svg, { width_px: drawing.width, scale, signal })
    },
    memory: pool.memory,
    async close() {
      await Promise.all([renderer.close(), pool.stop()])
    },
  }
}
