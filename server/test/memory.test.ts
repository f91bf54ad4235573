import { setFlagsFromString } from 'node:v8'
import type { Cache } from '@causeway/app-kit'
import t, { type Test } from 'tap'
import { verifies } from '../../test/verifies.ts'
import { withSignalOf } from '../src/lazy-signal.ts'
import { openCaches } from '../src/memory/caches.ts'
import { openMemoryGuard } from '../src/memory/guard.ts'
import { defaultLimitBytes, readMemory } from '../src/memory/reading.ts'
import { type Listed, Roster } from '../src/roster.ts'
import { captureLog } from './test-core.ts'

/** A cache that gives what it has, and a process whose memory is what its caches hold. */
function makeCache(name: string, changes: Partial<Cache> & { readonly holds: number }) {
  const state = { bytes: changes.holds, asked: [] as number[] }
  const cache: Cache = {
    name,
    costMs: 1,
    isInHeap: false,
    mostBytes: 1000,
    bytes: () => state.bytes,
    shrink(bytes) {
      state.asked.push(bytes)
      const given = Math.min(bytes, state.bytes)
      state.bytes -= given
      return given
    },
    ...changes,
  }
  return { cache, state }
}

function openGuard(
  t: Test,
  caches: readonly Cache[],
  {
    limitBytes = 1000,
    other = 0,
    heap = () => 0,
  }: { limitBytes?: number; other?: number; heap?: () => number } = {},
) {
  const { log, lines } = captureLog()
  const seen = { collections: 0, other }
  const guard = openMemoryGuard({
    caches: openCaches({
      host: { apps: () => [] },
      own: () => caches,
      onFailure: (cache, err) => log.warn({ cache, err }, 'failed'),
    }),
    limitBytes,
    read: () => ({
      usedBytes: seen.other + caches.reduce((sum, cache) => sum + Number(cache.bytes()), 0),
      heapBytes: heap(),
      heapLimitBytes: 100,
    }),
    collect: () => {
      seen.collections += 1
    },
    log,
    everyMs: 3_600_000,
  })
  t.teardown(() => guard.close())
  return { guard, lines, seen }
}

verifies('limits:memory', async (t) => {
  const dear = makeCache('dear', { holds: 400, costMs: 100 })
  const cheap = makeCache('cheap', { holds: 100, costMs: 1 })
  const { guard, seen, lines } = openGuard(t, [dear.cache, cheap.cache], { other: 340 })
  await guard.look()
  t.same([dear.state.asked, cheap.state.asked], [[], []], 'below 85 percent nobody is asked')
  seen.other = 400
  await guard.look()
  t.same(cheap.state.asked, [200], 'the cheapest first, down to 70 percent')
  t.same(dear.state.asked, [100], 'and of the next what is missing then')
  t.equal(seen.collections, 1, 'so that it can be seen')
  t.notOk(guard.isShort())
  t.match(await guard.report(), {
    status: 'ok',
    used_bytes: 700,
    limit_bytes: 1000,
    given_back_bytes: 200,
    caches: {
      'causeway.dear': { bytes: 300, most_bytes: 1000, given_back_bytes: 100 },
      'causeway.cheap': { bytes: 0, given_back_bytes: 100 },
    },
  })
  t.match(lines, [{ msg: 'caches gave back memory', given_back: { 'causeway.cheap': 100 } }])
})

verifies(
  'limits:memory',
  'memory is short where caches cannot help, and no more once they can',
  async (t) => {
    const { guard, seen, lines } = openGuard(t, [makeCache('empty', { holds: 0 }).cache], { other: 1100 })
    await guard.look()
    t.notOk(guard.isShort(), 'one look may be one call')
    await guard.look()
    t.ok(guard.isShort())
    t.equal((await guard.report()).status, 'short')
    seen.other = 900
    await guard.look()
    t.notOk(guard.isShort())
    t.same(
      lines.map(({ msg }) => msg),
      ['memory is short: requests are answered one at a time until it is not', 'memory is no longer short'],
    )
  },
)

verifies('limits:memory', 'each cache is kept within its own cap, whatever memory there is', async (t) => {
  const large = makeCache('large', { holds: 900, mostBytes: 600 })
  const { guard } = openGuard(t, [large.cache], { limitBytes: 0 })
  await guard.look()
  t.same(large.state.asked, [300])
})

verifies('limits:memory', 'a full heap asks the caches that lie in it', async (t) => {
  const outside = makeCache('outside', { holds: 50, costMs: 1 })
  const inside = makeCache('inside', { holds: 50, costMs: 100, isInHeap: true })
  const { guard } = openGuard(t, [outside.cache, inside.cache], { heap: () => 90 })
  await guard.look()
  t.same([outside.state.asked, inside.state.asked], [[], [30]])
})

verifies('limits:memory', 'a cache that fails hurts no other', async (t) => {
  const broken = makeCache('broken', { holds: 500, costMs: 1, shrink: () => Promise.reject(new Error('no')) })
  const whole = makeCache('whole', { holds: 500, costMs: 2 })
  const { guard, lines } = openGuard(t, [broken.cache, whole.cache])
  await guard.look()
  t.same(whole.state.asked, [300])
  t.match(lines[0], { cache: 'causeway.broken', msg: 'failed' })
  const bytes = () => {
    throw new Error('its app was closed')
  }
  const told: string[] = []
  const caches = openCaches({
    host: { apps: () => [] },
    own: () => [{ ...whole.cache, bytes }],
    onFailure: (name) => told.push(name),
  })
  t.match(await caches.report(), { 'causeway.whole': { bytes: 0 } })
  t.same(told, ['causeway.whole'])
})

t.test('the process reads its memory, and has a limit without a setting', async (t) => {
  const { usedBytes, heapBytes, heapLimitBytes } = readMemory()
  t.ok(usedBytes > heapBytes && heapLimitBytes > heapBytes)
  t.ok(usedBytes <= process.memoryUsage.rss() * 1.1)
  t.ok(defaultLimitBytes() > usedBytes)
})

/** A source that counts who looked. */
function source() {
  const { signal } = new AbortController()
  let looks = 0
  return {
    get signal() {
      looks += 1
      return signal
    },
    get looks() {
      return looks
    },
  }
}

t.test(
  'withSignalOf: the source is asked when somebody looks, and a copy has the signal itself',
  async (t) => {
    const from = source()
    const one = withSignalOf(from, { name: 'one' })
    t.equal(from.looks, 0)
    t.equal(one.signal.aborted, false)
    const copy = { ...one, name: 'copy' }
    const looks = from.looks
    t.equal(copy.signal, one.signal)
    t.equal(from.looks, looks + 1, 'only the object itself asks again')
    t.match({ ...one }, { name: 'one' })
  },
)

t.test(
  'withSignalOf: V8 gives objects of one kind one hidden class, as it does not for getters of literals',
  async (t) => {
    setFlagsFromString('--allow-natives-syntax')
    t.teardown(() => setFlagsFromString('--no-allow-natives-syntax'))
    const haveSameMap = new Function('a', 'b', 'return %HaveSameMap(a, b)')
    const isFast = new Function('a', 'return %HasFastProperties(a)')
    const [one, other, third] = ['a', 'b', 'c'].map((name) => withSignalOf(source(), { name }))
    t.same([haveSameMap(one, other), haveSameMap(one, third)], [true, true])
    t.equal(isFast(one), true)
    for (let i = 0; i < 10; i++) source()
    t.equal(isFast(source()), false)
  },
)

const named = (name: string): Listed & { readonly name: string } => ({ name, place: 0 })
const names = (roster: Roster<ReturnType<typeof named>>) => [...roster].map(({ name }) => name).sort()

t.test('Roster: what was added stands in it until it is removed', async (t) => {
  const roster = new Roster<ReturnType<typeof named>>()
  const [a, b, c, d] = [named('a'), named('b'), named('c'), named('d')]
  for (const one of [a, b, c]) roster.add(one)
  t.same(names(roster), ['a', 'b', 'c'])
  roster.remove(a)
  t.same(names(roster), ['b', 'c'])
  roster.add(d)
  roster.remove(d)
  roster.remove(c)
  t.same(names(roster), ['b'])
  roster.remove(b)
  t.equal(roster.size, 0)
  t.same(names(roster), [])
})

t.test('Roster: removing what is not in it, or no longer, changes nothing', async (t) => {
  const roster = new Roster<ReturnType<typeof named>>()
  const [a, b] = [named('a'), named('b')]
  roster.add(a)
  roster.remove(b)
  roster.remove(a)
  roster.remove(a)
  roster.add(b)
  roster.remove(a)
  t.same(names(roster), ['b'])
})

t.test('Roster: each is seen once while those that were seen are removed', async (t) => {
  const roster = new Roster<ReturnType<typeof named>>()
  for (const name of ['a', 'b', 'c', 'd', 'e']) roster.add(named(name))
  const seen: string[] = []
  for (const one of roster) {
    seen.push(one.name)
    if (one.name !== 'c') roster.remove(one)
  }
  t.same(seen.sort(), ['a', 'b', 'c', 'd', 'e'])
  t.same(names(roster), ['c'])
})
