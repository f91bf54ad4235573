/**
 * Tasks: calls that a client does not wait for but asks after
 * (the extension `io.modelcontextprotocol/tasks` of MCP 2026-07-28, SEP-2663).
 */
import type { InputRequest } from '@causeway/protocol'

/** The name of the extension, in `capabilities.extensions` of both sides. */
export const tasksExtension = 'io.modelcontextprotocol/tasks'

/** How a task stands; the last three are final. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** A task as it is kept. */
export interface ClientTask {
  readonly id: string
  /** Path of the mount that it belongs to. */
  readonly mount: string
  /** Owner of the token that made the call; empty if no token was required. */
  readonly owner: string
  readonly status: TaskStatus
  /** Milliseconds since the epoch. */
  readonly createdMs: number
  readonly updatedMs: number
  /** How long it can be asked after, from its last change. */
  readonly ttlMs: number
  /** The result of the call, once completed; the JSON-RPC error, once failed. */
  readonly outcome?: object | undefined
}

/** True for a status that does not change any more. */
export const isFinal = (status: TaskStatus): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled'

/** Milliseconds between two questions after the same task. */
const pollIntervalMs = 500

/** The members that every answer about a task has. */
const taskFields = ({ id, status, createdMs, updatedMs, ttlMs }: ClientTask) => ({
  taskId: id,
  status,
  createdAt: new Date(createdMs).toISOString(),
  lastUpdatedAt: new Date(updatedMs).toISOString(),
  ttlMs,
  pollIntervalMs,
})

/** The answer of a call that became a task. */
export const createdResult = (task: ClientTask): object => ({ resultType: 'task', ...taskFields(task) })

/** The answer of `tasks/get`; `questions` are those that wait for a reply, by key. */
export function detailedResult(
  task: ClientTask,
  questions: Readonly<Record<string, InputRequest>> | undefined,
): object {
  return {
    resultType: 'complete',
    ...taskFields(task),
    ...(task.status === 'completed' ? { result: task.outcome } : {}),
    ...(task.status === 'failed' ? { error: task.outcome } : {}),
    ...(task.status === 'input_required' ? { inputRequests: questions ?? {} } : {}),
  }
}

/** True where capabilities, as a message carries them, name the extension. */
export function declaresTasks(capabilities: unknown): boolean {
  const { extensions } = (capabilities ?? {}) as { readonly extensions?: unknown }
  return typeof extensions === 'object' && extensions !== null && Object.hasOwn(extensions, tasksExtension)
}
