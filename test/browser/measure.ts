/** Measures a page's main thread in Chromium. */
import { readFileSync } from 'node:fs'
import type { CDPSession, Page } from 'playwright-core'

/** Factor for budgets, because they were set on a machine up to twice as fast as others that run the tests. */
export const allowance = 2

/** Work of a page's main thread, as processor time in ms, which other programs do not affect. */
export interface MainThreadWork {
  readonly script: number
  readonly task: number
}

/** Reads the figures that Chromium counts for a page. */
export class PageMeter {
  readonly #session: CDPSession

  private constructor(session: CDPSession) {
    this.#session = session
  }

  static async open(page: Page): Promise<PageMeter> {
    const session = await page.context().newCDPSession(page)
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    return new PageMeter(session)
  }

  async #read(): Promise<(name: string) => number> {
    const { metrics } = await this.#session.send('Performance.getMetrics')
    return (name) => metrics.find((one) => one.name === name)?.value ?? Number.NaN
  }

  /** Runs a function. Resolves to the work of the main thread during that time. */
  async measure(run: () => Promise<unknown>): Promise<MainThreadWork> {
    const before = await this.#read()
    await run()
    const after = await this.#read()
    const difference = (name: string): number => (after(name) - before(name)) * 1000
    return { script: difference('ScriptDuration'), task: difference('TaskDuration') }
  }

  /** Resolves to the size of all reachable objects in bytes. */
  async readHeap(): Promise<number> {
    await this.#session.send('HeapProfiler.collectGarbage')
    return (await this.#read())('JSHeapUsedSize')
  }
}

/** Returns the processor time of a process in ms; 0 on systems without `/proc`. */
export function readProcessorTime(pid: number): number {
  if (process.platform !== 'linux') return 0
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
