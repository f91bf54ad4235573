import t from 'tap'
import { summary } from '../.ci/summary.mjs'

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
