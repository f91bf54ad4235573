import { verifies } from '../../../../test/verifies.ts'
import { ask, rowsOf } from '../replay-kit.ts'

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
