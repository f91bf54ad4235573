/** Tasks of MCP 2026-07-28: calls that go on after their first answer. */
import type { Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { modern, openWire, rpc, toolCall, type Wire } from './open-wire.ts'

const knowsTasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } }

/** Sends a message of the stateless revision, by a client with these capabilities. */
async function say(wire: Wire, message: ReturnType<typeof rpc>, capabilities: object = knowsTasks) {
  const { body, headers } = modern(message)
  const { _meta } = body.params as { _meta: Record<string, unknown> }
  _meta['io.modelcontextprotocol/clientCapabilities'] = capabilities
  const { taskId } = (message.params ?? {}) as { taskId?: string }
  const named = taskId === undefined ? headers : { ...headers, 'mcp-name': taskId }
  return (await wire.send(body, { headers: named })).json
}

/** Starts work that waits to be released; gives its task. */
async function startTask(wire: Wire) {
  const { result } = await say(wire, toolCall('Wire__work', { steps: 1 }))
  return result
}

/** Asks until the task has this status: its run ends a moment after what ends it. */
async function seen(wire: Wire, t: Test, taskId: string, status: string) {
  for (let asked = 0; asked < 500; asked += 1) {
    const { result } = await say(wire, rpc('tasks/get', { taskId }))
    if (result.status === status) return result
  }
  return t.fail(`the task never was ${status}`)
}

verifies('wire:task:created', async (t) => {
  const wire = await openWire(t)
  const task = await startTask(wire)
  t.match(task, {
    resultType: 'task',
    status: 'working',
    taskId: String,
    ttlMs: Number,
    pollIntervalMs: Number,
  })
  const { taskId } = task
  t.match(await say(wire, rpc('tasks/get', { taskId })), {
    result: { resultType: 'complete', taskId, status: 'working', result: undefined },
  })
  wire.wire.release()
  const { result } = await seen(wire, t, taskId, 'completed')
  t.match(result, { structuredContent: { steps: 1 } })
})

verifies('wire:task:created', 'a client that does not know tasks waits for the answer', async (t) => {
  const wire = await openWire(t)
  const answer = say(wire, toolCall('Wire__work', { steps: 1 }), {})
  while (wire.wire.begun.length === 0) await new Promise(setImmediate)
  wire.wire.release()
  t.match((await answer).result, { resultType: 'complete', structuredContent: { steps: 1 } })
  t.match(await say(wire, rpc('tasks/get', { taskId: 'any' }), {}), {
    error: { code: -32021, data: { code: 'TASKS_NOT_DECLARED', requiredCapabilities: knowsTasks } },
  })
})

verifies('wire:task:created', 'what is done at once needs no task, and an unknown one is told', async (t) => {
  const wire = await openWire(t)
  t.match((await say(wire, toolCall('Wire__tell', {}))).result, { resultType: 'complete' })
  t.match(await say(wire, rpc('tasks/get', { taskId: 'nobody' })), {
    error: { code: -32602, data: { code: 'TASK_NOT_FOUND' } },
  })
})

verifies('wire:task:cancelled', async (t) => {
  const wire = await openWire(t)
  const { taskId } = await startTask(wire)
  t.match((await say(wire, rpc('tasks/cancel', { taskId }))).result, { resultType: 'complete' })
  t.ok(wire.wire.begun[0]?.aborted)
  wire.wire.release()
  t.equal((await seen(wire, t, taskId, 'cancelled')).status, 'cancelled')
  t.match(
    (await say(wire, rpc('tasks/cancel', { taskId }))).result,
    { resultType: 'complete' },
    'again, as before',
  )
})

verifies('wire:task:restart', async (t) => {
  const dir = t.testdir()
  const first = await openWire(t, { dir })
  const done = await startTask(first)
  first.wire.release()
  await seen(first, t, done.taskId, 'completed')
  const open = await startTask(first)
  await first.http.close(0)
  await first.core.close()
  const second = await openWire(t, { dir })
  t.match(await say(second, rpc('tasks/get', { taskId: done.taskId })), {
    result: { status: 'completed', result: { structuredContent: { steps: 1 } } },
  })
  t.match(await say(second, rpc('tasks/get', { taskId: open.taskId })), {
    result: { status: 'failed', error: { code: -32603, message: /stopped/ } },
  })
})

verifies('wire:task:drained', async (t) => {
  const dir = t.testdir()
  const first = await openWire(t, { dir })
  const { taskId } = await startTask(first)
  const closing = first.http.close(20_000)
  t.equal((await first.send(rpc('ping'))).status, 503, 'nothing new is begun')
  t.notOk(first.wire.begun[0]?.aborted)
  first.wire.release()
  await closing
  await first.core.close()
  const second = await openWire(t, { dir })
  t.match(await say(second, rpc('tasks/get', { taskId })), {
    result: { status: 'completed', result: { structuredContent: { steps: 1 } } },
  })
})

verifies('wire:task:drained', 'but not for longer', async (t) => {
  const wire = await openWire(t)
  await startTask(wire)
  await wire.http.close(0)
  t.ok(wire.wire.begun[0]?.aborted)
})
