import { type CallOptions, startWorker, type WorkerLink, workerFile } from '@causeway/worker'
import type { EngineMethods } from './engine-methods.ts'

/** The worker for code, by its methods. */
export interface Engine {
  call<Name extends keyof EngineMethods & string>(
    method: Name,
    args: Parameters<EngineMethods[Name]>[0],
    options?: Pick<CallOptions, 'signal'>,
  ): Promise<ReturnType<EngineMethods[Name]>>
  close(): Promise<void>
}

/** Longest that one call may take, ms: a text that holds the worker up longer is given up, and the worker with it. */
const longest = 30_000

/** A worker that starts with the first call, and anew after one was lost. */
export function openEngine({ limitMs = longest }: { readonly limitMs?: number } = {}): Engine {
  let link: WorkerLink<EngineMethods> | undefined
  const started = () => {
    if (link?.isAlive) return link
    link = startWorker<EngineMethods>(workerFile('engine-worker', import.meta.url), {
      name: 'the worker that reads code',
      remedy: 'call again, with less text',
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    })
    return link
  }
  return {
    async call(method, args, options = {}) {
      const worker = started()
      const timer = setTimeout(() => void worker.kill(), limitMs)
      try {
        return (await worker.call(method, args, options)) as ReturnType<EngineMethods[typeof method]>
      } finally {
        clearTimeout(timer)
      }
    },
    async close() {
      await link?.stop()
      link = undefined
    },
  }
}
