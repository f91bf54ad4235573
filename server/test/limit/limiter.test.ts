import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { settings } from '../../src/config.ts'
import { type Limiter, openLimiter, type Rates } from '../../src/limit/limiter.ts'
import { readConfig } from '../../src/read-config.ts'

/** How many of these calls come through. */
function passed(limiter: Limiter, calls: number, client: string, app: string, kind?: string): number {
  let count = 0
  for (let call = 0; call < calls; call++) {
    try {
      limiter.take(client, app, kind)
      count += 1
    } catch {
      // Refused: what is counted is what was not.
    }
  }
  return count
}

const defaults: Rates = settings.rateLimits.schema.parse(undefined)
const config = (text: string, t: { testdir(): string }) =>
  readConfig({ argv: [], env: { CAUSEWAY_RATE_LIMITS: text }, cwd: t.testdir() }).config.rateLimits

verifies('limits:rate:client', 'the figures of the plot server and its tools', async (t) => {
  const clock = { now: 0 }
  const limiter = openLimiter(defaults, () => clock.now)
  t.equal(passed(limiter, 150, 'a', 'debrief'), 100)
  t.throws(() => limiter.take('a', 'debrief'), {
    code: 'RATE_LIMITED',
    data: { retry_after_ms: 100, class: 'debrief', per_second: 10, burst: 100 },
  })
  t.equal(passed(limiter, 150, 'b', 'debrief'), 100, 'another client')
  t.equal(passed(limiter, 150, 'a', 'debrief', 'update'), 50, 'another class')
  t.equal(passed(limiter, 150, 'a', 'toolvault'), 20)
  clock.now += 1000
  t.equal(passed(limiter, 50, 'a', 'debrief'), 10)
  t.equal(passed(limiter, 50, 'a', 'debrief', 'update'), 5)
  t.equal(passed(limiter, 50, 'a', 'toolvault'), 2)
  t.equal(limiter.clients, 2)
})

t.test(
  'limiter: a class without a rate of its own counts as its app, an app without one as all others',
  async (t) => {
    const limiter = openLimiter(
      { '*': { perSecond: 1, burst: 3 }, maps: { perSecond: 1, burst: 2 } },
      () => 0,
    )
    t.equal(passed(limiter, 5, 'a', 'maps', 'update') + passed(limiter, 5, 'a', 'maps'), 2)
    t.equal(passed(limiter, 5, 'a', 'replay') + passed(limiter, 5, 'a', 'help'), 3)
  },
)

t.test('limiter: all clients together have a limit too', async (t) => {
  const limiter = openLimiter({ total: { perSecond: 1, burst: 5 } }, () => 0)
  const counts = ['a', 'b', 'c'].map((client) => passed(limiter, 4, client, 'replay'))
  t.same(counts, [4, 1, 0])
  t.throws(() => limiter.take('d', 'replay'), { code: 'RATE_LIMITED', data: { class: 'total' } })
  t.equal(limiter.refused, 8)
})

t.test(
  'limiter: a client that changes its name does not fill the memory, and is held by the limit of all',
  async (t) => {
    const clock = { now: 0 }
    const limiter = openLimiter(
      { '*': { perSecond: 1, burst: 1 }, total: { perSecond: 1, burst: 30_000 } },
      () => clock.now,
    )
    let count = 0
    for (let name = 0; name < 40_000; name++) count += passed(limiter, 1, `client-${name}`, 'replay')
    t.equal(count, 30_000)
    t.ok(limiter.clients <= 10_000)
  },
)

verifies('limits:rate:settings', async (t) => {
  t.match(defaults, {
    debrief: { perSecond: 10, burst: 100 },
    'debrief.update': { perSecond: 5, burst: 50 },
    toolvault: { perSecond: 2, burst: 20 },
    '*': { perSecond: 500, burst: 2000 },
  })
  t.same(config('debrief=20/200', t), { ...defaults, debrief: { perSecond: 20, burst: 200 } })
  t.same(config('off', t), {})
  for (const bad of ['debrief', 'debrief=10', 'debrief=0/5', 'debrief=1/0', '=1/1', 'a b=1/1'])
    t.throws(() => config(bad, t), { code: 'INVALID_SETTING' }, bad)
  t.equal(passed(openLimiter({}), 5000, 'a', 'debrief'), 5000)
})
