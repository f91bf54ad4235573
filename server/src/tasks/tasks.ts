import { setTimeout as wait } from 'node:timers/promises'
import { type Ask, type Input, isAsk } from '@causeway/app-kit'
import {
  type CallToolResult,
  CausewayError,
  type ErrorObject,
  errorMetaKey,
  type InputRequest,
  type Params,
} from '@causeway/protocol'
import { WorkerError } from '@causeway/worker'
import type { Logger } from 'pino'
import {
  type ClientTask,
  isFinal,
  type TaskMethod,
  type TaskStatus,
  toCreatedResult,
  toTaskResult,
} from './client-task.ts'
import type { TaskStore } from './task-store.ts'

type TaskOrigin = Pick<ClientTask, 'mount' | 'owner'>

/** A call that becomes a task if it is slow. */
export interface TaskCall extends TaskOrigin {
  readonly input: Input
  /** Runs the call from its start with the replies so far. */
  run(options: { readonly signal: AbortSignal; readonly input: Input }): Promise<unknown>
  toFailure(error: unknown): object
  /** Aborts when the client disconnects. Ignored once the call is a task. */
  readonly signal: AbortSignal
}

interface TaskOptions {
  readonly store: TaskStore
  readonly log: Pick<Logger, 'error'>
  /** Unix milliseconds. */
  readonly now: () => number
  readonly newId: () => string
}

interface RunningTask {
  task: ClientTask
  readonly call: TaskCall
  readonly controller: AbortController
  /** Unanswered requests by the key that the client receives. */
  readonly requests: Map<string, { readonly name: string; readonly request: InputRequest }>
  replies: Record<string, unknown>
  kept: unknown
}

const quickMs = 100
const ttlMs = 60 * 60 * 1000
const maxRunning = 256
const stoppedError = { code: -32603, message: 'the server stopped before the task was done; call again' }

export class Tasks {
  readonly #options: TaskOptions
  readonly #tasks = new Map<string, RunningTask>()
  readonly #runs = new Set<Promise<void>>()

  private constructor(options: TaskOptions) {
    this.#options = options
  }

  /** Marks unfinished tasks of a previous server as failed. */
  static async open(options: TaskOptions): Promise<Tasks> {
    const { store, now } = options
    await store.failUnfinished(stoppedError, now())
    await store.deleteExpired()
    return new Tasks(options)
  }

  /** Returns the result of a quick call, or the created task. */
  async runOrCreate(call: TaskCall): Promise<unknown> {
    const controller = new AbortController()
    const cancel = (): void => controller.abort(call.signal.reason)
    call.signal.addEventListener('abort', cancel, { once: true })
    const run = call.run({ signal: controller.signal, input: call.input })
    const settled = run.then(
      () => true,
      () => true,
    )
    const isQuick = await Promise.race([settled, wait(quickMs, false)])
    call.signal.removeEventListener('abort', cancel)
    return isQuick ? run : this.#create(call, controller, run)
  }

  /** Throws `TASK_NOT_FOUND`, also for another origin. */
  async handle(method: TaskMethod, params: Params, origin: TaskOrigin): Promise<object> {
    const { taskId: id } = params
    const running = typeof id === 'string' ? this.#tasks.get(id) : undefined
    const task = running?.task ?? (typeof id === 'string' ? await this.#options.store.get(id) : undefined)
    if (task === undefined || task.mount !== origin.mount || task.owner !== origin.owner)
      throw new CausewayError('TASK_NOT_FOUND', `no such task: ${JSON.stringify(id)}`, {
        data: { taskId: id },
      })
    if (method === 'tasks/get') {
      const requests = [...(running?.requests ?? [])].map(([key, { request }]) => [key, request] as const)
      return toTaskResult(task, Object.fromEntries(requests))
    }
    if (running !== undefined && method === 'tasks/update') this.#update(running, params)
    else if (running !== undefined) {
      const saved = this.#setStatus(running, 'cancelled')
      running.controller.abort(new CausewayError('CANCELLED', 'the client cancelled the task'))
      await saved
    }
    return { resultType: 'complete' }
  }

  /** Resolves when all tasks are final or wait for their clients. */
  async idle(): Promise<void> {
    while (this.#runs.size > 0) await Promise.all(this.#runs)
  }

  async close(): Promise<void> {
    await this.#saveFinal()
    for (const running of [...this.#tasks.values()]) {
      await this.#setStatus(running, 'failed', stoppedError).catch((err: unknown) =>
        this.#logUnsaved(running, err),
      )
      running.controller.abort(new CausewayError('SHUTTING_DOWN', 'the server is stopping'))
    }
  }

  async #create(call: TaskCall, controller: AbortController, run: Promise<unknown>): Promise<object> {
    const { store, now, newId } = this.#options
    await this.#saveFinal()
    const { size } = this.#tasks
    if (size >= maxRunning) {
      controller.abort(new CausewayError('CANCELLED', 'there was no room for the task'))
      throw new CausewayError('OVERLOADED', `${size} tasks are running`, { data: { retry_after_ms: 5000 } })
    }
    const createdMs = now()
    const { mount, owner } = call
    const times = { createdMs, updatedMs: createdMs, ttlMs }
    const task: ClientTask = { id: newId(), mount, owner, status: 'working', ...times }
    // Saved first: the client must find the task.
    try {
      await store.put(task)
      await store.deleteExpired()
    } catch (error) {
      controller.abort(new CausewayError('CANCELLED', 'the task could not be saved'))
      throw error
    }
    const running = { task, call, controller, requests: new Map(), replies: {}, kept: undefined }
    this.#tasks.set(task.id, running)
    this.#follow(running, run)
    return toCreatedResult(task)
  }

  /** Stores replies and, after the last one, runs the call again. */
  #update(running: RunningTask, params: Params): void {
    const replies = (params.inputResponses ?? {}) as Readonly<Record<string, unknown>>
    for (const [key, { name }] of [...running.requests]) {
      if (!Object.hasOwn(replies, key)) continue
      running.replies[name] = replies[key]
      running.requests.delete(key)
    }
    if (running.task.status !== 'input_required' || running.requests.size > 0) return
    running.task = { ...running.task, status: 'working', updatedMs: this.#options.now() }
    const { call, controller, kept } = running
    const input = { ...call.input, replies: running.replies, kept }
    this.#follow(running, call.run({ signal: controller.signal, input }))
  }

  #follow(running: RunningTask, run: Promise<unknown>): void {
    const followed = this.#settle(running, run)
      .catch((err: unknown) => this.#logUnsaved(running, err))
      .finally(() => void this.#runs.delete(followed))
    this.#runs.add(followed)
  }

  async #settle(running: RunningTask, run: Promise<unknown>): Promise<void> {
    let end: readonly [TaskStatus, object]
    try {
      const result = await run
      if (isAsk(result)) return await this.#requestInput(running, result)
      const defect = findDefect(result)
      end = defect === undefined ? ['completed', result as object] : ['failed', defect]
    } catch (error) {
      end = ['failed', running.call.toFailure(error)]
    }
    await this.#setStatus(running, ...end)
  }

  async #requestInput(running: RunningTask, { questions, kept }: Ask): Promise<void> {
    const requests = Object.entries(questions)
    const unsupported = requests.find(([, request]) => !running.call.input.can(request))?.[1].method
    if (unsupported !== undefined)
      throw new CausewayError('CLIENT_CANNOT_ANSWER', `the task needs a reply to ${unsupported}`, {
        data: { needs: [unsupported] },
      })
    running.kept = kept
    running.replies = {}
    for (const [name, request] of requests) running.requests.set(this.#options.newId(), { name, request })
    await this.#setStatus(running, 'input_required')
  }

  async #setStatus(running: RunningTask, status: TaskStatus, outcome?: object): Promise<void> {
    if (isFinal(running.task.status)) return
    running.task = { ...running.task, status, updatedMs: this.#options.now(), outcome }
    await this.#save(running)
  }

  async #save({ task }: RunningTask): Promise<void> {
    await this.#options.store.put(task)
    if (isFinal(task.status)) this.#tasks.delete(task.id)
  }

  async #saveFinal(): Promise<void> {
    for (const running of [...this.#tasks.values()])
      if (isFinal(running.task.status))
        await this.#save(running).catch((err: unknown) => this.#logUnsaved(running, err))
  }

  #logUnsaved({ task }: RunningTask, err: unknown): void {
    const { id, status } = task
    this.#options.log.error({ err, task: id, status }, 'a task could not be saved')
  }
}

const defectNumbers: ReadonlyMap<string, number> = new Map([
  ['INTERNAL', CausewayError.definitions.INTERNAL.rpc],
  ['WORKER_LOST', WorkerError.definitions.WORKER_LOST.rpc],
])

/** The extension requires the status `failed` for defects of the server. */
function findDefect(result: unknown): object | undefined {
  const { isError, _meta } = result as Partial<CallToolResult>
  const error = isError === true ? (_meta?.[errorMetaKey] as ErrorObject | undefined) : undefined
  const code = error && defectNumbers.get(error.code)
  return code === undefined ? undefined : { code, message: error?.message, data: error }
}
