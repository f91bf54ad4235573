import t from 'tap'
import { backoff, isPassing, isRepeatable, mayRepeat, retryAfterMs } from '../src/retry.ts'

const stale = { code: 'UND_ERR_SOCKET' }
const refused = { code: 'ECONNREFUSED' }

t.test('mayRepeat: a call with effects only where nothing was written', async (t) => {
  t.notOk(mayRepeat(stale, { isSafe: false, wasWritten: true, wasAnswered: false }))
  t.ok(mayRepeat(stale, { isSafe: false, wasWritten: false, wasAnswered: false }))
  t.ok(mayRepeat(refused, { isSafe: false, wasWritten: false, wasAnswered: false }))
})

t.test('mayRepeat: a safe call after a lost connection, never after an answer began', async (t) => {
  t.ok(mayRepeat(stale, { isSafe: true, wasWritten: true, wasAnswered: false }))
  t.notOk(mayRepeat(stale, { isSafe: true, wasWritten: true, wasAnswered: true }))
  const certificate = { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }
  t.notOk(mayRepeat(certificate, { isSafe: true, wasWritten: false, wasAnswered: false }), 'nor what stays')
})

t.test('isRepeatable: reading and subscribing is, calling a tool and made-up methods are not', async (t) => {
  for (const method of ['initialize', 'ping', 'tools/list', 'resources/read', 'completion/complete'])
    t.ok(isRepeatable(method), method)
  for (const method of ['tools/call', 'tasks/update', 'made/up']) t.notOk(isRepeatable(method), method)
})

t.test('isPassing: busy and absent servers, as long as they ask for no long time', async (t) => {
  const reply = (status: number, wish?: string) => ({
    status,
    headers: wish === undefined ? {} : { 'retry-after': wish },
  })
  for (const status of [408, 502, 503, 504]) t.ok(isPassing(reply(status)), `${status}`)
  for (const status of [200, 400, 401, 404, 429, 500]) t.notOk(isPassing(reply(status)), `${status}`)
  t.ok(isPassing(reply(429, '5')))
  t.notOk(isPassing(reply(429, '6')))
  t.notOk(isPassing(reply(503, '60')))
  t.equal(retryAfterMs(reply(503, '3')), 3000)
})

t.test('retryAfterMs: in seconds, or until a date by the clock of the server', async (t) => {
  const wish = (retryAfter: string, date?: string) =>
    retryAfterMs({ headers: { 'retry-after': retryAfter, ...(date === undefined ? {} : { date }) } }, () =>
      Date.parse('2026-01-01T00:00:00Z'),
    )
  t.equal(wish('3'), 3000)
  t.equal(wish('Thu, 01 Jan 2026 00:00:04 GMT'), 4000)
  t.equal(
    wish('Sat, 02 Jan 1999 10:00:05 GMT', 'Sat, 02 Jan 1999 10:00:00 GMT'),
    5000,
    'whatever our own clock says',
  )
  t.equal(wish('Fri, 31 Dec 1999 23:59:59 GMT'), 0, 'a date that has passed')
  for (const odd of ['soon', '-1', '1.5', '2026-01-01T00:00:04Z', 'Thu, 99 Abc 2026 00:00:04 GMT'])
    t.equal(wish(odd), undefined, odd)
  t.ok(isPassing({ status: 503, headers: { 'retry-after': 'Fri, 31 Dec 1999 23:59:59 GMT' } }))
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
