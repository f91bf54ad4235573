import { setTimeout as delay } from 'node:timers/promises'
import { isObject, type JsonObject, type Params } from '@causeway/protocol'
import type { Connection, RequestOptions } from '../upstream/connection.ts'

const minPollMs = 250
const defaultPollMs = 1000

/**
 * Calls a tool that only runs as a task of MCP 2025-11-25, and waits for its result. Reports status messages
 * as progress. Aborting cancels the task.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
export async function runAsTask(
  connection: Connection,
  params: Params,
  { signal, owner, maxMs = 600_000 }: Omit<RequestOptions, 'silenceTimeoutMs'>,
): Promise<unknown> {
  const options = { signal, owner, maxMs }
  const creationResult = await connection.request('tools/call', { ...params, task: { ttl: maxMs } }, options)
  const task = isObject(creationResult) && isObject(creationResult.task) ? creationResult.task : undefined
  if (typeof task?.taskId !== 'string') return creationResult
  const { taskId } = task
  const statusController = new AbortController()
  try {
    // The server responds when the task is done. It may send input requests before that.
    const result = connection.request('tasks/result', { taskId }, options)
    reportStatus(connection, task, { owner, signal: statusController.signal }).catch(() => {})
    return await result
  } catch (error) {
    if (!connection.isClosed) connection.request('tasks/cancel', { taskId }, { maxMs: 5000 }).catch(() => {})
    throw error
  } finally {
    statusController.abort()
  }
}

async function reportStatus(
  connection: Connection,
  { taskId, pollInterval }: JsonObject,
  { signal, owner }: RequestOptions,
): Promise<void> {
  const pollMs = Math.max(minPollMs, typeof pollInterval === 'number' ? pollInterval : defaultPollMs)
  let lastMessage: unknown
  for (let step = 1; ; ) {
    await delay(pollMs, undefined, { signal, ref: false })
    const status = await connection.request('tasks/get', { taskId }, { signal })
    const message = isObject(status) ? status.statusMessage : undefined
    if (typeof message !== 'string' || message === lastMessage) continue
    lastMessage = message
    owner?.progress(step, undefined, message)
    step += 1
  }
}
