import { type App, defineApp } from '@causeway/app-kit'
import t from 'tap'
import { z } from 'zod'
import { verifies } from '../../test/verifies.ts'
import { settings } from '../src/config/config.ts'
import { readConfig } from '../src/config/read-config.ts'
import { InFlightList } from '../src/limits/in-flight-list.ts'
import { exceedsLimits, LoadMonitor } from '../src/limits/load-monitor.ts'
import { RateLimiter, type Rates } from '../src/limits/rate-limiter.ts'
import { fullBucket, getWaitTimeMs, type Rate, takeToken } from '../src/limits/token-bucket.ts'
import { modern, openWire, rpc, toolCall, until } from './http/open-wire.ts'
import { call, captureLog, openTestCore, soon } from './test-core.ts'

interface Named {
  index: number
  readonly name: string
}

/** Returns the number of calls that are not rejected. */
function passed(limiter: RateLimiter, calls: number, client: string, app: string, kind?: string): number {
  let count = 0
  for (let call = 0; call < calls; call++) {
    try {
      limiter.take(client, app, kind)
      count += 1
    } catch {
      // Rejected calls are not counted.
    }
  }
  return count
}

const defaults: Rates = settings.rateLimits.schema.parse(undefined)
const config = (text: string, t: { testdir(): string }) =>
  readConfig({ env: { CAUSEWAY_RATE_LIMITS: text }, cwd: t.testdir() }).config.rateLimits

t.test('a list of calls in flight contains each added item until it is removed', async (t) => {
  const list = new InFlightList<Named>()
  const names = () => [...list].map(({ name }) => name).sort()
  const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ index: 0, name })) as [Named, Named, Named]
  for (const item of [a, b, c]) list.add(item)
  list.remove(a)
  list.remove(a)
  t.same(names(), ['b', 'c'], 'removing an item again does nothing')
  list.add(a)
  const seen: string[] = []
  for (const item of list) {
    seen.push(item.name)
    list.remove(item)
  }
  t.same(seen.sort(), ['a', 'b', 'c'], 'items can be removed during the iteration')
  t.same(names(), [])
})

verifies(
  'limits:rate:client',
  'each client has separate rates for apps and for classes of tools',
  async (t) => {
    const clock = { now: 0 }
    const limiter = new RateLimiter(defaults, () => clock.now)
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
    t.equal(limiter.busyClients, 2)
  },
)

t.test('a class without a rate counts towards its app, and an app without a rate towards `*`', async (t) => {
  const limiter = new RateLimiter(
    { '*': { perSecond: 1, burst: 3 }, maps: { perSecond: 1, burst: 2 } },
    () => 0,
  )
  t.equal(passed(limiter, 5, 'a', 'maps', 'update') + passed(limiter, 5, 'a', 'maps'), 2)
  t.equal(passed(limiter, 5, 'a', 'replay') + passed(limiter, 5, 'a', 'help'), 3)
})

t.test('the total rate limits all clients together', async (t) => {
  const limiter = new RateLimiter({ total: { perSecond: 1, burst: 5 } }, () => 0)
  const counts = ['a', 'b', 'c'].map((client) => passed(limiter, 4, client, 'replay'))
  t.same(counts, [4, 1, 0])
  t.throws(() => limiter.take('d', 'replay'), { code: 'RATE_LIMITED', data: { class: 'total' } })
  t.equal(limiter.rejectedCount, 8)
})

t.test(
  'a client that keeps changing its name does not fill the memory and is limited by the total rate',
  async (t) => {
    const clock = { now: 0 }
    const limiter = new RateLimiter(
      { '*': { perSecond: 1, burst: 1 }, total: { perSecond: 1, burst: 30_000 } },
      () => clock.now,
    )
    let count = 0
    for (let name = 0; name < 40_000; name++) count += passed(limiter, 1, `client-${name}`, 'replay')
    t.equal(count, 30_000)
    t.ok(limiter.busyClients <= 10_000)
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
  t.equal(passed(new RateLimiter({}), 5000, 'a', 'debrief'), 5000)
})

const named = (session: string) => ({ 'causeway-session': session })

verifies('limits:rate:client', 'the rate limit of a client applies to its MCP calls', async (t) => {
  const { send } = await openWire(t, { env: { CAUSEWAY_RATE_LIMITS: 'demo=0.01/100' } })
  const ask = async (session: string, name = 'Demo__echo', args: object = { text: 'x' }) =>
    (await send(toolCall(name, args), { headers: named(session) })).json.result
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask('a')))
  t.ok(answers.every(({ isError }) => isError !== true))
  t.match(await ask('a'), {
    isError: true,
    _meta: {
      'causeway/error': {
        code: 'RATE_LIMITED',
        legacy_code: -32005,
        retryable: true,
        data: { retry_after_ms: Number },
      },
    },
  })
  t.notOk((await ask('b')).isError)
  t.notOk((await ask('a', 'Wire__identify', {})).isError)
})

verifies('limits:rate:http', async (t) => {
  const { send, logged } = await openWire(t, { env: { CAUSEWAY_RATE_LIMITS: 'demo=0.1/1' } })
  const path = '/api/apps/demo/tools/echo'
  t.equal((await send({ text: 'x' }, { path })).status, 200)
  const refused = await send({ text: 'x' }, { path })
  t.match(refused, { status: 429, json: { code: 'RATE_LIMITED', remedy: 'wait for data.retry_after_ms' } })
  const seconds = Number(refused.headers['retry-after'])
  t.ok(seconds >= 9 && seconds <= 10, `${seconds} s`)
  const stateless = modern(toolCall('echo', { text: 'x' }))
  t.match((await send(stateless.body, { path: '/mcp/demo', headers: stateless.headers })).json, {
    result: { isError: true },
  })
  t.match(
    logged.lines.find(({ code }) => code === 'RATE_LIMITED'),
    { level: 40, what: 'echo', app: 'Demo' },
  )
})

/** An app whose tool calls a tool of the demo app for the same client. */
const relay: App = defineApp(
  { name: 'Relay', about: 'Calls another app.', open: (env) => env, session: () => ({}) },
  (app) => {
    app.tool('relay', {
      about: 'Calls echo.',
      input: {},
      output: { text: z.string() },
      example: { args: {} },
      run: async (_, ctx) => (await ctx.store.call('Demo', 'echo', { text: 'x' }, ctx)) as { text: string },
    })
    app.tool('own', {
      about: 'Does nothing.',
      input: {},
      output: {},
      example: { args: {} },
      run: () => ({}),
    })
    app.route('POST', '/own', {
      about: 'Calls own.',
      handle: async (_request, _variables, ctx) => Response.json(await ctx.call('own', {})),
    })
  },
)

verifies('limits:rate:through-apps', async (t) => {
  const { send } = await openWire(t, {
    apps: [relay],
    env: { CAUSEWAY_RATE_LIMITS: 'demo=0.1/1,relay=0.1/3' },
  })
  const ask = async (session: string, path = '/api/apps/relay/tools/relay') =>
    (await send({}, { path, headers: named(session) })).status
  t.equal(await ask('a'), 200)
  t.equal(await ask('a'), 429, 'the rate of the other app is exceeded')
  t.equal(await ask('b'), 200, 'another client is not affected')
  t.equal(await ask('a', '/api/apps/relay/own'), 200)
  t.equal(await ask('a', '/api/apps/relay/own'), 429, 'calls of a route count for its client')
})

verifies('limits:deadline', async (t) => {
  const { send, demo } = await openWire(t, { env: { CAUSEWAY_DEADLINES_MS: 'demo=100' } })
  const answer = await send(toolCall('Demo__wait'))
  t.match(answer.json.result, {
    isError: true,
    _meta: { 'causeway/error': { code: 'DEADLINE_EXCEEDED', data: { deadline_ms: 100 } } },
  })
  await until(() => demo.waiting[0]?.aborted === true)
  t.match(await send({}, { path: '/api/apps/demo/tools/wait' }), { status: 504 })
})

/** Creates an app with a tool that ignores its signal. */
function signalIgnoringApp(): { app: App; wake(): void } {
  const sleeping: (() => void)[] = []
  const app = defineApp(
    { name: 'Deaf', about: 'Ignores signals.', open: () => ({}), session: () => ({}) },
    (registrar) => {
      registrar.tool('sleep', {
        about: 'Waits to be woken.',
        input: {},
        output: {},
        example: { args: {} },
        run: () => new Promise<Record<string, never>>((resolve) => sleeping.push(() => resolve({}))),
      })
    },
  )
  return {
    app,
    wake: () => {
      for (const wake of sleeping.splice(0)) wake()
    },
  }
}

verifies('limits:deadline', 'a tool that ignores its signal does not delay the caller', async (t) => {
  const { app, wake } = signalIgnoringApp()
  const core = await openTestCore(t, [app], { env: { CAUSEWAY_DEADLINES_MS: 'deaf=60' } })
  t.teardown(wake)
  t.match(await soon(call(core, 'Deaf__sleep')), { isError: true })
})

verifies('limits:deadline:client', async (t) => {
  const { app, wake } = signalIgnoringApp()
  const { send } = await openWire(t, { apps: [app], env: { CAUSEWAY_DEADLINES_MS: 'deaf=300' } })
  t.teardown(wake)
  const late = (result: { _meta: Record<string, { data: object }> }) => result._meta['causeway/error']?.data
  const byHeader = await send(toolCall('Deaf__sleep'), { headers: { 'causeway-deadline': '60' } })
  t.same(late(byHeader.json.result), { deadline_ms: 60 })
  const params = { name: 'Deaf__sleep', arguments: {}, _meta: { 'causeway/deadline_ms': 70 } }
  t.same(late((await send(rpc('tools/call', params))).json.result), { deadline_ms: 70 })
  const longMeta = { ...params, _meta: { 'causeway/deadline_ms': 9000 } }
  const both = await send(rpc('tools/call', longMeta), { headers: { 'causeway-deadline': '60' } })
  t.same(late(both.json.result), { deadline_ms: 60 }, 'the shorter deadline applies')
  const longer = await send(toolCall('Deaf__sleep'), { headers: { 'causeway-deadline': '9000' } })
  t.same(late(longer.json.result), { deadline_ms: 300 })
})

verifies('limits:concurrency', async (t) => {
  const { app, wake } = signalIgnoringApp()
  const core = await openTestCore(t, [app], {
    env: { CAUSEWAY_CONCURRENCY: 'deaf=2', CAUSEWAY_DEADLINES_MS: 'deaf=60' },
  })
  const late = await soon(Promise.all([call(core, 'Deaf__sleep'), call(core, 'Deaf__sleep')]))
  t.ok(late.every(({ isError }) => isError === true))
  const code = async () => {
    const { _meta } = await soon(call(core, 'Deaf__sleep'))
    return (_meta as Record<string, { code: string }>)['causeway/error']?.code
  }
  t.equal(await code(), 'OVERLOADED', 'calls past their deadline still run')
  wake()
  await new Promise(setImmediate)
  t.equal(await code(), 'DEADLINE_EXCEEDED')
  wake()
})

verifies('limits:answer', async (t) => {
  const { send } = await openWire(t, { env: { CAUSEWAY_ANSWER_LIMIT_CHARS: '2000' } })
  const path = '/api/apps/demo/tools/echo'
  t.match(await send({ text: 'x'.repeat(1500) }, { path }), { status: 200 })
  t.match((await send(toolCall('Demo__echo', { text: 'x'.repeat(2000) }))).json.result, {
    isError: true,
    _meta: {
      'causeway/error': { code: 'ANSWER_TOO_LARGE', data: { limit_chars: 2000, size_chars: Number } },
    },
  })
})

verifies('limits:shed', async (t) => {
  const state = { isOverloaded: false }
  const { send, wire } = await openWire(t, {
    inFlightLimits: { max: 1, isOverloaded: () => state.isOverloaded },
  })
  const working = send(toolCall('Wire__work', { steps: 0 }))
  await until(() => wire.begun.length === 1)
  const refused = { status: 503, headers: { 'retry-after': '1' } }
  t.match(await send(rpc('ping')), { ...refused, json: { id: 1, error: { data: { code: 'OVERLOADED' } } } })
  t.match(await send({}, { path: '/api/apps/wire/tools/identify' }), {
    ...refused,
    json: { code: 'OVERLOADED' },
  })
  t.match(await send(undefined, { path: '/health', method: 'GET' }), { status: 200 })
  wire.release()
  t.match(await working, { status: 200 })
  t.match(await send(rpc('ping')), { status: 200 })
  state.isOverloaded = true
  t.match(await send(rpc('ping')), refused)
  const { text } = await send(undefined, { path: '/metrics', method: 'GET' })
  t.match(text, 'causeway_requests_turned_away_total{want="places"} 2')
  t.match(text, 'causeway_requests_turned_away_total{want="time"} 1')
})

t.test('a blocked event loop causes an overload, which is logged and ends', async (t) => {
  const { log, lines } = captureLog()
  const watch = new LoadMonitor({ lagMs: 100, heapPercent: 100, log })
  t.teardown(() => watch.close())
  t.equal(watch.isOverloaded, false)
  await until(() => {
    // Blocks the event loop longer than the limit, no matter when the next sample is due.
    const end = performance.now() + 700
    while (performance.now() < end);
    return watch.isOverloaded
  })
  t.match(lines[0], { level: 40, lag_ms: Number })
  await until(() => !watch.isOverloaded)
})

t.test('load limits are independent, and each can be disabled', async (t) => {
  const sample = { lagMs: 100, heapPercent: 95 }
  t.ok(exceedsLimits(sample, { lagMs: 50, heapPercent: 100 }))
  t.ok(exceedsLimits(sample, { lagMs: 0, heapPercent: 90 }))
  t.notOk(exceedsLimits(sample, { lagMs: 0, heapPercent: 100 }))
  t.notOk(exceedsLimits(sample, { lagMs: 200, heapPercent: 96 }))
})

verifies('limits:visible', async (t) => {
  const { send } = await openWire(t, { env: { CAUSEWAY_RATE_LIMITS: 'demo=0.1/1' } })
  for (const _ of [1, 2]) await send({ text: 'x' }, { path: '/api/apps/demo/tools/echo' })
  const { json } = await send(undefined, { path: '/health', method: 'GET' })
  t.match(json.limits, {
    rates: { demo: { per_second: 0.1, burst: 1 } },
    deadlines_ms: { '*': 600_000 },
    concurrency: { '*': 256 },
    inflight: 1024,
    busy_clients: 1,
    rate_limited: 1,
  })
  const { text } = await send(undefined, { path: '/metrics', method: 'GET' })
  t.match(text, 'causeway_running_calls{app="demo"} 0')
  t.match(text, 'causeway_calls_total{app="Demo",what="echo",code="RATE_LIMITED"} 1')
})

const rate: Rate = { perSecond: 10, burst: 100 }

/** Takes all tokens that are available at a given time. */
function drain(state: number, nowMs: number, bucketRate: Rate): { state: number; count: number } {
  let [bucket, count] = [state, 0]
  while (getWaitTimeMs(bucket, nowMs, bucketRate) === 0) {
    bucket = takeToken(bucket, nowMs, bucketRate)
    count += 1
  }
  return { state: bucket, count }
}

verifies('limits:rate:bucket', async (t) => {
  const { state, count } = drain(fullBucket, 5000, rate)
  t.equal(count, 100, 'the burst')
  t.equal(getWaitTimeMs(state, 5000, rate), 100, 'a tenth of a second for one')
  t.equal(getWaitTimeMs(state, 5099.5, rate), 0.5, 'tokens refill continuously')
  t.equal(getWaitTimeMs(state, 5100, rate), 0)
  t.equal(drain(state, 6000, rate).count, 10, 'ten after a second: a rejected call takes no token')
  t.equal(drain(state, 60_000, rate).count, 100, 'at most the burst')
})

t.test('at a rate of 0.5 per second, the next token is available after two seconds', async (t) => {
  const slow = { perSecond: 0.5, burst: 1 }
  t.equal(getWaitTimeMs(takeToken(fullBucket, 0, slow), 0, slow), 2000)
})
