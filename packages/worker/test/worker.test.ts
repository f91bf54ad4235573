import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { inWorker, restingWorkers, startWorker, type WorkerLink, workerFile } from '../src/index.ts'
import type { TrialMethods } from './trial-worker.ts'

const entry = workerFile('trial-worker', import.meta.url)

const start = (): WorkerLink<TrialMethods> =>
  startWorker<TrialMethods>(entry, { name: 'the trial', remedy: 'try again' })

function started(t: Test): WorkerLink<TrialMethods> {
  const link = start()
  t.teardown(() => link.stop())
  return link
}

t.test('workerFile: an entry has the ending of the module beside which it stands', async (t) => {
  t.equal(workerFile('a-worker', 'file:///p/src/a.ts').href, 'file:///p/src/a-worker.ts')
  t.equal(workerFile('a-worker', 'file:///p/dist/a.js').href, 'file:///p/dist/a-worker.js')
})

t.test('call: answers come back, and progress before them', async (t) => {
  const link = started(t)
  const news: unknown[] = []
  const sum = await link.call('sum', [1, 2, 3.5], { progress: (...report) => news.push(report) })
  t.equal(sum, 6.5)
  t.same(news, [
    [1, 3, 'adding'],
    [2, 3, 'adding'],
    [3, 3, 'adding'],
  ])
})

t.test('stop: what is asked after it is told so at once, and not lost with the thread', async (t) => {
  const link = start()
  const before = link.call('sum', [1, 2])
  t.equal(await before, 3)
  const stopped = link.stop()
  t.equal(link.isAlive, false)
  await t.rejects(link.call('sum', [1]), { code: 'WORKER_LOST', remedy: 'try again' })
  await stopped
})

t.test('stepBack: the worker goes behind this thread, which stays where it is', async (t) => {
  const before = getPriority()
  const own = await started(t).call('stepBack', undefined)
  t.equal(getPriority(), before)
  t.equal(own, process.platform === 'linux' ? constants.priority.PRIORITY_BELOW_NORMAL : before)
})

t.test('call: calls in hand are counted, and each gets its own answer', async (t) => {
  const link = started(t)
  const calls = [[1], [2], [3]].map((terms) => link.call('sum', terms))
  t.equal(link.pending, 3)
  t.same(await Promise.all(calls), [1, 2, 3])
  t.equal(link.pending, 0)
})

t.test('stop: from then on the worker is not alive, so that nobody asks one that is ending', async (t) => {
  const link = started(t)
  t.equal(await link.call('sum', [1]), 1)
  const stopped = link.stop()
  t.notOk(link.isAlive)
  await t.rejects(link.call('sum', [1]), { code: 'WORKER_LOST' })
  await stopped
})

t.test('call: buffers that are moved do not stay in the worker', async (t) => {
  const link = started(t)
  const { data } = await link.call('column', 1000)
  t.same([data.length, data[999]], [1000, 1])
  t.equal(await link.call('lastColumnBytes', undefined), 0)
})

t.test('call: a buffer that is moved to the worker is empty here', async (t) => {
  const terms = Float64Array.of(1, 2, 3.5)
  t.equal(await started(t).call('sum', terms, { moved: [terms.buffer] }), 6.5)
  t.equal(terms.byteLength, 0)
})

t.test('call: an error for clients keeps code, message, remedy and data', async (t) => {
  await t.rejects(started(t).call('refuse', 7), {
    code: 'FRAME_NOT_FOUND',
    message: 'no frame 7',
    remedy: 'ask for another one',
    data: { frame: 7 },
  })
})

t.test('call: of any other error clients are told one sentence, and the log its stack', async (t) => {
  const error = await started(t)
    .call('fail', undefined)
    .catch((error) => error)
  t.match(error, { code: 'INTERNAL', message: 'the trial failed' })
  t.match(error.cause, /the password is in .*\n\s+at /)
})

t.test('call: an argument that cannot be cloned is refused, and the worker goes on', async (t) => {
  const link = started(t)
  const terms = [() => 1] as unknown as number[]
  await t.rejects(link.call('sum', terms), { name: 'DataCloneError' })
  t.equal(link.pending, 0)
  t.equal(await link.call('sum', [4]), 4)
})

t.test('call: an abort ends the call that it belongs to, before it starts or while it runs', async (t) => {
  const link = started(t)
  await t.rejects(link.call('rest', undefined, { signal: AbortSignal.abort() }), { code: 'CANCELLED' })
  const mine = new AbortController()
  const calls = [link.call('rest', undefined, { signal: mine.signal }), link.call('sum', [1])]
  mine.abort()
  const [rest, sum] = await Promise.allSettled(calls)
  t.match(rest, { status: 'rejected', reason: { code: 'CANCELLED' } })
  t.match(sum, { status: 'fulfilled', value: 1 })
})

t.test('call: a worker that dies fails what it has in hand and what comes later', async (t) => {
  const link = started(t)
  const ends = await Promise.allSettled([link.call('rest', undefined), link.call('die', undefined)])
  for (const end of ends)
    t.match(end, {
      status: 'rejected',
      reason: { code: 'WORKER_LOST', message: 'the trial ended unexpectedly', remedy: 'try again' },
    })
  t.equal(link.isAlive, false)
  await t.rejects(link.call('sum', [1]), { code: 'WORKER_LOST' })
})

t.test('kill: ends the thread at once, its calls with it', async (t) => {
  const link = start()
  const end = t.rejects(link.call('rest', undefined), { code: 'WORKER_LOST' })
  await link.kill()
  await end
  t.equal(link.isAlive, false)
})

t.test('stop: aborts the calls in hand, and the worker closes what it holds', async (t) => {
  const link = start()
  const file = join(t.testdir(), 'note.txt')
  await link.call('atClose', { file, text: 'closed' })
  const end = t.rejects(link.call('rest', undefined), { code: 'CANCELLED' })
  await link.stop()
  await end
  t.equal(readFileSync(file, 'utf8'), 'closed')
  await link.stop()
  t.equal(link.isAlive, false)
})

t.test('inWorker: the worker outlives work that succeeds and ends with work that fails', async (t) => {
  const kept = await inWorker(start, async (link) => ({ link, sum: await link.call('sum', [1, 1]) }))
  t.teardown(() => kept.link.stop())
  t.same([kept.sum, kept.link.isAlive], [2, true])
  let lost: WorkerLink<TrialMethods> | undefined
  const failing = inWorker(start, async (link) => {
    lost = link
    return link.call('refuse', 1)
  })
  await t.rejects(failing, { code: 'FRAME_NOT_FOUND' })
  t.equal(lost?.isAlive, false)
})

t.test('startWorker: an idle worker does not keep its process alive, and a call in hand does', async (t) => {
  const module = JSON.stringify(new URL('../src/index.ts', import.meta.url).href)
  const script = `import { startWorker } from ${module}
    const link = startWorker(new URL(${JSON.stringify(entry.href)}), { name: 'the trial' })
    link.call('sum', [2, 3]).then(console.log)`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=@causeway/source', '--input-type=module', '-e', script],
    { timeout: 25_000 },
  )
  t.equal(stdout.trim(), '5')
})

const startRestingWorkers = () =>
  startWorker<TrialMethods>(workerFile('trial-worker', import.meta.url), { name: 'the trial' })

t.test(
  'restingWorkers: bytes are those of the workers that run, and are given back by ending idle ones',
  async (t) => {
    const links = [startRestingWorkers(), startRestingWorkers(), undefined]
    t.teardown(() => Promise.all(links.map((link) => link?.stop())))
    for (const link of links) await link?.call('sum', [1])
    const memory = restingWorkers(() => links)
    const bytes = await memory.bytes()
    t.ok(bytes > 2 ** 20, `${bytes} bytes`)
    t.ok((await memory.shrink(1)) > 0)
    t.same(
      links.map((link) => link?.isAlive),
      [false, true, undefined],
      'no more than is asked for',
    )
    t.ok((await memory.bytes()) < bytes)
  },
)

t.test('bytes: a worker that stands still holds up nobody who asks for its memory', async (t) => {
  const link = startRestingWorkers()
  t.teardown(() => link.stop())
  await link.call('sum', [1])
  const before = await link.bytes()
  let isOver = false
  const standing = link.call('stand', 1500).then(() => {
    isOver = true
  })
  const bytes = await Promise.all([link.bytes(), link.bytes()])
  t.notOk(isOver)
  for (const one of bytes) t.ok(one > 0 && one < 4 * before)
  await standing
  t.ok((await link.bytes()) > 0)
})

t.test('restingWorkers: a worker with a call in hand goes on', async (t) => {
  const link = startRestingWorkers()
  t.teardown(() => link.stop())
  const sum = link.call('sum', [1, 2])
  t.equal(await restingWorkers(() => [link]).shrink(1), 0)
  t.equal(await sum, 3)
  await link.stop()
  t.equal(await link.bytes(), 0)
})
