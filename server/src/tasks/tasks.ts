/** The tasks of one server: calls that go on after their first answer, until they are done, fail or are cancelled. */
import { type Ask, type Input, isAsk } from '@causeway/app-kit'
import {
  type CallToolResult,
  CausewayError,
  type ErrorObject,
  errorMetaKey,
  type InputRequest,
  type Params,
  rowOf,
} from '@causeway/protocol'
import type { Logger } from 'pino'
import {
  type ClientTask,
  createdResult,
  declaresTasks,
  detailedResult,
  isFinal,
  type TaskStatus,
  tasksExtension,
} from './client-task.ts'
import type { TaskStore } from './task-store.ts'

/** One run of a call: from its beginning, with what the client has replied so far. */
export type TaskRun = (own: { readonly signal: AbortSignal; readonly input: Input }) => Promise<unknown>

/** Where and by whom a task was made. */
export interface TaskPlace {
  /** Path of the mount. */
  readonly mount: string
  readonly owner: string
}

/** A call that may become a task. */
export interface TaskCall extends TaskPlace {
  readonly input: Input
  run: TaskRun
  /** What a failure of the protocol is told as: a JSON-RPC error object. */
  failure(error: unknown): object
  /** Aborts when the client hangs up; heard only until the call is a task. */
  readonly signal: AbortSignal
}

/** What the wire sees of tasks. */
export interface Tasks {
  /** Runs a call; gives its result or its questions if they are there at once, else the answer of a task that was made. */
  runOrCreate(call: TaskCall): Promise<unknown>
  /** The answer of `tasks/get`, `tasks/update` or `tasks/cancel`; throws `TASK_NOT_FOUND` for a task of another place, too. */
  answer(method: TaskMethod, params: Params, place: TaskPlace): Promise<object>
  /** Resolves when none is worked on: each is done, or waits for its client. */
  idle(): Promise<void>
  /** Aborts what is under way; it is told as failed. */
  close(): Promise<void>
}

/** The methods of the extension. */
const taskMethods = ['tasks/get', 'tasks/update', 'tasks/cancel'] as const

/** One of them. */
export type TaskMethod = (typeof taskMethods)[number]

/** True for a method of the extension. */
export const isTaskMethod = (method: string): method is TaskMethod =>
  (taskMethods as readonly string[]).includes(method)

/** Throws `TASKS_NOT_DECLARED` for a client that would not know what to do with a task. */
export function refuseUndeclared(what: string, capabilities: unknown): void {
  if (declaresTasks(capabilities)) return
  throw new CausewayError('TASKS_NOT_DECLARED', `the client does not know tasks, which this needs: ${what}`, {
    data: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
  })
}

interface Parts {
  readonly store: TaskStore
  readonly log: Pick<Logger, 'error'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly newId: () => string
  /** Tasks under way at once. */
  readonly capacity?: number
}

/** What is known of a task while it runs. */
interface Live {
  task: ClientTask
  readonly call: TaskCall
  readonly controller: AbortController
  /** Questions without a reply, by the key that the client sees. */
  readonly questions: Map<string, { readonly name: string; readonly request: InputRequest }>
  replies: Record<string, unknown>
  kept: unknown
}

/** A call that is done within this time needs no task, ms. */
const quickMs = 100

/** A finished task can be asked after for an hour. */
const ttlMs = 60 * 60 * 1000

/** Opens the tasks over those of an earlier server, of which the unfinished ones have failed. */
export async function openTasks({ store, log, now, newId, capacity = 256 }: Parts): Promise<Tasks> {
  const live = new Map<string, Live>()
  const following = new Set<Promise<void>>()
  const stopped = { code: -32603, message: 'the server stopped before the task was done; call again' }
  await store.failUnfinished(stopped, now())
  await store.forgetExpired(now())

  const change = async (one: Live, status: TaskStatus, outcome?: object): Promise<void> => {
    if (isFinal(one.task.status)) return
    one.task = { ...one.task, status, updatedMs: now(), outcome }
    await keep(one)
  }

  /** Writes down how it stands. What has ended stays in memory until that has succeeded. */
  const keep = async (one: Live): Promise<void> => {
    await store.put(one.task)
    if (isFinal(one.task.status)) live.delete(one.task.id)
  }

  const unkept = (err: unknown, { task }: Live): void =>
    log.error({ err, task: task.id, status: task.status }, 'a task could not be written down')

  /** Tries again to write down what has ended. */
  const keepEnded = async (): Promise<void> => {
    for (const one of [...live.values()])
      if (isFinal(one.task.status)) await keep(one).catch((err: unknown) => unkept(err, one))
  }

  const ask = async (one: Live, { questions, kept }: Ask): Promise<void> => {
    const asked = Object.entries(questions)
    const unanswerable = asked.find(([, request]) => !one.call.input.can(request))
    if (unanswerable !== undefined) throw cannotAnswer(unanswerable[1])
    one.kept = kept
    one.replies = {}
    for (const [name, request] of asked) one.questions.set(newId(), { name, request })
    await change(one, 'input_required')
  }

  const settle = async (one: Live, running: Promise<unknown>): Promise<void> => {
    let end: readonly [TaskStatus, object]
    try {
      const given = await running
      if (isAsk(given)) return await ask(one, given)
      const defect = defectIn(given)
      end = defect === undefined ? ['completed', given as object] : ['failed', defect]
    } catch (error) {
      end = ['failed', one.call.failure(error)]
    }
    await change(one, ...end)
  }

  /** Follows a run to its end, or to its questions. */
  const follow = (one: Live, running: Promise<unknown>): void => {
    const followed = settle(one, running)
      .catch((err: unknown) => unkept(err, one))
      .finally(() => void following.delete(followed))
    following.add(followed)
  }

  const create = async (call: TaskCall, controller: AbortController, running: Promise<unknown>) => {
    await keepEnded()
    if (live.size >= capacity) {
      controller.abort(new CausewayError('CANCELLED', 'there was no room for the task'))
      throw new CausewayError('OVERLOADED', `${live.size} tasks are under way`, {
        data: { retry_after_ms: 5000 },
      })
    }
    const createdMs = now()
    const task: ClientTask = {
      id: newId(),
      mount: call.mount,
      owner: call.owner,
      status: 'working',
      createdMs,
      updatedMs: createdMs,
      ttlMs,
    }
    const one: Live = { task, call, controller, questions: new Map(), replies: {}, kept: undefined }
    // Kept before the client hears of it: whoever asks at once must find it.
    try {
      await store.put(task)
      await store.forgetExpired(createdMs)
    } catch (error) {
      controller.abort(new CausewayError('CANCELLED', 'the task could not be written down'))
      throw error
    }
    live.set(task.id, one)
    follow(one, running)
    return createdResult(task)
  }

  const find = async (
    params: Params,
    place: TaskPlace,
  ): Promise<{ task: ClientTask; one: Live | undefined }> => {
    const id = params.taskId
    const one = typeof id === 'string' ? live.get(id) : undefined
    const task = one?.task ?? (typeof id === 'string' ? await store.get(id) : undefined)
    if (task === undefined || task.mount !== place.mount || task.owner !== place.owner)
      throw new CausewayError('TASK_NOT_FOUND', `no such task: ${JSON.stringify(id)}`, {
        data: { taskId: id },
      })
    return { task, one }
  }

  /** Takes replies; with the last of them the call is run again. */
  const update = (one: Live, params: Params): void => {
    const given = (params.inputResponses ?? {}) as Readonly<Record<string, unknown>>
    for (const [key, { name }] of [...one.questions]) {
      if (!Object.hasOwn(given, key)) continue
      one.replies[name] = given[key]
      one.questions.delete(key)
    }
    if (one.task.status !== 'input_required' || one.questions.size > 0) return
    one.task = { ...one.task, status: 'working', updatedMs: now() }
    const { replies, kept, call, controller } = one
    const input = { ...call.input, replies, kept }
    follow(one, call.run({ signal: controller.signal, input }))
  }

  return {
    async runOrCreate(call) {
      const controller = new AbortController()
      const hangUp = (): void => controller.abort(call.signal.reason)
      call.signal.addEventListener('abort', hangUp, { once: true })
      const running = call.run({ signal: controller.signal, input: call.input })
      const isQuick = await within(running, quickMs)
      call.signal.removeEventListener('abort', hangUp)
      return isQuick ? running : create(call, controller, running)
    },
    async answer(method, params, place) {
      const { task, one } = await find(params, place)
      if (method === 'tasks/get') {
        const questions = [...(one?.questions ?? [])].map(([key, { request }]) => [key, request] as const)
        return detailedResult(task, Object.fromEntries(questions))
      }
      if (one !== undefined && method === 'tasks/update') update(one, params)
      else if (one !== undefined) {
        const kept = change(one, 'cancelled')
        one.controller.abort(new CausewayError('CANCELLED', 'the client cancelled the task'))
        await kept
      }
      return { resultType: 'complete' }
    },
    async idle() {
      while (following.size > 0) await Promise.all(following)
    },
    async close() {
      await keepEnded()
      for (const one of [...live.values()]) {
        await change(one, 'failed', stopped).catch((err: unknown) => unkept(err, one))
        one.controller.abort(new CausewayError('SHUTTING_DOWN', 'the server is stopping'))
      }
    },
  }
}

/**
 * What a result tells of the server failing, and not of the tool: the extension keeps `failed` for it. Its code stands
 * where every failed call has it.
 */
function defectIn(given: unknown): object | undefined {
  const { isError, _meta } = given as Partial<CallToolResult>
  const error = isError === true ? (_meta?.[errorMetaKey] as ErrorObject | undefined) : undefined
  if (error?.code !== 'INTERNAL' && error?.code !== 'WORKER_LOST') return undefined
  return { code: rowOf(error.code).rpc, message: error.message, data: error }
}

/** True if it settled in time, one way or the other. */
async function within(running: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false)
  })
  const settled = running.then(
    () => true,
    () => true,
  )
  const isSettled = await Promise.race([settled, late])
  clearTimeout(timer)
  return isSettled
}

const cannotAnswer = ({ method }: InputRequest): CausewayError =>
  new CausewayError('CLIENT_CANNOT_ANSWER', `the task needs a reply to ${method}`, {
    data: { needs: [method] },
  })
