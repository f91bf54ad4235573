import t from 'tap'
import { failures, summary } from '../.ci/summary.mjs'

t.test('summary: the last totals of each log are added up', async (t) => {
  const logs = [
    '# { total: 3, pass: 3 }\nmore\n# { total: 9, pass: 8, skip: 1 }\n# time=1ms\n',
    '# { total: 2, pass: 2 }\n',
  ]
  t.same(summary(0, logs), { line: '10 passed, 0 failed, 1 skipped', code: 0 })
})

t.test('summary: failures are counted and the exit code is kept', async (t) => {
  t.same(summary(3, ['# { total: 4, pass: 2, fail: 2 }']), { line: '2 passed, 2 failed', code: 3 })
})

t.test('summary: a failed run without a failed test shows one failure', async (t) => {
  t.same(summary(1, ['# { total: 4, pass: 4 }']), { line: '4 passed, 1 failed', code: 1 })
  t.same(summary(124, ['error TS2345']), { line: '0 passed, 1 failed', code: 124 })
})

t.test('summary: a run that tested nothing, or whose failures were not told, is a failure', async (t) => {
  t.same(summary(0, ['all is well']), { line: '0 passed, 1 failed', code: 1 })
  t.same(summary(0, ['# { total: 2, pass: 1, fail: 1 }']), { line: '1 passed, 1 failed', code: 1 })
})

t.test('failures: a step that went well has none', async (t) => {
  t.same(failures('ok 1 - a\n# { total: 1, pass: 1 }\n==> check: exit 0, 3 s\n'), [])
})

t.test('failures: every line that is not ok is told with its block, up to its file', async (t) => {
  const log = [
    '    ok 1 - fine',
    '    not ok 2 - should be equal',
    '      ---',
    '      diff: 1 is not 2',
    '      ...',
    '    ok 3 - fine',
    '    not ok 4 - later # TODO',
    'not ok 1 - a.test.ts # time=3ms',
    '==> check: exit 1, 3 s',
  ]
  t.same(failures(log.join('\n')), [log[8], log[1], log[2], log[3], log[4], log[7]])
})

t.test('failures: a block that was cut off is told as far as it goes', async (t) => {
  const log = ['not ok 1 - a', 'not ok 2 - b', '  ---', '  diff: 1', '==> check: exit 137, 900 s']
  t.same(failures(log.join('\n')), [log[4], log[0], log[1], log[2], log[3]])
})

t.test('failures: a step that names none is told by its end', async (t) => {
  const log = Array.from({ length: 50 }, (_, at) => `line ${at}`)
  const told = failures([...log, '==> soak: exit 124, 420 s', ''].join('\n'))
  t.same([told[0], told[1], told.at(-1)], ['==> soak: exit 124, 420 s', 'line 20', 'line 49'])
})
