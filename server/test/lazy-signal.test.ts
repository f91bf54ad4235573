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
  'withSignalOf: objects of one kind share a hidden class, which would else keep each of them alive',
  async (t) => {
    setFlagsFromString('--allow-natives-syntax')
    t.teardown(() => setFlagsFromString('--no-allow-natives-syntax'))
    const haveSameMap = new Function('a', 'b', 'return %HaveSameMap(a, b)') as (
      a: object,
      b: object,
    ) => boolean
    const made = ['a', 'b', 'c'].map((name) => withSignalOf(source(), { name }))
    const [first, ...others] = made as [object, ...object[]]
    t.same(
      others.map((other) => haveSameMap(first, other)),
      [true, true],
    )
    t.notOk(haveSameMap(source(), source()), 'a getter in an object literal is what this is about')
  },
)
