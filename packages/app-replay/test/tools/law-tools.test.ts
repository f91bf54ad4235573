import { verifies } from '../../../../test/verifies.ts'
import { ask, rowsOf } from '../replay-kit.ts'

verifies(
  'replay:range-checks',
  'check_friction_cone: with end_frame the violations are runs, counted exactly',
  async (t) => {
    const client = await ask(t, 'cone_violation')
    const answer = await client.call('check_friction_cone', { frame_id: 1, end_frame: 100 })
    t.match(answer, { count: 1, frames_checked: 100 })
    t.match(rowsOf(answer.violations), [{ frames: { first: 20, last: 60 }, pair: [2, 2147483649] }])
    const other = await client.call('check_friction_cone', { frame_id: 1, end_frame: 100, body_id: 1 })
    t.equal(other.count, 1, 'the environment takes part in it')
  },
)

verifies(
  'replay:range-checks',
  'check_penetration: with end_frame the threshold makes the runs',
  async (t) => {
    const client = await ask(t, 'penetration')
    const run = async (threshold: number) =>
      rowsOf(
        (await client.call('check_penetration', { frame_id: 1, end_frame: 120, threshold }))
          .excessive_penetrations,
      )
    const [deep] = await run(0.01)
    t.match(deep, { frames: { first: 70, last: 120, peak: 120 }, unit: 'm' })
    const [shallow] = await run(0.005)
    const { first } = (shallow?.frames ?? { first: 70 }) as { first: number }
    t.ok(first < 70)
    t.same(await run(1), [])
  },
)

verifies(
  'replay:range-checks',
  'check_resting_contact: a range of a stack at rest has no jitter and no creep',
  async (t) => {
    const client = await ask(t, 'stack')
    t.same((await client.call('check_resting_contact', { frame_id: 1, end_frame: 60 })).moving_bodies, [])
  },
)

verifies('replay:laws', 'check_numerics: the body without numbers is one run to the end', async (t) => {
  const client = await ask(t, 'nan')
  const answer = await client.call('check_numerics')
  t.match(rowsOf(answer.runs), [{ kind: 'nan', bodies: [3], frames: { first: 50, last: 80 } }])
  t.equal(answer.count, 1)
})

verifies(
  'replay:laws',
  'check_momentum: a kick without an impulse is found with the energy that it brings',
  async (t) => {
    const client = await ask(t, 'energy_injection')
    const [run] = rowsOf((await client.call('check_momentum')).runs)
    t.match(run, { kind: 'energy_injection', bodies: [2], frames: { first: 60, last: 60 }, unit: 'J' })
  },
)

verifies('replay:laws', 'check_restitution: a recording without normal constraints says so', async (t) => {
  const client = await ask(t, 'era_states_only')
  await t.rejects(client.call('check_restitution'), { code: 'NOT_RECORDED' })
})
