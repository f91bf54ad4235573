import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import type { FileContent } from '../src/domain/candidate/types.ts'
import { type Engine, openEngine } from '../src/engine.ts'

/** An engine that does everything in its worker. */
function engine(t: Test, limitMs = 30_000): Engine {
  const opened = openEngine({ limitMs, smallest: 0 })
  t.teardown(() => opened.close())
  return opened
}

t.test('the engine: reads and applies a candidate in its worker, bytes and preconditions too', async (t) => {
  const { call } = engine(t)
  const { candidate, paths } = await call('read', {
    mode: 'modify',
    changes: [{ file: './a.txt', edits: [{ type: 'deleteLine', line: 1 }] }],
  })
  t.same(paths, ['a.txt'])
  const files = new Map<string, FileContent | undefined>([['a.txt', 'a\nb\n']])
  const { changes, report } = await call('apply', { files, candidate })
  t.same([...changes], [['a.txt', 'b\n']])
  t.match(report.files, [{ kind: 'modified', linesRemoved: 1 }])
  const stale = { mode: 'files', files: [{ path: 'a.txt', content: '', sha: '0'.repeat(64) }] } as const
  await t.rejects(call('apply', { files, candidate: stale }), { code: 'STALE_FILE', data: { path: 'a.txt' } })
  await t.rejects(call('read', { mode: 'nothing' }), { code: 'INVALID_CANDIDATE' })
  const bytes = new Map<string, FileContent | undefined>([['a.png', Uint8Array.from([0, 1])]])
  const rename = await call('read', {
    mode: 'patch',
    patch: 'diff --git a/a.png b/b.png\nrename from a.png\nrename to b.png\n',
  })
  const moved = await call('apply', { files: bytes, candidate: rename.candidate })
  t.same([...(moved.changes.get('b.png') ?? [])], [0, 1])
})

t.test('the engine: tells definitions, repairs and reviews', async (t) => {
  const { call } = engine(t)
  const definitions = await call(
    'definitions',
    new Map([
      ['src/pkg/rows.py', 'def load(): pass\n'],
      ['pkg/__init__.py', 'X = 1\n'],
    ]),
  )
  t.same(
    [...definitions],
    [
      ['load', ['pkg.rows']],
      ['X', ['pkg']],
    ],
  )
  const problem = {
    source: 'python',
    file: 'a.py',
    line: 2,
    kind: 'NameError',
    message: "name 'load' is not defined",
    advice: undefined,
    isError: true,
    count: 1,
  } as const
  const files = new Map([['a.py', 'import os\nload()\n']])
  t.match(await call('fix', { problems: [problem], files, definitions, outputs: ['no eslint'] }), [
    { candidateToFix: { mode: 'modify', changes: [{ edits: [{ content: 'from pkg.rows import load' }] }] } },
  ])
  t.match(await call('review', { diff: '@@ -1 +1 @@\n-a\n+b # TODO\n', focus: ['todos'] }), {
    summary: { assessment: 'comments' },
  })
  await t.rejects(call('review', { diff: 'nothing' }), { code: 'NOT_A_DIFF' })
})

t.test('the engine: a text that holds it up is given up, and the next call has a new worker', async (t) => {
  const { call } = engine(t, 1)
  const lines = Array.from({ length: 200_000 }, (_, index) => `line ${index}`).join('\n')
  const candidate = {
    mode: 'modify',
    changes: [{ path: 'a.txt', edits: [{ type: 'replace', oldText: 'absent text', newText: '' }] }],
  } as const
  await t.rejects(call('apply', { files: new Map([['a.txt', lines]]), candidate }), { code: 'WORKER_LOST' })
  const patient = engine(t)
  t.match(await patient.call('read', { mode: 'patch', patch: '--- a/x\n+++ b/x\n@@\n-a\n+b\n' }), {
    paths: ['x'],
  })
})

verifies('limits:worker:isolated', 'a review that takes too long ends no other review', async (t) => {
  const { call } = engine(t, 30_000)
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const request = { diff: '@@ -1 +1 @@\n-a\n+b # TODO\n' }
  const late = t.rejects(call('review', request), { code: 'WORKER_LOST' })
  mock.timers.tick(29_999)
  const other = call('review', request)
  mock.timers.tick(1)
  mock.timers.reset()
  await late
  t.match(await other, { summary: { assessment: 'comments' } })
})

t.test('the engine: calls at once are answered each, and a closed one starts again', async (t) => {
  const opened = engine(t)
  const read = (path: string) => opened.call('read', { mode: 'files', files: [{ path, content: '' }] })
  const all = await Promise.all(['a', 'b', 'c'].map(read))
  t.same(
    all.map(({ paths }) => paths),
    [['a'], ['b'], ['c']],
  )
  await opened.close()
  t.same((await read('d')).paths, ['d'])
})

t.test('the engine: does small work at once, and the same work', async (t) => {
  const [near, far] = [openEngine({ smallest: 2000 }), engine(t)]
  t.teardown(() => near.close())
  const request = { diff: '@@ -1 +1 @@\n-a\n+b # TODO\n' }
  t.same(await near.call('review', request), await far.call('review', request))
  await t.rejects(near.call('read', { mode: 'nothing' }), { code: 'INVALID_CANDIDATE' })
  const large = { mode: 'files', files: [{ path: 'a.txt', content: 'x'.repeat(9000) }] }
  t.same((await near.call('read', large)).paths, ['a.txt'])
})

verifies('trm:patterns:linear', 'a pattern that backtracks for ever ends with its worker', async (t) => {
  const opened = openEngine({ limitMs: 500 })
  t.teardown(() => opened.close())
  const hostile = { outputs: [`${'a'.repeat(50)}!`], pattern: '(a+)+$' }
  const [lost, found] = await Promise.allSettled([
    opened.call('metric', hostile, { inWorker: true }),
    engine(t).call('metric', { outputs: ['', 'took 12 ms'], pattern: '(\\d+) (ms)' }, { inWorker: true }),
  ])
  t.match(lost, { status: 'rejected', reason: { code: 'WORKER_LOST' } })
  t.match(found, { status: 'fulfilled', value: { value: 0.012, unit: 's' } })
})
