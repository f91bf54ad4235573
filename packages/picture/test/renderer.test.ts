import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import type { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { drawing, lineChart, openPicture, type PictureLimits, text } from '../src/index.ts'

type Spec = Parameters<ReturnType<typeof openPicture>['chart']>[0]

const small = drawing({ width_px: 400, height_px: 100 }, text([10, 60], 'Energy 4.9 J'))

const chart = lineChart({
  title: 'Energy',
  x: 'frame',
  series: [{ name: 'total energy', unit: 'J', x: [1, 2, 3], y: [4, 5, 4.5] }],
})

/** Never ends: the expression backtracks through 2^60 ways. */
const hanging: Spec = {
  data: { values: [{ x: `${'a'.repeat(60)}b` }] },
  transform: [{ filter: 'test(/(a+)+$/, datum.x)' }],
  mark: 'point',
}

function open(t: Test, limits: Partial<PictureLimits> = {}) {
  const pictures = openPicture({ limits })
  t.teardown(() => pictures.close())
  return pictures
}

/** Workers that this process starts during a test. */
function workersOf(t: Test): Worker[] {
  const workers: Worker[] = []
  const note = (worker: Worker) => workers.push(worker)
  process.on('worker', note)
  t.teardown(() => process.off('worker', note))
  return workers
}

t.test('renderer: no worker is started before the first picture, and one serves all', async (t) => {
  const workers = workersOf(t)
  const pictures = open(t)
  t.equal(workers.length, 0)
  await Promise.all([pictures.drawing(small), pictures.drawing(small), pictures.chart(chart)])
  t.equal(workers.length, 1)
})

t.test('renderer: pictures are drawn in the order of the calls', async (t) => {
  const pictures = open(t)
  const order: number[] = []
  await Promise.all(
    [0, 1, 2, 3].map(async (index) => {
      await (index % 2 === 0 ? pictures.chart(chart) : pictures.drawing(small))
      order.push(index)
    }),
  )
  t.same(order, [0, 1, 2, 3])
})

t.test('renderer: a worker that dies is WORKER_LOST, and the next picture starts another', async (t) => {
  const workers = workersOf(t)
  const pictures = open(t)
  const ends = Promise.allSettled([pictures.chart(hanging), pictures.drawing(small)])
  const [first] = (await once(process, 'worker')) as [Worker]
  await first.terminate()
  const [dead, next] = await ends
  t.match(dead, { status: 'rejected', reason: { code: 'WORKER_LOST', remedy: /call again/ } })
  t.match(next, { status: 'fulfilled', value: { width_px: 1350 } })
  t.equal(workers.length, 2)
})

t.test('renderer: a picture that takes too long is ended, and the next one is drawn', async (t) => {
  const workers = workersOf(t)
  const pictures = open(t, { deadlineMs: 8000 })
  const [late, next] = await Promise.allSettled([pictures.chart(hanging), pictures.drawing(small)])
  t.match(late, { status: 'rejected', reason: { code: 'DEADLINE_EXCEEDED', data: { deadline_ms: 8000 } } })
  t.match(next, { status: 'fulfilled' })
  t.equal(workers.length, 2)
})

t.test('renderer: a call ends at once when it is aborted before, while waiting or while drawn', async (t) => {
  const pictures = open(t)
  const before = AbortSignal.abort()
  await t.rejects(pictures.drawing(small, { signal: before }), { code: 'CANCELLED' })
  const running = new AbortController()
  const waiting = new AbortController()
  const calls = [
    pictures.chart(hanging, { signal: running.signal }),
    pictures.drawing(small, { signal: waiting.signal }),
  ]
  const settled = Promise.allSettled(calls)
  waiting.abort()
  running.abort()
  for (const end of await settled) t.match(end, { status: 'rejected', reason: { code: 'CANCELLED' } })
})

t.test('renderer: an abort leaves the pictures of others alone', async (t) => {
  const pictures = open(t)
  const mine = new AbortController()
  const calls = [
    pictures.chart(chart, { signal: mine.signal }),
    pictures.drawing(small, { signal: mine.signal }),
    pictures.drawing(small),
  ]
  mine.abort()
  const ends = await Promise.allSettled(calls)
  t.same(
    ends.map(({ status }) => status),
    ['rejected', 'rejected', 'fulfilled'],
  )
})

t.test('renderer: more pictures than may wait are OVERLOADED', async (t) => {
  const pictures = open(t, { waiting: 1 })
  const taken = [pictures.drawing(small), pictures.drawing(small)]
  await t.rejects(pictures.drawing(small), { code: 'OVERLOADED', data: { retry_after_ms: 1000 } })
  await Promise.all(taken)
})

t.test('renderer: an idle worker ends, and the next picture starts another', async (t) => {
  const workers = workersOf(t)
  const pictures = open(t, { idleMs: 1 })
  await pictures.drawing(small)
  const [first] = workers
  if (!first) throw new Error('no worker was started')
  // Idle, it does not keep the test alive either.
  first.ref()
  if (first.threadId !== -1) await once(first, 'exit')
  await pictures.drawing(small)
  t.equal(workers.length, 2)
})

t.test('renderer: close ends the calls in hand and the worker, and refuses further ones', async (t) => {
  const workers = workersOf(t)
  const pictures = open(t)
  const ends = Promise.allSettled([pictures.chart(hanging), pictures.drawing(small)])
  await pictures.close()
  for (const end of await ends) t.match(end, { status: 'rejected', reason: { code: 'SHUTTING_DOWN' } })
  await t.rejects(pictures.drawing(small), { code: 'SHUTTING_DOWN' })
  t.same(
    workers.map(({ threadId }) => threadId),
    [-1],
    'the thread has ended',
  )
})

t.test('renderer: a process ends by itself, with the renderer closed or only idle', async (t) => {
  const source = JSON.stringify(new URL('../src/index.ts', import.meta.url).href)
  for (const last of ['await pictures.close()', '']) {
    const script = `import { drawing, openPicture } from ${source}
      const pictures = openPicture()
      const picture = await pictures.drawing(drawing({ width_px: 90, height_px: 50 }))
      console.log(picture.height_px)
      ${last}`
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--conditions=@causeway/source', '--input-type=module', '-e', script],
      { timeout: 30_000 },
    )
    t.equal(stdout.trim(), '750')
  }
})
