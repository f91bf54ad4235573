import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { QueryQueue } from '../src/query/query-queue.ts'

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

const limits = { running: 2, waiting: 3, maxWaitMs: 60_000 }

t.test('QueryQueue runs a third query when one of two ends', async (t) => {
  const queue = new QueryQueue(limits)
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

t.test('QueryQueue gives clients turns', async (t) => {
  const queue = new QueryQueue({ ...limits, running: 1 })
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

t.test('QueryQueue refuses a query if the queue is full, or its wait too long', async (t) => {
  const { work, end } = controlled()
  const full = new QueryQueue({ ...limits, running: 1, waiting: 1 })
  const all = [full.run(work('a')), full.run(work('b'))]
  const retryable = { code: 'OVERLOADED', data: { retry_after_ms: 1000 } }
  await t.rejects(full.run(work('c')), { ...retryable, message: /1 queries .* are waiting/ })
  await end('a')
  await all[0]
  await end('b')
  await all[1]
  const impatient = new QueryQueue({ running: 1, waiting: 5, maxWaitMs: 1 })
  const first = impatient.run(work('d'))
  await t.rejects(impatient.run(work('e')), { ...retryable, message: /within 1 ms/ })
  await end('d')
  t.equal(await first, 'd')
})

t.test('QueryQueue frees the place of a query that was cancelled, and of one that failed', async (t) => {
  const queue = new QueryQueue({ ...limits, running: 1 })
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
