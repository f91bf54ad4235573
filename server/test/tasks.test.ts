import { ask, listRoots } from '@causeway/app-kit'
import type { Test } from 'tap'
import { verifies } from '../../test/verifies.ts'
import type { ClientTask } from '../src/tasks/client-task.ts'
import type { TaskStore } from '../src/tasks/task-store.ts'
import { openTasks, type TaskCall } from '../src/tasks/tasks.ts'
import { modern, openWire, rpc, toolCall, type Wire } from './http/open-wire.ts'
import { captureLog } from './test-core.ts'

/** Tasks over a table that cannot always be written. */

/** A table whose disk is full while the test says so. */
function table() {
  const rows = new Map<string, ClientTask>()
  const disk = { isFull: false }
  const store: TaskStore = {
    async put(task) {
      if (disk.isFull) throw new Error('disk full')
      rows.set(task.id, task)
    },
    get: async (id) => rows.get(id),
    failUnfinished: async () => 0,
    forgetExpired: async () => {},
  }
  return { rows, disk, store }
}

/** What a call gives when the test says so. */
function later() {
  let resolve: (given: object) => void = () => {}
  const promise = new Promise<object>((settle) => {
    resolve = settle
  })
  return { promise, resolve: (given: object) => resolve(given) }
}

/** Tasks with ids from 1, and calls that end as the test says. */
async function open() {
  const { rows, disk, store } = table()
  const { log, lines } = captureLog()
  let count = 0
  const tasks = await openTasks({ store, log, now: () => 0, newId: () => String(++count) })
  const start = (given: Promise<unknown>) => {
    const signals: AbortSignal[] = []
    const call: TaskCall = {
      mount: '/mcp',
      owner: '',
      input: { can: () => true, replies: {}, kept: undefined },
      run: ({ signal }) => {
        signals.push(signal)
        return given
      },
      failure: (error) => ({ message: String(error) }),
      signal: new AbortController().signal,
    }
    return { task: tasks.runOrCreate(call), signals }
  }
  const status = async (taskId: string) =>
    (await tasks.answer('tasks/get', { taskId }, { mount: '/mcp', owner: '' })) as object
  const complaints = () => lines.filter(({ msg }) => msg === 'a task could not be written down')
  return { rows, disk, tasks, start, status, complaints }
}

verifies('wire:task:unwritable', async (t) => {
  const { rows, disk, tasks, start, status, complaints } = await open()
  const work = later()
  t.match(await start(work.promise).task, { taskId: '1' })
  disk.isFull = true
  work.resolve({ content: [] })
  await tasks.idle()
  t.equal(rows.get('1')?.status, 'working')
  t.match(await status('1'), { status: 'completed', result: { content: [] } })
  t.match(complaints(), [{ task: '1', status: 'completed', err: { message: 'disk full' } }])

  disk.isFull = false
  t.match(await start(new Promise(() => {})).task, { taskId: '2' })
  t.equal(rows.get('1')?.status, 'completed', 'with the next task')
  await tasks.close()
  t.equal(rows.get('2')?.status, 'failed')
})

verifies('wire:task:unwritable', 'a question, a stop and a beginning', async (t) => {
  const { rows, disk, tasks, start, status, complaints } = await open()
  const asking = later()
  await start(asking.promise).task
  const { task, signals } = start(new Promise(() => {}))
  await task
  disk.isFull = true
  asking.resolve(ask({ folders: listRoots() }))
  while (complaints().length === 0) await new Promise(setImmediate)
  t.match(await status('1'), { status: 'failed', error: { message: /disk full/ } })

  const never = start(new Promise(() => {}))
  await t.rejects(never.task, { message: 'disk full' })
  t.ok(never.signals[0]?.aborted, 'nobody could ask after it')
  await tasks.close()
  t.ok(signals[0]?.aborted, 'the server stops all the same')
  t.equal(rows.get('2')?.status, 'working', 'the next start tells that it failed')
})

verifies('wire:task:drained', 'what waits for its client is not waited for', async (t) => {
  const { tasks, start, status } = await open()
  const asking = later()
  await start(asking.promise).task
  asking.resolve(ask({ folders: listRoots() }))
  await tasks.idle()
  t.match(await status('1'), { status: 'input_required' })
  await tasks.close()
  t.match(await status('1'), { status: 'failed' })
})

/** Tasks of MCP 2026-07-28: calls that go on after their first answer. */

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
