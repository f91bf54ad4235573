import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { CallQueue } from '../src/index.ts'

/** Work that ends when the test says so. */
function controlled() {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  return {
    started,
    work: (name: string) => () =>
      new Promise<string>((resolve) => {
        started.push(name)
        ends.set(name, () => resolve(name))
      }),
    /** Resolves when the next work has started. */
    async end(name: string) {
      ends.get(name)?.()
      await turn()
    },
  }
}

const limits = { name: 'calls', maxRunning: 2, maxWaiting: 3 }

t.test('CallQueue runs a third call when one of two ends', async (t) => {
  const queue = new CallQueue(limits)
  const { started, work, end } = controlled()
  const all = ['a', 'b', 'c'].map((name) => queue.run(work(name)))
  t.same(started, ['a', 'b'])
  await end('b')
  t.equal(await all[1], 'b')
  t.same(started, ['a', 'b', 'c'])
  await end('a')
  await end('c')
  t.same(await Promise.all(all), ['a', 'b', 'c'])
})

t.test('CallQueue gives clients turns', async (t) => {
  const queue = new CallQueue({ ...limits, maxRunning: 1 })
  const { started, work, end } = controlled()
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

t.test('CallQueue refuses a call if the queue is full, or its wait too long', async (t) => {
  const { work, end } = controlled()
  const full = new CallQueue({ ...limits, maxRunning: 1, maxWaiting: 1 })
  const all = [full.run(work('a')), full.run(work('b'))]
  const retryable = { code: 'OVERLOADED', data: { retry_after_ms: 1000 } }
  await t.rejects(full.run(work('c')), { ...retryable, message: /1 calls are waiting/ })
  await end('a')
  await all[0]
  await end('b')
  await all[1]
  const impatient = new CallQueue({ ...limits, maxRunning: 1, maxWaitMs: 1 })
  const first = impatient.run(work('d'))
  await t.rejects(impatient.run(work('e')), { ...retryable, message: /1 ms passed/ })
  await end('d')
  t.equal(await first, 'd')
})

t.test('CallQueue frees the place of a call that was cancelled, and of one that failed', async (t) => {
  const queue = new CallQueue({ ...limits, maxRunning: 1 })
  const { started, work, end } = controlled()
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
