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

const quickTimeoutMs = 100
const ttlMs = 60 * 60 * 1000
const maxRunningTasks = 256
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
    const completion = run.then(
      () => true,
      () => true,
    )
    const isQuick = await Promise.race([completion, wait(quickTimeoutMs, false)])
    call.signal.removeEventListener('abort', cancel)
    return isQuick ? run : this.#create(call, controller, run)
  }

  /** Throws `TASK_NOT_FOUND`, also for tasks of other mounts and owners. */
  async handle(method: TaskMethod, params: Params, origin: TaskOrigin): Promise<object> {
    const { taskId: id } = params
    const runningTask = typeof id === 'string' ? this.#tasks.get(id) : undefined
    const task = runningTask?.task ?? (typeof id === 'string' ? await this.#options.store.get(id) : undefined)
    if (task === undefined || task.mount !== origin.mount || task.owner !== origin.owner)
      throw new CausewayError('TASK_NOT_FOUND', `no such task: ${JSON.stringify(id)}`, {
        data: { taskId: id },
      })
    if (method === 'tasks/get') {
      const requests = [...(runningTask?.requests ?? [])].map(([key, { request }]) => [key, request] as const)
      return toTaskResult(task, Object.fromEntries(requests))
    }
    if (runningTask !== undefined && method === 'tasks/update') this.#update(runningTask, params)
    else if (runningTask !== undefined) {
      const saved = this.#setStatus(runningTask, 'cancelled')
      runningTask.controller.abort(new CausewayError('CANCELLED', 'the client cancelled the task'))
      await saved
    }
    return { resultType: 'complete' }
  }

  /** Resolves when all tasks are final or wait for their clients. */
  async waitUntilIdle(): Promise<void> {
    while (this.#runs.size > 0) await Promise.all(this.#runs)
  }

  async close(): Promise<void> {
    await this.#saveFinal()
    for (const runningTask of [...this.#tasks.values()]) {
      await this.#setStatus(runningTask, 'failed', stoppedError).catch((err: unknown) =>
        this.#logUnsaved(runningTask, err),
      )
      runningTask.controller.abort(new CausewayError('SHUTTING_DOWN', 'the server is stopping'))
    }
  }

  async #create(call: TaskCall, controller: AbortController, run: Promise<unknown>): Promise<object> {
    const { store, now, newId } = this.#options
    await this.#saveFinal()
    const { size } = this.#tasks
    if (size >= maxRunningTasks) {
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
    const runningTask = { task, call, controller, requests: new Map(), replies: {}, kept: undefined }
    this.#tasks.set(task.id, runningTask)
    this.#follow(runningTask, run)
    return toCreatedResult(task)
  }

  /** Stores replies and, after the last one, runs the call again. */
  #update(runningTask: RunningTask, params: Params): void {
    const replies = (params.inputResponses ?? {}) as Readonly<Record<string, unknown>>
    for (const [key, { name }] of [...runningTask.requests]) {
      if (!Object.hasOwn(replies, key)) continue
      runningTask.replies[name] = replies[key]
      runningTask.requests.delete(key)
    }
    if (runningTask.task.status !== 'input_required' || runningTask.requests.size > 0) return
    runningTask.task = { ...runningTask.task, status: 'working', updatedMs: this.#options.now() }
    const { call, controller, kept } = runningTask
    const input = { ...call.input, replies: runningTask.replies, kept }
    this.#follow(runningTask, call.run({ signal: controller.signal, input }))
  }

  #follow(runningTask: RunningTask, run: Promise<unknown>): void {
    const followedRun = this.#settle(runningTask, run)
      .catch((err: unknown) => this.#logUnsaved(runningTask, err))
      .finally(() => void this.#runs.delete(followedRun))
    this.#runs.add(followedRun)
  }

  async #settle(runningTask: RunningTask, run: Promise<unknown>): Promise<void> {
    let outcome: readonly [TaskStatus, object]
    try {
      const result = await run
      if (isAsk(result)) return await this.#requestInput(runningTask, result)
      const defect = findDefect(result)
      outcome = defect === undefined ? ['completed', result as object] : ['failed', defect]
    } catch (error) {
      outcome = ['failed', runningTask.call.toFailure(error)]
    }
    await this.#setStatus(runningTask, ...outcome)
  }

  async #requestInput(runningTask: RunningTask, { questions, kept }: Ask): Promise<void> {
    const requests = Object.entries(questions)
    const unsupportedMethod = requests.find(([, request]) => !runningTask.call.input.can(request))?.[1].method
    if (unsupportedMethod !== undefined)
      throw new CausewayError('CLIENT_CANNOT_ANSWER', `the task needs a reply to ${unsupportedMethod}`, {
        data: { needs: [unsupportedMethod] },
      })
    runningTask.kept = kept
    runningTask.replies = {}
    for (const [name, request] of requests) runningTask.requests.set(this.#options.newId(), { name, request })
    await this.#setStatus(runningTask, 'input_required')
  }

  async #setStatus(runningTask: RunningTask, status: TaskStatus, outcome?: object): Promise<void> {
    if (isFinal(runningTask.task.status)) return
    runningTask.task = { ...runningTask.task, status, updatedMs: this.#options.now(), outcome }
    await this.#save(runningTask)
  }

  async #save({ task }: RunningTask): Promise<void> {
    await this.#options.store.put(task)
    if (isFinal(task.status)) this.#tasks.delete(task.id)
  }

  async #saveFinal(): Promise<void> {
    for (const runningTask of [...this.#tasks.values()])
      if (isFinal(runningTask.task.status))
        await this.#save(runningTask).catch((err: unknown) => this.#logUnsaved(runningTask, err))
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
