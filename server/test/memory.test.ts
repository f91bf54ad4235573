import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { type Cache, defineApp } from '@causeway/app-kit'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { until } from '../../test/e2e/condition.ts'
import { verifies } from '../../test/verifies.ts'
import { createCallContext } from '../src/dispatch/call-context.ts'
import { IdleCollector } from '../src/memory/idle-collector.ts'
import { MemoryGuard } from '../src/memory/memory-guard.ts'
import { collectGarbage, getDefaultLimitBytes, readMemoryUsage } from '../src/memory/process-memory.ts'
import { both, modern, openWire, toolCall } from './http/open-wire.ts'
import { captureLog, testCaller } from './test-core.ts'

/** Creates a cache that evicts exactly what is requested, and records the requests. */
function createCache(name: string, changes: Partial<Cache> & { readonly holds: number }) {
  const state = { bytes: changes.holds, requested: [] as number[] }
  const cache: Cache = {
    name,
    costMs: 1,
    isInHeap: false,
    maxBytes: 1000,
    bytes: () => state.bytes,
    shrink(bytes) {
      state.requested.push(bytes)
      const evicted = Math.min(bytes, state.bytes)
      state.bytes -= evicted
      return evicted
    },
    ...changes,
  }
  return { cache, state }
}

/** Creates a guard that checks only on request, for a process whose memory is the size of its caches plus `other`. */
function createGuard(
  t: Test,
  caches: readonly Cache[],
  {
    limitBytes = 1000,
    other = 0,
    heap = () => 0,
  }: { limitBytes?: number; other?: number; heap?: () => number } = {},
) {
  const { log, lines } = captureLog()
  const state = { collections: 0, other }
  const guard = new MemoryGuard({
    findCaches: () => caches.map((cache) => ({ owner: 'causeway', cache })),
    limitBytes,
    readUsage: () => ({
      usedBytes: state.other + caches.reduce((sum, cache) => sum + Number(cache.bytes()), 0),
      heapBytes: heap(),
      heapLimitBytes: 100,
    }),
    collectGarbage: async () => {
      state.collections += 1
    },
    log,
    intervalMs: 3_600_000,
  })
  t.teardown(() => guard.close())
  return { guard, lines, state }
}

verifies('limits:memory', 'the memory guard evicts the cheapest caches first', async (t) => {
  const expensive = createCache('expensive', { holds: 400, costMs: 100 })
  const cheap = createCache('cheap', { holds: 100, costMs: 1 })
  const { guard, state, lines } = createGuard(t, [expensive.cache, cheap.cache], { other: 340 })
  await guard.check()
  t.same([expensive.state.requested, cheap.state.requested], [[], []], 'nothing below 85 % of the limit')
  state.other = 400
  await guard.check()
  t.same(cheap.state.requested, [200], 'the cheapest cache first, down to 70 % of the limit')
  t.same(expensive.state.requested, [100], 'the rest from the next cache')
  t.equal(state.collections, 1, 'collects garbage after the eviction')
  t.notOk(guard.isMemoryLow)
  t.match(await guard.report(), {
    status: 'ok',
    used_bytes: 700,
    limit_bytes: 1000,
    given_back_bytes: 200,
    caches: {
      'causeway.expensive': { bytes: 300, most_bytes: 1000, given_back_bytes: 100 },
      'causeway.cheap': { bytes: 0, given_back_bytes: 100 },
    },
  })
  t.match(lines, [{ msg: 'caches were evicted', given_back: { 'causeway.cheap': 100 } }])
})

verifies('limits:memory', 'the memory guard logs evictions at most once in 60 checks', async (t) => {
  const large = createCache('large', { holds: 900, maxBytes: 600 })
  const { guard, lines } = createGuard(t, [large.cache], { limitBytes: 0 })
  for (let check = 0; check < 61; check += 1) {
    await guard.check()
    large.state.bytes += 1
  }
  t.match(lines, [{ given_back: { 'causeway.large': 300 } }, { given_back: { 'causeway.large': 60 } }])
  t.equal(lines.length, 2)
})

verifies(
  'limits:memory',
  'the memory guard collects garbage once in 30 checks without an eviction',
  async (t) => {
    const { guard, state } = createGuard(t, [createCache('empty', { holds: 0 }).cache], { other: 900 })
    for (let check = 0; check < 30; check += 1) await guard.check()
    t.equal(state.collections, 1)
    await guard.check()
    t.equal(state.collections, 2)
  },
)

verifies('limits:memory', 'memory is low after two consecutive checks above the limit', async (t) => {
  const { guard, state, lines } = createGuard(t, [createCache('empty', { holds: 0 }).cache], { other: 1100 })
  await guard.check()
  t.notOk(guard.isMemoryLow, 'one check can be a single call')
  await guard.check()
  t.ok(guard.isMemoryLow)
  t.equal((await guard.report()).status, 'short')
  state.other = 900
  await guard.check()
  t.notOk(guard.isMemoryLow)
  t.same(
    lines.map(({ msg }) => msg),
    ['memory is short: requests are answered one at a time until it is not', 'memory is no longer short'],
  )
})

verifies('limits:memory', 'each cache stays within its own limit', async (t) => {
  const large = createCache('large', { holds: 900, maxBytes: 600 })
  const { guard } = createGuard(t, [large.cache], { limitBytes: 0 })
  await guard.check()
  t.same(large.state.requested, [300])
})

verifies('limits:memory', 'a full heap causes eviction only of caches in the heap', async (t) => {
  const outside = createCache('outside', { holds: 50, costMs: 1 })
  const inside = createCache('inside', { holds: 50, costMs: 100, isInHeap: true })
  const { guard } = createGuard(t, [outside.cache, inside.cache], { heap: () => 90 })
  await guard.check()
  t.same([outside.state.requested, inside.state.requested], [[], [30]])
  const { caches } = await guard.report()
  t.equal(caches['causeway.outside']?.given_back_bytes, 0)
})

verifies('limits:memory', 'a cache that fails does not affect others', async (t) => {
  const shrink = () => Promise.reject(new Error('cannot shrink'))
  const broken = createCache('broken', { holds: 500, costMs: 1, shrink })
  const working = createCache('working', { holds: 500, costMs: 2 })
  const { guard, lines } = createGuard(t, [broken.cache, working.cache])
  await guard.check()
  t.same(working.state.requested, [300])
  t.match(lines[0], { cache: 'causeway.broken', msg: 'a cache could not be evicted' })
  let isClosed = false
  const bytes = () => {
    if (isClosed) throw new Error('its app was closed')
    isClosed = true
    return 0
  }
  const closed = createGuard(t, [{ ...working.cache, bytes }])
  t.match(await closed.guard.report(), { caches: { 'causeway.working': { bytes: 0 } } })
  t.match(closed.lines, [{ cache: 'causeway.working', msg: 'a cache could not be evicted' }])
})

t.test('the memory that readMemoryUsage returns is below the default limit', async (t) => {
  const { usedBytes, heapBytes, heapLimitBytes } = readMemoryUsage()
  t.ok(usedBytes > heapBytes && heapLimitBytes > heapBytes)
  t.ok(usedBytes <= process.memoryUsage.rss() * 1.1)
  t.ok(getDefaultLimitBytes() > usedBytes)
})

/** Creates a context whose signal comes from an object that counts accesses. */
function createContext() {
  const { signal } = new AbortController()
  const counter = { accesses: 0 }
  const cancellation = {
    get signal() {
      counter.accesses += 1
      return signal
    },
  }
  const options = { cancellation, store: {}, session: {}, now: Date.now, note: () => {}, logFields: {} }
  return { context: createCallContext(testCaller(), { ...options, log: captureLog().log }), counter, signal }
}

t.test('the signal of a context is created on first access, and copies contain it', async (t) => {
  const { context, counter, signal } = createContext()
  t.equal(counter.accesses, 0)
  t.equal(context.signal, signal)
  t.equal(counter.accesses, 1)
  const { store: _, ...copy } = context
  t.equal(counter.accesses, 2)
  t.equal(copy.signal, signal)
  t.equal(counter.accesses, 2, 'a copy does not call the getter')
})

t.test('all contexts share one hidden class', async (t) => {
  setFlagsFromString('--allow-natives-syntax')
  t.teardown(() => setFlagsFromString('--no-allow-natives-syntax'))
  const haveSameMap = new Function('a', 'b', 'return %HaveSameMap(a, b)')
  const [first, second, third] = Array.from({ length: 3 }, () => createContext().context)
  t.equal(haveSameMap(first, second), true)
  t.equal(haveSameMap(first, third), true)
  const hasFastProperties = new Function('a', 'return %HasFastProperties(a)')
  t.equal(hasFastProperties(first), true)
})

verifies('limits:memory:idle', 'collectGarbage resolves after the collection', async (t) => {
  const garbage = new WeakRef({ text: 'x' })
  await turn()
  await collectGarbage()
  t.equal(garbage.deref(), undefined)
})

verifies('limits:memory:idle', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const server = { activeMs: 900, collections: 0 }
  const collector = new IdleCollector({
    collectGarbage: async () => {
      server.collections += 1
      server.activeMs += 600
    },
    readActiveMs: () => server.activeMs,
    onError: t.error,
  })
  t.teardown(() => collector.close())
  const pass = async (seconds: number, activeMs: number) => {
    for (let second = 0; second < seconds; second += 1) {
      server.activeMs += activeMs
      mock.timers.tick(1000)
      await turn()
    }
    return server.collections
  }
  t.equal(await pass(4, 5), 0, 'not in the first seconds')
  t.equal(await pass(1, 5), 1, 'after the start')
  t.equal(await pass(50, 5), 1, 'not again for health checks')
  t.equal(await pass(5, 300), 1, 'not during activity')
  t.equal(await pass(4, 0), 1, 'not immediately after activity')
  t.equal(await pass(1, 0), 2, 'five idle seconds after activity')
})

t.test('arguments and results of finished calls are not retained', async (t) => {
  const references: WeakRef<object>[] = []
  const app = defineApp(
    { name: 'Keeper', about: 'Observes its calls.', open: () => ({}), session: () => ({}) },
    ({ tool }) =>
      tool('observe', {
        about: 'Observe the call.',
        input: { texts: z.array(z.string()).describe('Any texts') },
        output: { texts: z.array(z.string()) },
        example: { args: { texts: [] } },
        async run(args, ctx) {
          const result = { texts: [...args.texts] }
          references.push(new WeakRef(args), new WeakRef(args.texts), new WeakRef(ctx), new WeakRef(result))
          return result
        },
      }),
  )
  const { send, initialize } = await openWire(t, { apps: [app] })
  const call = toolCall('Keeper__observe', { texts: ['a'] })
  const inSession = { headers: { ...both, 'mcp-session-id': await initialize() } }
  const stateless = modern(call)
  await send(call)
  await send(call, inSession)
  await send(toolCall('Keeper__observe', { texts: ['a'] }, 'p'), inSession)
  await send(stateless.body, { headers: stateless.headers })
  await send({ texts: ['a'] }, { path: '/api/apps/keeper/tools/observe' })
  t.equal(references.length, 20)
  const countRetained = async () => {
    await collectGarbage()
    return references.filter((reference) => reference.deref() !== undefined).length
  }
  // A connection may end later than its response.
  t.equal(await until(countRetained, (retained) => retained === 0), 0)
})
