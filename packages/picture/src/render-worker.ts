import { type MessagePort, workerData } from 'node:worker_threads'
import { isCausewayError } from '@causeway/protocol'
import { rasterise } from './raster.ts'
import type { CarriedError, Job, Reply, Source } from './render-protocol.ts'

const { port } = workerData as { readonly port: MessagePort }

port.on('message', async (job: Job) => {
  try {
    const { svg, warnings } = await draw(job.source)
    const image = rasterise(svg, Math.round(job.width_px * job.scale))
    const reply: Reply = { picture: { svg, ...image }, warnings }
    port.postMessage(reply, [image.png.buffer])
  } catch (error) {
    port.postMessage({ error: carry(error) } satisfies Reply)
  }
})

async function draw(source: Source): Promise<{ svg: string; warnings: readonly string[] }> {
  if (source.kind === 'drawing') return { svg: source.svg, warnings: [] }
  // Vega takes 200 ms to load: drawings do without it.
  const { chartSvg } = await import('./chart-svg.ts')
  return chartSvg(source.spec)
}

function carry(error: unknown): CarriedError {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  if (!isCausewayError(error)) return { code: null, message: 'drawing the picture failed', data: {}, text }
  const { code, message, data } = error
  return { code, message, data, text }
}
