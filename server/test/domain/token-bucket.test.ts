import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { full, left, type Rate, taken, waitMs } from '../../src/domain/token-bucket.ts'

const rate: Rate = { perSecond: 10, burst: 100 }

/** Takes as many as there are, at one instant. */
function drain(state: number, nowMs: number, of: Rate): { state: number; count: number } {
  let [at, count] = [state, 0]
  while (waitMs(at, nowMs, of) === 0) {
    at = taken(at, nowMs, of)
    count += 1
  }
  return { state: at, count }
}

verifies('limits:rate:bucket', async (t) => {
  const { state, count } = drain(full, 5000, rate)
  t.equal(count, 100, 'the burst')
  t.equal(waitMs(state, 5000, rate), 100, 'a tenth of a second for one')
  t.equal(waitMs(state, 5099.5, rate), 0.5, 'by fractions')
  t.equal(waitMs(state, 5100, rate), 0)
  t.equal(drain(state, 6000, rate).count, 10, 'ten after a second, though refused ones were asked for')
  t.equal(drain(state, 60_000, rate).count, 100, 'never more than the burst')
})

t.test('token bucket: a rate below one a second waits whole seconds', async (t) => {
  const slow = { perSecond: 0.5, burst: 1 }
  t.equal(waitMs(taken(full, 0, slow), 0, slow), 2000)
})

t.test('token bucket: what is left is counted down and up', async (t) => {
  t.equal(left(full, 0, rate), 100)
  const some = taken(taken(full, 0, rate), 0, rate)
  t.equal(left(some, 0, rate), 98)
  t.equal(left(some, 150, rate), 99)
})
