import { CausewayError, type InputRequest } from '@causeway/protocol'

/** Extension of MCP 2026-07-28 (SEP-2663), in `capabilities.extensions`. */
export const tasksExtension = 'io.modelcontextprotocol/tasks'

export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** A call whose client polls for the result. */
export interface ClientTask {
  readonly id: string
  readonly mount: string
  /** Token owner; empty if no token was required. */
  readonly owner: string
  readonly status: TaskStatus
  /** Unix milliseconds. */
  readonly createdMs: number
  readonly updatedMs: number
  /** Lifetime after the last change. */
  readonly ttlMs: number
  readonly outcome?: object | undefined
}

const taskMethods = ['tasks/get', 'tasks/update', 'tasks/cancel'] as const

export type TaskMethod = (typeof taskMethods)[number]

export const isTaskMethod = (method: string): method is TaskMethod =>
  (taskMethods as readonly string[]).includes(method)

export const isFinal = (status: TaskStatus): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled'

const pollIntervalMs = 500

const toFields = ({ id, status, createdMs, updatedMs, ttlMs }: ClientTask) => ({
  taskId: id,
  status,
  createdAt: new Date(createdMs).toISOString(),
  lastUpdatedAt: new Date(updatedMs).toISOString(),
  ttlMs,
  pollIntervalMs,
})

export const toCreatedResult = (task: ClientTask): object => ({ resultType: 'task', ...toFields(task) })

export function toTaskResult(
  task: ClientTask,
  inputRequests: Readonly<Record<string, InputRequest>> = {},
): object {
  return {
    resultType: 'complete',
    ...toFields(task),
    ...(task.status === 'completed' ? { result: task.outcome } : {}),
    ...(task.status === 'failed' ? { error: task.outcome } : {}),
    ...(task.status === 'input_required' ? { inputRequests } : {}),
  }
}

export function supportsTasks(capabilities: unknown): boolean {
  const { extensions } = (capabilities ?? {}) as { readonly extensions?: unknown }
  return typeof extensions === 'object' && extensions !== null && Object.hasOwn(extensions, tasksExtension)
}

export function requireTaskSupport(feature: string, capabilities: unknown): void {
  if (supportsTasks(capabilities)) return
  throw new CausewayError(
    'TASKS_NOT_DECLARED',
    `the client does not support tasks, which this requires: ${feature}`,
    {
      data: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
    },
  )
}
