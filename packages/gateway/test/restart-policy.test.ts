import { verifies } from '../../../test/verifies.ts'
import { RestartPolicy } from '../src/instances/restart-policy.ts'

verifies('gateway:backoff', 'delays between attempts', async (t) => {
  let now = 0
  const policy = new RestartPolicy({ now: () => now, random: () => 0.5 })
  const waits: number[] = []
  for (let failure = 1; failure <= 5; failure++) {
    policy.recordFailure()
    waits.push(policy.waitMs)
    t.equal(policy.isDown, failure === 5)
    now += failure === 5 ? 0 : policy.waitMs
  }
  t.same(waits, [0, 1000, 2000, 4000, 300_000])
  now += 300_000
  t.match({ waitMs: policy.waitMs, isDown: policy.isDown }, { waitMs: 0, isDown: false })
  policy.recordFailure(600_000)
  t.equal(policy.waitMs, 600_000, 'the server requested a longer delay')
  policy.reset()
  t.ok(policy.isClean)
})
