import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { CallQueue, resolveWorkerFile, SharedWorker, WorkerLink, WorkerPool } from '../src/index.ts'
import type { PoolOptions } from '../src/worker-pool.ts'
import type { TrialMethods } from './trial-worker.ts'

const start = () =>
  new WorkerLink<TrialMethods>(resolveWorkerFile('trial-worker', import.meta.url), { name: 'the trial' })

function openPool(t: Test, options: Partial<PoolOptions> = {}) {
  let started = 0
  const begin = () => {
    started += 1
    return start()
  }
  const pool = new WorkerPool<TrialMethods>(begin, { name: 'trials', maxRunning: 2, ...options })
  t.teardown(() => pool.stop())
  return { pool, started: () => started }
}

verifies(
  'limits:worker:isolated',
  'a call that exceeds its time limit does not affect other calls of a pool',
  async (t) => {
    const { pool, started } = openPool(t, { limitMs: 60_000 })
    const runaway = t.rejects(pool.call('waitForAbort', undefined), { code: 'WORKER_LOST' })
    const harmless = Promise.all([1, 2, 3].map((number) => pool.call('sum', [number, number])))
    t.same(await harmless, [2, 4, 6])
    t.equal(started(), 2, 'the second worker runs the other calls')
    const busy = pool.workers.find(({ pending }) => pending > 0)
    await busy?.kill()
    await runaway
    t.equal(await pool.call('sum', [4]), 4)
  },
)

verifies(
  'limits:worker:isolated',
  'calls that crash their worker do not affect other calls of a pool',
  async (t) => {
    const { pool } = openPool(t)
    const calls = [0, 1, 2].flatMap((number) => [
      t.rejects(pool.call('exit', undefined), { code: 'WORKER_LOST' }),
      pool.call('sum', [number]).then((sum) => t.equal(sum, number)),
    ])
    await Promise.all(calls)
  },
)

t.test(
  'WorkerPool ends the worker of a call that exceeds its limit or ignores its cancellation',
  async (t) => {
    const { pool } = openPool(t, { limitMs: 1 })
    await t.rejects(pool.call('block', 60_000), {
      code: 'DEADLINE_EXCEEDED',
      message: 'the call took longer than 1 ms',
      data: { deadline_ms: 1 },
    })
    const { pool: limitedPerCall } = openPool(t, { limitMs: 600_000 })
    await t.rejects(limitedPerCall.call('block', 60_000, { limitMs: 1 }), {
      code: 'DEADLINE_EXCEEDED',
      data: { deadline_ms: 1 },
    })
    const { pool: patient } = openPool(t, { cancelGraceMs: 1 })
    const controller = new AbortController()
    const call = patient.call('block', 60_000, { signal: controller.signal })
    controller.abort()
    await t.rejects(call, { code: 'CANCELLED' })
    t.same(patient.workers, [])
    t.equal(await patient.call('sum', [1]), 1)
  },
)

t.test('WorkerPool queues calls up to a limit and stops its workers', async (t) => {
  const { pool } = openPool(t, { maxRunning: 1, maxWaiting: 1, idleMs: 60_000 })
  const calls = [pool.call('sum', [1]), pool.call('sum', [2])]
  await t.rejects(pool.call('sum', [3]), { code: 'OVERLOADED', message: /1 trials are waiting/ })
  t.same(await Promise.all(calls), [1, 2])
  t.equal(pool.workers.length, 1)
  t.ok((await pool.memory.bytes()) > 0)
  await pool.stop()
  t.equal(pool.workers.length, 0)
})

t.test('WorkerPool does not start calls or workers after stop', async (t) => {
  const { pool, started } = openPool(t, { maxRunning: 1 })
  const running = t.rejects(pool.call('waitForAbort', undefined), { code: 'CANCELLED' })
  const waiting = [1, 2].map((number) => t.rejects(pool.call('sum', [number]), { code: 'CANCELLED' }))
  await pool.stop()
  await Promise.all([running, ...waiting])
  await t.rejects(pool.call('sum', [3]), { code: 'CANCELLED' })
  t.equal(started(), 1)
  t.same(pool.workers, [])
  const { pool: killed } = openPool(t)
  const lost = t.rejects(killed.call('waitForAbort', undefined), { code: 'CANCELLED' })
  const [link] = killed.workers
  const stopped = killed.stop()
  await Promise.all([link?.kill(), lost, stopped])
})

/** Opens a shared worker. `started` returns the number of workers that it has started. */
function openShared(t: Test) {
  let started = 0
  const shared = new SharedWorker<TrialMethods>(async () => {
    started += 1
    return start()
  })
  t.teardown(() => shared.stop())
  return { shared, started: () => started }
}

verifies('limits:worker:isolated', 'a call that crashes a worker does not affect others', async (t) => {
  const { shared, started } = openShared(t)
  const calls = [
    shared.call('block', 1),
    t.rejects(shared.call('exit', undefined), { code: 'WORKER_LOST' }),
    ...[1, 2, 3].map((number) => shared.call('sum', [number])),
  ]
  t.same((await Promise.all(calls)).slice(2), [1, 2, 3])
  t.ok(started() > 2, 'the other calls are repeated in separate workers')
  t.equal(await shared.call('sum', [5]), 5)
})

t.test(
  'SharedWorker does not retry calls that ran alone or were cancelled, or any call after a stop',
  async (t) => {
    const { shared, started } = openShared(t)
    await t.rejects(shared.call('exit', undefined), { code: 'WORKER_LOST' })
    t.equal(started(), 1)
    const controller = new AbortController()
    const calls = [
      t.rejects(shared.call('exit', undefined), { code: 'WORKER_LOST' }),
      t.rejects(shared.call('sum', [1], { signal: controller.signal }), { code: 'CANCELLED' }),
    ]
    controller.abort()
    await Promise.all(calls)
    await shared.call('sum', [1])
    const before = started()
    const stopped = [shared.call('block', 1), shared.call('waitForAbort', undefined)]
    const ended = Promise.allSettled(stopped)
    // The calls are sent in the next microtask.
    await Promise.resolve()
    await shared.stop()
    t.match((await ended)[1], { status: 'rejected', reason: { code: 'CANCELLED' } })
    t.equal(started(), before)
  },
)

t.test('SharedWorker rejects a call if every new worker ends before it is used', async (t) => {
  let started = 0
  const shared = new SharedWorker<TrialMethods>(async () => {
    started += 1
    const link = start()
    await link.kill()
    return link
  })
  await t.rejects(shared.call('sum', [1]), { code: 'WORKER_LOST' })
  t.equal(started, 3)
})

/** Opens a shared worker whose workers finish starting when the test calls `open`. */
function openGated(t: Test) {
  const links: WorkerLink<TrialMethods>[] = []
  const gates: (() => void)[] = []
  const shared = new SharedWorker<TrialMethods>(async () => {
    const link = start()
    links.push(link)
    await new Promise<void>((resolve) => gates.push(resolve))
    return link
  })
  t.teardown(async () => {
    for (const open of gates) open()
    await Promise.all([shared.stop(), ...links.map((link) => link.kill())])
  })
  return { shared, links, open: () => gates.shift()?.() }
}

t.test('SharedWorker.stop ends a starting worker and cancels the calls that wait for it', async (t) => {
  const { shared, links, open } = openGated(t)
  const call = t.rejects(shared.call('sum', [1]), { code: 'CANCELLED' })
  t.ok(shared.isBusy)
  const stopped = shared.stop()
  const later = shared.call('sum', [2])
  open()
  await Promise.all([call, stopped])
  t.equal(links[0]?.isAlive, false)
  open()
  t.equal(await later, 2, 'a call after the stop uses another worker')
  t.equal(links.length, 2)
})

t.test('SharedWorker.stop waits for a failing start', async (t) => {
  const shared = new SharedWorker<TrialMethods>(() => Promise.reject(new Error('the file is missing')))
  const call = t.rejects(shared.call('sum', [1]), { message: 'the file is missing' })
  await shared.stop()
  await call
})

t.test('SharedWorker starts one worker for calls that arrive while it starts', async (t) => {
  const { shared, links, open } = openGated(t)
  const first = shared.call('sum', [1])
  open()
  const others: Promise<number>[] = []
  for (let tick = 0; tick < 20; tick += 1) {
    others.push(shared.call('sum', [tick]))
    await Promise.resolve()
  }
  t.equal(await first, 1)
  t.equal((await Promise.all(others)).length, 20)
  t.equal(links.length, 1)
})

t.test('SharedWorker.stop ends the worker of a repeated call', async (t) => {
  const { shared, links, open } = openGated(t)
  const calls = [
    t.rejects(shared.call('exit', undefined), { code: 'CANCELLED' }),
    t.rejects(shared.call('sum', [1]), { code: 'CANCELLED' }),
  ]
  open()
  while (links.length < 2) await turn()
  t.ok(shared.isBusy)
  const stopped = shared.stop()
  open()
  await Promise.all([...calls, stopped])
  t.equal(links[1]?.isAlive, false)
  t.equal(links.length, 2)
})

t.test('SharedWorker cancels a repeated call that is queued or waits for its worker', async (t) => {
  const { shared, links, open } = openGated(t)
  const [starting, waiting] = [new AbortController(), new AbortController()]
  const settled: string[] = []
  const calls = [
    t.rejects(shared.call('exit', undefined, starting), { code: 'CANCELLED' }),
    t.rejects(shared.call('sum', [1], waiting), { code: 'CANCELLED' }).then(() => settled.push('waiting')),
    shared.call('sum', [2]),
  ]
  open()
  while (links.length < 2) await turn()
  waiting.abort(new Error('the reason of the client'))
  await turn()
  t.same(settled, ['waiting'])
  starting.abort(new Error('the reason of the client'))
  open()
  await calls[0]
  while (links.length < 3) await turn()
  open()
  t.same((await Promise.all(calls)).at(2), 2)
  t.equal(links[1]?.isAlive, false)
})

/** Creates work that ends when the test calls `end`. */
function createControlledWork() {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  return {
    started,
    work: (name: string) => () =>
      new Promise<string>((resolve) => {
        started.push(name)
        ends.set(name, () => resolve(name))
      }),
    /** Resolves after the next work has started. */
    async end(name: string) {
      ends.get(name)?.()
      await turn()
    },
  }
}

const limits = { name: 'calls', maxRunning: 2, maxWaiting: 3 }

t.test('CallQueue starts a third call when one of two ends', async (t) => {
  const queue = new CallQueue(limits)
  const { started, work, end } = createControlledWork()
  const all = ['a', 'b', 'c'].map((name) => queue.run(work(name)))
  t.same(started, ['a', 'b'])
  await end('b')
  t.equal(await all[1], 'b')
  t.same(started, ['a', 'b', 'c'])
  await end('a')
  await end('c')
  t.same(await Promise.all(all), ['a', 'b', 'c'])
})

t.test('CallQueue alternates between clients', async (t) => {
  const queue = new CallQueue({ ...limits, maxRunning: 1 })
  const { started, work, end } = createControlledWork()
  const all = [
    queue.run(work('greedy 1'), { client: 'greedy' }),
    queue.run(work('greedy 2'), { client: 'greedy' }),
    queue.run(work('greedy 3'), { client: 'greedy' }),
    queue.run(work('modest'), { client: 'modest' }),
  ]
  for (const _ of all) await end(started.at(-1) ?? '')
  await Promise.all(all)
  t.same(started, ['greedy 1', 'greedy 2', 'modest', 'greedy 3'])
})

t.test('CallQueue rejects a call if the queue is full or the wait is too long', async (t) => {
  const { work, end } = createControlledWork()
  const full = new CallQueue({ ...limits, maxRunning: 1, maxWaiting: 1 })
  const all = [full.run(work('a')), full.run(work('b'))]
  const retryable = { code: 'OVERLOADED', data: { retry_after_ms: 1000 } }
  await t.rejects(full.run(work('c')), { ...retryable, message: /1 calls are waiting/ })
  await end('a')
  await all[0]
  await end('b')
  await all[1]
  const withMaxWait = new CallQueue({ ...limits, maxRunning: 1, maxWaitMs: 1 })
  const first = withMaxWait.run(work('d'))
  await t.rejects(withMaxWait.run(work('e')), { ...retryable, message: /1 ms passed/ })
  await end('d')
  t.equal(await first, 'd')
})

t.test('CallQueue frees the slots of cancelled and of failed calls', async (t) => {
  const queue = new CallQueue({ ...limits, maxRunning: 1 })
  const { started, work, end } = createControlledWork()
  const controller = new AbortController()
  const first = queue.run(work('a'))
  const isCancelled = t.rejects(queue.run(work('b'), { signal: controller.signal }), { code: 'CANCELLED' })
  const failed = t.rejects(
    queue.run(() => Promise.reject(new Error('failed'))),
    { message: 'failed' },
  )
  const last = queue.run(work('c'))
  controller.abort()
  await isCancelled
  await t.rejects(queue.run(work('d'), { signal: controller.signal }), { code: 'CANCELLED' })
  await end('a')
  await first
  await failed
  await end('c')
  t.equal(await last, 'c')
  t.same(started, ['a', 'c'])
})

t.test(
  'CallQueue rejects waiting and later calls after close, even if a slot has just become free',
  async (t) => {
    const queue = new CallQueue({ ...limits, maxRunning: 1 })
    const { started, work, end } = createControlledWork()
    const first = queue.run(work('a'))
    const next = t.rejects(queue.run(work('b')), { code: 'CANCELLED' })
    const last = t.rejects(queue.run(work('c')), { code: 'CANCELLED' })
    const closed = first.then(() => queue.close())
    await end('a')
    t.equal(await first, 'a')
    await closed
    await Promise.all([next, last])
    await t.rejects(queue.run(work('d')), { code: 'CANCELLED' })
    t.same(started, ['a'])
  },
)
