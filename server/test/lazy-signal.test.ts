import { setFlagsFromString } from 'node:v8'
import t from 'tap'
import { withSignalOf } from '../src/lazy-signal.ts'

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
