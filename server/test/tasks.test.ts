import { setImmediate as nextTurn } from 'node:timers/promises'
import { ask, listRoots } from '@causeway/app-kit'
import type { Test } from 'tap'
import { verifies } from '../../test/verifies.ts'
import type { ClientTask } from '../src/tasks/client-task.ts'
import type { TaskStore } from '../src/tasks/task-store.ts'
import { type TaskCall, Tasks } from '../src/tasks/tasks.ts'
import { modern, openWire, rpc, toolCall, type Wire } from './http/open-wire.ts'
import { captureLog } from './test-core.ts'

/** Creates a store that fails while `disk.isFull`. */
function createStore() {
  const rows = new Map<string, ClientTask>()
  const disk = { isFull: false }
  const store: TaskStore = {
    async put(task) {
      await nextTurn()
      if (disk.isFull) throw new Error('disk full')
      rows.set(task.id, task)
    },
    get: async (id) => rows.get(id),
    failUnfinished: async () => {},
    deleteExpired: async () => {},
  }
  return { rows, disk, store }
}

/** Creates a result that a test resolves. */
function createResult() {
  let resolve: (result: object) => void = () => {}
  const promise = new Promise<object>((settle) => {
    resolve = settle
  })
  return { promise, resolve: (result: object) => resolve(result) }
}

/** Opens tasks whose ids count from 1. */
async function openTasks() {
  const { rows, disk, store } = createStore()
  const { log, lines } = captureLog()
  let count = 0
  const tasks = await Tasks.open({ store, log, now: () => 0, newId: () => String(++count) })
  const start = (result: Promise<unknown>) => {
    const signals: AbortSignal[] = []
    const call: TaskCall = {
      mount: '/mcp',
      owner: '',
      input: { can: () => true, replies: {}, kept: undefined },
      run: ({ signal }) => {
        signals.push(signal)
        return result
      },
      toFailure: (error) => ({ message: String(error) }),
      signal: new AbortController().signal,
    }
    return { task: tasks.runOrCreate(call), signals }
  }
  const status = async (taskId: string) =>
    (await tasks.handle('tasks/get', { taskId }, { mount: '/mcp', owner: '' })) as object
  const failures = () => lines.filter(({ msg }) => msg === 'a task could not be saved')
  return { rows, disk, tasks, start, status, failures }
}

verifies('wire:task:unwritable', async (t) => {
  const { rows, disk, tasks, start, status, failures } = await openTasks()
  const result = createResult()
  t.match(await start(result.promise).task, { taskId: '1' })
  disk.isFull = true
  result.resolve({ content: [] })
  await tasks.waitUntilIdle()
  t.equal(rows.get('1')?.status, 'working')
  t.match(await status('1'), { status: 'completed', result: { content: [] } })
  t.match(failures(), [{ task: '1', status: 'completed', err: { message: 'disk full' } }])

  disk.isFull = false
  t.match(await start(new Promise(() => {})).task, { taskId: '2' })
  t.equal(rows.get('1')?.status, 'completed', 'saved with the next task')
  await tasks.close()
  t.equal(rows.get('2')?.status, 'failed')
})

verifies(
  'wire:task:unwritable',
  'a failed write fails the creation or the input request of a task, but not the shutdown',
  async (t) => {
    const { rows, disk, tasks, start, status, failures } = await openTasks()
    const asking = createResult()
    await start(asking.promise).task
    const { task, signals } = start(new Promise(() => {}))
    await task
    disk.isFull = true
    asking.resolve(ask({ folders: listRoots() }))
    while (failures().length === 0) await new Promise(setImmediate)
    t.match(await status('1'), { status: 'failed', error: { message: /disk full/ } })

    const never = start(new Promise(() => {}))
    await t.rejects(never.task, { message: 'disk full' })
    t.ok(never.signals[0]?.aborted, 'the client could not find it')
    await tasks.close()
    t.ok(signals[0]?.aborted, 'the server stops nevertheless')
    t.equal(rows.get('2')?.status, 'working', 'the next start fails it')
  },
)

verifies('wire:task:unwritable', 'unsaved tasks free their slots when they can be saved', async (t) => {
  const { disk, tasks, start } = await openTasks()
  const results = Array.from({ length: 256 }, createResult)
  await Promise.all(results.map(({ promise }) => start(promise).task))
  disk.isFull = true
  for (const { resolve } of results) resolve({ content: [] })
  await tasks.waitUntilIdle()
  disk.isFull = false
  t.match(await start(new Promise(() => {})).task, { status: 'working' })
  await tasks.close()
})

verifies('wire:task:drained', 'waitUntilIdle ignores a task that waits for its client', async (t) => {
  const { tasks, start, status } = await openTasks()
  const asking = createResult()
  await start(asking.promise).task
  asking.resolve(ask({ folders: listRoots() }))
  await tasks.waitUntilIdle()
  t.match(await status('1'), { status: 'input_required' })
  await tasks.close()
  t.match(await status('1'), { status: 'failed' })
})

const taskCapabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }

/** Sends a stateless message of a client with `capabilities`. */
async function send(wire: Wire, message: ReturnType<typeof rpc>, capabilities: object = taskCapabilities) {
  const { body, headers } = modern(message)
  const { _meta } = body.params as { _meta: Record<string, unknown> }
  _meta['io.modelcontextprotocol/clientCapabilities'] = capabilities
  const { taskId } = (message.params ?? {}) as { taskId?: string }
  const named = taskId === undefined ? headers : { ...headers, 'mcp-name': taskId }
  return (await wire.send(body, { headers: named })).json
}

/** Starts a call that waits for `release`; returns its task. */
async function startTask(wire: Wire) {
  const { result } = await send(wire, toolCall('Wire__work', { steps: 1 }))
  return result
}

/** Polls until the task has a status. */
async function waitForStatus(wire: Wire, t: Test, taskId: string, status: string) {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    const { result } = await send(wire, rpc('tasks/get', { taskId }))
    if (result.status === status) return result
  }
  return t.fail(`the task did not become ${status}`)
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
  t.match(await send(wire, rpc('tasks/get', { taskId })), {
    result: { resultType: 'complete', taskId, status: 'working', result: undefined },
  })
  wire.wire.release()
  const { result } = await waitForStatus(wire, t, taskId, 'completed')
  t.match(result, { structuredContent: { steps: 1 } })
})

verifies('wire:task:created', 'a client without task support waits for the result', async (t) => {
  const wire = await openWire(t)
  const response = send(wire, toolCall('Wire__work', { steps: 1 }), {})
  while (wire.wire.begun.length === 0) await new Promise(setImmediate)
  wire.wire.release()
  t.match((await response).result, { resultType: 'complete', structuredContent: { steps: 1 } })
  t.match(await send(wire, rpc('tasks/get', { taskId: 'any' }), {}), {
    error: { code: -32021, data: { code: 'TASKS_NOT_DECLARED', requiredCapabilities: taskCapabilities } },
  })
})

verifies(
  'wire:task:created',
  'a quick call does not become a task, and an unknown task is an error',
  async (t) => {
    const wire = await openWire(t)
    t.match((await send(wire, toolCall('Wire__identify', {}))).result, { resultType: 'complete' })
    t.match(await send(wire, rpc('tasks/get', { taskId: 'unknown' })), {
      error: { code: -32602, data: { code: 'TASK_NOT_FOUND' } },
    })
  },
)

verifies('wire:task:cancelled', async (t) => {
  const wire = await openWire(t)
  const { taskId } = await startTask(wire)
  t.match((await send(wire, rpc('tasks/cancel', { taskId }))).result, { resultType: 'complete' })
  t.ok(wire.wire.begun[0]?.aborted)
  wire.wire.release()
  t.equal((await waitForStatus(wire, t, taskId, 'cancelled')).status, 'cancelled')
  t.match(
    (await send(wire, rpc('tasks/cancel', { taskId }))).result,
    { resultType: 'complete' },
    'a second cancellation does nothing',
  )
})

verifies('wire:task:restart', async (t) => {
  const dir = t.testdir()
  const first = await openWire(t, { dir })
  const done = await startTask(first)
  first.wire.release()
  await waitForStatus(first, t, done.taskId, 'completed')
  const open = await startTask(first)
  await first.http.close(0)
  await first.core.close()
  const second = await openWire(t, { dir })
  t.match(await send(second, rpc('tasks/get', { taskId: done.taskId })), {
    result: { status: 'completed', result: { structuredContent: { steps: 1 } } },
  })
  t.match(await send(second, rpc('tasks/get', { taskId: open.taskId })), {
    result: { status: 'failed', error: { code: -32603, message: /stopped/ } },
  })
})

verifies('wire:task:drained', async (t) => {
  const dir = t.testdir()
  const first = await openWire(t, { dir })
  const { taskId } = await startTask(first)
  const closing = first.http.close(20_000)
  t.equal((await first.send(rpc('ping'))).status, 503, 'new requests are rejected')
  t.notOk(first.wire.begun[0]?.aborted)
  first.wire.release()
  await closing
  await first.core.close()
  const second = await openWire(t, { dir })
  t.match(await send(second, rpc('tasks/get', { taskId })), {
    result: { status: 'completed', result: { structuredContent: { steps: 1 } } },
  })
})

verifies('wire:task:drained', 'tasks are aborted after the grace period', async (t) => {
  const wire = await openWire(t)
  await startTask(wire)
  await wire.http.close(0)
  t.ok(wire.wire.begun[0]?.aborted)
})
