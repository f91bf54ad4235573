/** Entry of a thread that measures /health independently of the clients of a soak. */
import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { Agent, request } from 'undici'

/** The `workerData` of the thread. */
export interface HealthProbeData {
  readonly url: string
  /** Unix time in milliseconds at which the thread ends. */
  readonly until: number
}

/** The message at the end of the thread. */
export interface HealthProbeResult {
  readonly timesMs: readonly number[]
  readonly faults: readonly string[]
}

const intervalMs = 20

const { url, until } = workerData as HealthProbeData
const dispatcher = new Agent({ connect: { timeout: 60_000 } })
const timesMs: number[] = []
const faults: string[] = []
while (Date.now() < until) {
  const started = performance.now()
  try {
    const { statusCode, body } = await request(`${url}/health`, { dispatcher })
    await body.text()
    if (statusCode !== 200) faults.push(`/health answered ${statusCode}`)
  } catch (error) {
    faults.push(`/health failed: ${(error as Error).message}`)
  }
  timesMs.push(performance.now() - started)
  await wait(intervalMs)
}
parentPort?.postMessage({ timesMs, faults } satisfies HealthProbeResult)
await dispatcher.close()
