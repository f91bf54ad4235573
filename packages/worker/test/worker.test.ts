import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { CallQueue, initializeWorker, resolveWorkerFile, WorkerLink, WorkerPool } from '../src/index.ts'
import { createWorkerMemory } from '../src/worker-memory.ts'
import type { TrialMethods } from './trial-worker.ts'

const entry = resolveWorkerFile('trial-worker', import.meta.url)

const start = (): WorkerLink<TrialMethods> =>
  new WorkerLink<TrialMethods>(entry, { name: 'the trial', remedy: 'try again' })

function startUntilTeardown(t: Test): WorkerLink<TrialMethods> {
  const link = start()
  t.teardown(() => link.stop())
  return link
}

t.test('resolveWorkerFile uses the file extension of the module', async (t) => {
  t.equal(resolveWorkerFile('a-worker', 'file:///p/src/a.ts').href, 'file:///p/src/a-worker.ts')
  t.equal(resolveWorkerFile('a-worker', 'file:///p/dist/a.js').href, 'file:///p/dist/a-worker.js')
})

t.test('call returns the result after its progress reports', async (t) => {
  const link = startUntilTeardown(t)
  const reports: unknown[] = []
  const sum = await link.call('sum', [1, 2, 3.5], { progress: (...report) => reports.push(report) })
  t.equal(sum, 6.5)
  t.same(reports, [
    [1, 3, 'adding'],
    [2, 3, 'adding'],
    [3, 3, 'adding'],
  ])
})

t.test('lowerThreadPriority changes the priority of the worker, but not of its parent thread', async (t) => {
  const before = getPriority()
  const own = await startUntilTeardown(t).call('lowerPriority', undefined)
  t.equal(getPriority(), before)
  t.equal(own, process.platform === 'linux' ? constants.priority.PRIORITY_LOW : before)
})

t.test('each pending call gets its own result, and pending counts the calls', async (t) => {
  const link = startUntilTeardown(t)
  const calls = [[1], [2], [3]].map((terms) => link.call('sum', terms))
  t.equal(link.pending, 3)
  t.same(await Promise.all(calls), [1, 2, 3])
  t.equal(link.pending, 0)
})

t.test('a stopping worker is not alive and rejects calls with WORKER_LOST', async (t) => {
  const link = startUntilTeardown(t)
  t.equal(await link.call('sum', [1]), 1)
  const stopped = link.stop()
  t.notOk(link.isAlive)
  await t.rejects(link.call('sum', [1]), { code: 'WORKER_LOST', remedy: 'try again' })
  await stopped
})

t.test('call transfers the buffers of a result', async (t) => {
  const link = startUntilTeardown(t)
  const { data } = await link.call('column', 1000)
  t.same([data.length, data[999]], [1000, 1])
  t.equal(await link.call('lastColumnBytes', undefined), 0)
})

t.test('call transfers the buffers of an argument', async (t) => {
  const terms = Float64Array.of(1, 2, 3.5)
  t.equal(await startUntilTeardown(t).call('sum', terms, { transfer: [terms.buffer] }), 6.5)
  t.equal(terms.byteLength, 0)
})

t.test('a CausewayError thrown in a worker keeps its code, message, remedy and data', async (t) => {
  await t.rejects(startUntilTeardown(t).call('refuse', 7), {
    code: 'FRAME_NOT_FOUND',
    message: 'no frame 7',
    remedy: 'choose another frame',
    data: { frame: 7 },
  })
})

t.test('an error that is not a CausewayError becomes INTERNAL with its stack as the cause', async (t) => {
  const error = await startUntilTeardown(t)
    .call('fail', undefined)
    .catch((error) => error)
  t.match(error, { code: 'INTERNAL', message: 'the trial failed' })
  t.match(error.cause, /the password is in .*\n\s+at /)
})

t.test('call rejects an argument that cannot be cloned, and the worker continues', async (t) => {
  const link = startUntilTeardown(t)
  const terms = [() => 1] as unknown as number[]
  await t.rejects(link.call('sum', terms), { name: 'DataCloneError' })
  t.equal(link.pending, 0)
  t.equal(await link.call('sum', [4]), 4)
})

t.test('an abort cancels only its own call, before the call starts or while it runs', async (t) => {
  const link = startUntilTeardown(t)
  await t.rejects(link.call('sum', [1], { signal: AbortSignal.abort() }), { code: 'CANCELLED' })
  const controller = new AbortController()
  const calls = [link.call('waitForAbort', undefined, { signal: controller.signal }), link.call('sum', [1])]
  controller.abort()
  const [rest, sum] = await Promise.allSettled(calls)
  t.match(rest, { status: 'rejected', reason: { code: 'CANCELLED' } })
  t.match(sum, { status: 'fulfilled', value: 1 })
})

t.test('pending and later calls fail with WORKER_LOST when the worker exits', async (t) => {
  const link = startUntilTeardown(t)
  const ends = await Promise.allSettled([link.call('waitForAbort', undefined), link.call('exit', undefined)])
  for (const end of ends)
    t.match(end, {
      status: 'rejected',
      reason: { code: 'WORKER_LOST', message: 'the trial ended unexpectedly', remedy: 'try again' },
    })
  t.equal(link.isAlive, false)
  await t.rejects(link.call('sum', [1]), { code: 'WORKER_LOST' })
})

t.test('kill ends the thread and its calls immediately', async (t) => {
  const link = start()
  const end = t.rejects(link.call('waitForAbort', undefined), { code: 'WORKER_LOST' })
  await link.kill()
  await end
  t.equal(link.isAlive, false)
})

t.test(
  'a limit of CPU time ends a busy worker, but not a worker that waits without using the CPU',
  async (t) => {
    const pool = new WorkerPool<TrialMethods>(start, { name: 'trials', maxRunning: 1, maxWaiting: 2 })
    t.teardown(() => pool.stop())
    await pool.call('sum', [1])
    await pool.call('block', 400, { processorLimitMs: 100 })
    t.equal(pool.workers.length, 1)
    const busy = pool.call('spin', 20_000, { processorLimitMs: 100 })
    await t.rejects(busy, {
      code: 'DEADLINE_EXCEEDED',
      message: /used more than 100 ms of processor time/,
      data: { deadline_ms: 100 },
    })
    await pool.call('spin', 60, { processorLimitMs: 20_000 })
    const [worker] = pool.workers
    await pool.call('spin', 60, { processorLimitMs: 100 })
    await pool.call('spin', 60, { processorLimitMs: 100 })
    t.equal(pool.workers[0], worker, 'earlier calls do not count')
  },
)

t.test('a queue starts calls in order and skips a cancelled call', async (t) => {
  const queue = new CallQueue({ name: 'trials', maxRunning: 1 })
  let free = () => {}
  const first = queue.run(
    () =>
      new Promise<void>((resolve) => {
        free = resolve
      }),
  )
  const leaving = new AbortController()
  const left = queue.run(async () => t.fail('cancelled'), { signal: leaving.signal })
  const next = queue.run(async () => 'next')
  t.equal(queue.waiting, 2)
  leaving.abort()
  await t.rejects(left, { code: 'CANCELLED' })
  free()
  await first
  t.equal(await next, 'next')
  t.equal(queue.waiting, 0)
  t.equal(await queue.run(async () => 'last'), 'last')
})

t.test('stop aborts pending calls and runs the close option of the worker', async (t) => {
  const link = start()
  const file = join(t.testdir(), 'note.txt')
  await link.call('writeOnClose', { file, text: 'closed' })
  const end = t.rejects(link.call('waitForAbort', undefined), { code: 'CANCELLED' })
  await link.stop()
  await end
  t.equal(readFileSync(file, 'utf8'), 'closed')
  await link.stop()
  t.equal(link.isAlive, false)
})

t.test('initializeWorker stops the worker if initialization fails, and only then', async (t) => {
  const initialized = await initializeWorker(start(), async (link) => ({
    link,
    sum: await link.call('sum', [1, 1]),
  }))
  t.teardown(() => initialized.link.stop())
  t.same([initialized.sum, initialized.link.isAlive], [2, true])
  let lost: WorkerLink<TrialMethods> | undefined
  const failing = initializeWorker(start(), async (link) => {
    lost = link
    return link.call('refuse', 1)
  })
  await t.rejects(failing, { code: 'FRAME_NOT_FOUND' })
  t.equal(lost?.isAlive, false)
})

t.test('a pending call keeps the process alive, but an idle worker does not', async (t) => {
  const module = JSON.stringify(new URL('../src/index.ts', import.meta.url).href)
  const script = `import { WorkerLink } from ${module}
    const link = new WorkerLink(new URL(${JSON.stringify(entry.href)}), { name: 'the trial' })
    link.call('sum', [2, 3]).then(console.log)`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=@causeway/source', '--input-type=module', '-e', script],
    { timeout: 25_000 },
  )
  t.equal(stdout.trim(), '5')
})

t.test(
  'WorkerMemory counts the bytes of running workers and releases them by stopping idle workers',
  async (t) => {
    const links = [start(), start(), undefined]
    t.teardown(() => Promise.all(links.map((link) => link?.stop())))
    for (const link of links) await link?.call('sum', [1])
    const memory = createWorkerMemory(() => links)
    const bytes = await memory.bytes()
    t.ok(bytes > 2 ** 20, `${bytes} bytes`)
    t.ok((await memory.shrink(1)) > 0)
    t.same(
      links.map((link) => link?.isAlive),
      [false, true, undefined],
      'stops no more workers than necessary',
    )
    t.ok((await memory.bytes()) < bytes)
  },
)

t.test('bytes returns 0 if the worker ends before it is measured', async (t) => {
  const link = startUntilTeardown(t)
  await link.call('sum', [1])
  const getHeapStatistics = t.capture(Worker.prototype, 'getHeapStatistics', () => new Promise(() => {}))
  const bytes = link.bytes()
  t.equal(getHeapStatistics().length, 1)
  await link.kill()
  t.equal(await bytes, 0)
})

t.test('bytes returns the previous value while the worker is blocked', async (t) => {
  const link = start()
  t.teardown(() => link.stop())
  await link.call('sum', [1])
  const before = await link.bytes()
  let isOver = false
  const blocked = link.call('block', 1500).then(() => {
    isOver = true
  })
  const bytes = await Promise.all([link.bytes(), link.bytes()])
  t.notOk(isOver)
  for (const one of bytes) t.ok(one > 0 && one < 4 * before)
  await blocked
  t.ok((await link.bytes()) > 0)
})

t.test('WorkerMemory does not stop a worker with a pending call', async (t) => {
  const link = start()
  t.teardown(() => link.stop())
  const sum = link.call('sum', [1, 2])
  t.equal(await createWorkerMemory(() => [link]).shrink(1), 0)
  t.equal(await sum, 3)
  await link.stop()
  t.equal(await link.bytes(), 0)
})
