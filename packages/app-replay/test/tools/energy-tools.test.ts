import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { ask, rowsOf } from '../replay-kit.ts'

verifies('replay:energy:body', async (t) => {
  const client = await ask(t, 'drop')
  const answer = await client.call('get_body_energy', { body_id: 2, start_frame: 10, end_frame: 12 })
  const points = rowsOf(answer.energy_points)
  t.same(
    points.map(({ frame_id }) => frame_id),
    [10, 11, 12],
  )
  for (const { linear_ke, rotational_ke, potential_e, total_e } of points)
    t.ok(Math.abs(Number(linear_ke) + Number(rotational_ke) + Number(potential_e) - Number(total_e)) < 1e-9)
})

verifies('replay:energy:system', async (t) => {
  const client = await ask(t, 'drop')
  const answer = await client.call('get_system_energy', { start_frame: 62, end_frame: 63 })
  const [before, after] = rowsOf(answer.energy_points)
  t.ok(
    Math.abs(Number(after?.total_system_e) - Number(before?.total_system_e) - Number(after?.delta_e)) < 1e-9,
  )
  t.match(answer, { totals: { count: 2, min_frame: 63, max_frame: 62 }, start_frame: 62, end_frame: 63 })
  t.match(after, { collision_active: true, energy_injection: false })
})

verifies('replay:energy:bucketed', async (t) => {
  const client = await ask(t, 'slide_at_45')
  const first = await client.call('get_system_energy', { max_points: 20 })
  t.ok(rowsOf(first.energy_points).length <= 20)
  t.ok(
    rowsOf(first.energy_points).some(({ frame_id }) => frame_id === 45),
    'the peak is among them',
  )
  t.match(first, { bucketed: true, truncated: true, totals: { count: 120, max_frame: 45 } })
  const seen: unknown[] = []
  let cursor = first.next_cursor
  while (typeof cursor === 'string') {
    const page = await client.call('get_system_energy', { max_points: 50, cursor })
    t.same(page.totals, first.totals, 'the totals stay those of the whole range')
    seen.push(...rowsOf(page.energy_points).map(({ frame_id }) => frame_id))
    cursor = page.next_cursor
  }
  t.same(
    seen,
    Array.from({ length: 120 }, (_, index) => index + 1),
  )
})

verifies('replay:anomalies:threshold', async (t) => {
  const client = await ask(t, 'drop')
  const all = rowsOf((await client.call('get_system_energy')).energy_points)
  const landing = Math.abs(Number(all[62]?.delta_e))
  const frames = async (threshold: number): Promise<unknown[]> =>
    rowsOf((await client.call('find_energy_anomalies', { threshold })).anomalies).map(
      ({ frame_id }) => frame_id,
    )
  t.same(await frames(landing * (1 - 1e-12)), [1, 63])
  t.same(await frames(landing), [1], 'a step that equals the threshold is none')
  t.same(await frames(1e6), [])
})

verifies('replay:anomalies:kind', async (t) => {
  const client = await ask(t, 'late_spawn')
  const answer = await client.call('find_energy_anomalies', { threshold: 1 })
  t.match(rowsOf(answer.anomalies), [
    { frame_id: 1, kind: 'baseline' },
    { frame_id: 40, kind: 'baseline', per_body: [{ body_id: 3 }] },
    { frame_id: 65, kind: 'impact_loss', per_body: [{ body_id: 3 }] },
  ])
  t.match(answer, { count: 1, counts: { baseline: 2, impact_loss: 1 } })
  t.match(answer.summary, /^1 anomaly .* 1 loss in contact .*frame 65\)\. 2 baseline steps/)
})

t.test('find_energy_anomalies: a step names the body that made it and the pairs in contact', async (t) => {
  const client = await ask(t, 'slide_at_45')
  const { anomalies } = await client.call('find_energy_anomalies')
  const step = rowsOf(anomalies).find(({ frame_id }) => frame_id === 45)
  t.match(step, { kind: 'injection', since_frame: 44, pairs: [{ body_a_id: 1, body_b_id: 2147483650 }] })
  const [body] = rowsOf(step?.per_body)
  t.equal(body?.body_id, 1)
  t.ok(Math.abs(Number(body?.delta_e) - Number(step?.delta_e)) < 1e-9, 'it is the only body')
})

t.test('energies of a diverged run: no overflow, and exponents in words', async (t) => {
  const client = await ask(t, 'drop', {
    change: (db) =>
      db.exec('UPDATE SystemEnergyRecord SET total_system_e = 2e195, delta_e = 2e195 WHERE frame_id = 70'),
  })
  t.match(await client.call('get_system_energy'), { totals: { max: 2e195, max_frame: 70 } })
  const answer = await client.call('find_energy_anomalies')
  t.match(answer.summary, /greatest: 2e195 J in frame 70/)
})

t.test('get_system_energy: a cursor of another kind, and a range outside, are refused', async (t) => {
  const client = await ask(t, 'drop')
  await t.rejects(client.call('get_system_energy', { cursor: '12' }), { code: 'INVALID_CURSOR' })
  await t.rejects(client.call('get_system_energy', { start_frame: 151 }), {
    code: 'FRAME_NOT_FOUND',
    data: { first_frame: 1, last_frame: 150 },
  })
})

t.test('find_energy_anomalies: stops when the caller cancels', async (t) => {
  const client = await ask(t, 'drop')
  const signal = AbortSignal.abort()
  await t.rejects(client.call('find_energy_anomalies', { threshold: 0 }, { signal }))
})
