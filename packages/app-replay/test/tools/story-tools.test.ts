import { verifies } from '../../../../test/verifies.ts'
import { bodyOf } from '../../../recording/test/run-lines.ts'
import type { Replay } from '../../src/store.ts'
import { ask, openReplay, rowsOf } from '../replay-kit.ts'

verifies(
  'replay:explain',
  'explain_frame: the forces on a resting body balance, those of a push are named',
  async (t) => {
    const client = await ask(t, 'slide_at_45')
    const rest = await client.call('explain_frame', { frame_id: 44 })
    const [body] = rowsOf(rest.balances)
    t.ok(Number(body?.unexplained_n) < 1)
    const { z } = (body?.contact_n ?? { z: 0 }) as { z: number }
    t.ok(Math.abs(z - 98.1) < 1)
    t.same(rest.findings, [])
    const push = await client.call('explain_frame', { frame_id: 45 })
    t.match(rowsOf(push.findings)[0], { kind: 'friction_cone' })
    t.match(rowsOf(push.contacts)[0], { exceeds_limit: true, is_new: false })
    t.ok(rowsOf(push.contacts).some(({ utilization }) => Number(utilization) > 10))
  },
)

verifies('replay:explain', 'explain_frame: a force that the engine applied is explained', async (t) => {
  const { app, client } = await openReplay(t, [])
  const [mass, dt, g, thrust] = [10, 0.01, 9.81, 50]
  const run = { gravity: [0, 0, -g], dt, bodies: [{ id: 1, mass }] }
  /** A body that falls and is pushed along x from the second frame on, as semi-implicit Euler steps make it. */
  const line = (k: number): string => {
    const [vx, vz] = [(thrust / mass) * dt * (k - 1), -g * dt * k]
    const position = [(vx * dt * k) / 2, 0, (vz * dt * (k + 1)) / 2]
    const forces = k === 1 ? [] : [{ force: [thrust - 10, 0, 0] }, { force: [10, 0, 0] }]
    const body = {
      id: 1,
      position,
      velocity: [vx, 0, vz],
      orientation: [1, 0, 0, 0],
      angular_velocity: [0, 0, 0],
      forces,
    }
    return JSON.stringify({ frame_id: k, time: k * dt, bodies: [body], contacts: [] })
  }
  const lines = [JSON.stringify({ run }), ...Array.from({ length: 20 }, (_, i) => line(i + 1))]
  await (app.store as Replay).recorder.write('thrust', bodyOf(lines))
  const story = await client().call('explain_frame', { recording: 'thrust', frame_id: 10 })
  const [body] = rowsOf(story.balances)
  t.match(body, { external_n: { x: thrust, y: 0, z: 0 }, contact_n: { x: 0 } })
  t.ok(Math.abs(Number(body?.unexplained_n)) < 1e-9)
  t.same(story.findings, [])
  const frame = await client().call('get_frame', { recording: 'thrust', frame_id: 10 })
  t.match(frame, { external_forces: [{ body_id: 1, force: { x: 40 } }, {}], counts: { external_forces: 2 } })
})

verifies('replay:explain', 'explain_frame: the first frame has nothing before it', async (t) => {
  const client = await ask(t, 'drop')
  const { changes, balances } = await client.call('explain_frame', { frame_id: 1 })
  t.same(changes, ['there is no frame before this one'])
  t.equal(rowsOf(balances)[0]?.inertial_n, null)
})

verifies('replay:timeline', 'timeline: a drop is an impact and then a rest', async (t) => {
  const client = await ask(t, 'drop')
  const { events, counts } = await client.call('timeline')
  const kinds = rowsOf(events).map(({ kind }) => kind)
  t.ok(kinds.indexOf('contact_begin') < kinds.indexOf('impact'))
  t.ok(kinds.indexOf('impact') < kinds.indexOf('rest'))
  const impact = rowsOf(events).find(({ kind }) => kind === 'impact')
  t.match(impact, { bodies: [2, 2147483649], unit: 'N·s' })
  t.ok(Number(impact?.value) > 0)
  t.equal((counts as Record<string, number>).rest, 1)
})

verifies('replay:timeline', 'timeline: kinds filter, a kind that does not exist is refused', async (t) => {
  const client = await ask(t, 'incline_slides')
  const { events } = await client.call('timeline', { kinds: ['sliding_start'] })
  t.ok(rowsOf(events).length > 0)
  t.ok(rowsOf(events).every(({ kind }) => kind === 'sliding_start'))
  await t.rejects(client.call('timeline', { kinds: ['explosion'] }), { code: 'INVALID_ARGUMENTS' })
})

verifies(
  'replay:explain',
  'explain_frame: reports the first frame that does not converge and no other',
  async (t) => {
    const client = await ask(t, 'solver_stall')
    const frames: number[] = []
    for (let frame_id = 27; frame_id <= 42; frame_id++) {
      const { changes } = await client.call('explain_frame', { frame_id })
      if ((changes as string[]).includes('the solver no longer converges')) frames.push(frame_id)
    }
    t.same(frames, [30])
  },
)

verifies(
  'replay:stalls',
  'find_solver_stalls: the run, its bodies and the ratio of their masses',
  async (t) => {
    const client = await ask(t, 'solver_stall')
    const { runs, count } = await client.call('find_solver_stalls')
    t.equal(count, 1)
    t.match(rowsOf(runs)[0], { frames: { first: 30, last: 39 }, bodies: [2, 3], mass_ratio: 1000 })
    const clean = await (await ask(t, 'drop')).call('find_solver_stalls')
    t.same(clean.runs, [])
  },
)
