import t from 'tap'
import { backoff, mayRepeat } from '../src/retry.ts'

const stale = { code: 'UND_ERR_SOCKET' }

t.test('mayRepeat: a call with effects only where nothing was written', async (t) => {
  t.notOk(mayRepeat(stale, { method: 'tools/call', wasWritten: true, wasAnswered: false }))
  t.ok(mayRepeat(stale, { method: 'tools/call', wasWritten: false, wasAnswered: false }))
})

t.test('mayRepeat: reading methods on a stale connection, never after an answer began', async (t) => {
  t.ok(mayRepeat(stale, { method: 'tools/list', wasWritten: true, wasAnswered: false }))
  t.notOk(mayRepeat(stale, { method: 'tools/list', wasWritten: true, wasAnswered: true }))
  const refused = { code: 'ECONNREFUSED' }
  t.notOk(mayRepeat(refused, { method: 'tools/list', wasWritten: false, wasAnswered: false }))
})

t.test('backoff: doubles from the base to 30 s, and never returns earlier than the base', async (t) => {
  const none = () => 0
  t.same(
    [0, 1, 2, 5, 50].map((attempt) => backoff(attempt, none)),
    [1000, 2000, 4000, 30_000, 30_000],
  )
  t.equal(
    backoff(0, () => 0.5),
    1125,
  )
  t.equal(backoff(0, none, 60_000), 60_000)
  t.equal(backoff(3, none, 10), 80)
})
