import { CausewayError } from '@causeway/protocol'
import type { CallOptions } from './start-worker.ts'

/** Work that is done once for all who ask for it at the same time. */
export interface SharedTasks<Result> {
  /**
   * Joins the work under a key, or starts it. Each caller may give up by its own signal (`CANCELLED`); the work is
   * stopped when nobody waits for it any more.
   */
  run(
    key: string,
    work: (options: Required<CallOptions>) => Promise<Result>,
    options: CallOptions,
  ): Promise<Result>
  /** True while work under this key is under way and somebody waits for it. */
  has(key: string): boolean
  /** Stops everything; waits until it has ended. */
  stop(): Promise<void>
}

interface Task<Result> {
  readonly promise: Promise<Result>
  readonly controller: AbortController
  readonly listeners: Set<NonNullable<CallOptions['progress']>>
  waiting: number
}

const cancelled = () => new CausewayError('CANCELLED', 'the call was cancelled')

/** Makes an empty set of shared work. */
export function sharedTasks<Result>(): SharedTasks<Result> {
  const tasks = new Map<string, Task<Result>>()

  const start = (key: string, work: (options: Required<CallOptions>) => Promise<Result>): Task<Result> => {
    const controller = new AbortController()
    const listeners: Task<Result>['listeners'] = new Set()
    const progress = (...news: Parameters<NonNullable<CallOptions['progress']>>) => {
      for (const listener of listeners) listener(...news)
    }
    const promise = work({ signal: controller.signal, progress }).finally(() => {
      if (tasks.get(key) === task) tasks.delete(key)
    })
    const task: Task<Result> = { promise, controller, listeners, waiting: 0 }
    // Whoever waits hears of a failure; when all have given up, nobody needs to.
    promise.catch(() => undefined)
    tasks.set(key, task)
    return task
  }

  return {
    async run(key, work, { signal, progress }) {
      if (signal?.aborted) throw cancelled()
      const task = tasks.get(key) ?? start(key, work)
      let giveUp = () => {}
      const given = new Promise<never>((_, reject) => {
        giveUp = () => reject(cancelled())
      })
      signal?.addEventListener('abort', giveUp, { once: true })
      if (progress) task.listeners.add(progress)
      task.waiting++
      try {
        return await Promise.race([task.promise, given])
      } finally {
        task.waiting--
        if (progress) task.listeners.delete(progress)
        signal?.removeEventListener('abort', giveUp)
        if (task.waiting === 0) {
          // The next caller must not join work that is being stopped.
          if (tasks.get(key) === task) tasks.delete(key)
          task.controller.abort(cancelled())
        }
      }
    },
    has: (key) => tasks.has(key),
    async stop() {
      const running = [...tasks.values()]
      for (const { controller } of running) controller.abort(cancelled())
      await Promise.allSettled(running.map(({ promise }) => promise))
    },
  }
}
