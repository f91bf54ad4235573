/** Tasks over a table that cannot always be written. */
import { ask, listRoots } from '@causeway/app-kit'
import { verifies } from '../../../test/verifies.ts'
import type { ClientTask } from '../../src/tasks/client-task.ts'
import type { TaskStore } from '../../src/tasks/task-store.ts'
import { openTasks, type TaskCall } from '../../src/tasks/tasks.ts'
import { captureLog } from '../test-core.ts'

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
