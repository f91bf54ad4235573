import { verifies } from '../../../test/verifies.ts'
import { ask, rowsOf } from './replay-kit.ts'

verifies(
  'replay:series',
  'get_series: values are those of the frames, totals exact, and a long series keeps its peaks',
  async (t) => {
    const one = await ask(t, 'slide_at_45')
    const names = [
      'body.1.speed',
      'body.1.position.z',
      'energy.delta',
      'solver.iterations',
      'pair.1.floor.normal_force',
    ]
    const { series } = await one.call('get_series', { series: names, start_frame: 40, end_frame: 50 })
    const [speed, , delta, , force] = rowsOf(series) as { frames: number[]; values: number[]; unit: string }[]
    t.same(speed?.frames, [40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50])
    for (const frame_id of [44, 45]) {
      const state = await one.call('get_body_state', { body_id: 1, frame_id })
      t.ok(Math.abs((speed?.values[frame_id - 40] ?? 0) - Number(state.speed)) < 1e-12)
    }
    const anomalies = rowsOf((await one.call('find_energy_anomalies')).anomalies)
    t.equal(delta?.values[5], anomalies.find(({ frame_id }) => frame_id === 45)?.delta_e)
    t.equal(force?.unit, 'N')
    t.ok(Math.abs((force?.values[0] ?? 0) - 98.1) < 1, 'a body of 10 kg at rest weighs on the floor')
    const cut = rowsOf((await one.call('get_series', { series: ['energy.delta'], max_points: 6 })).series)
    t.match(cut, [{ truncated: true, max_frame: 45, count: 120 }])
    const [{ frames = [] } = {}] = cut
    t.ok((frames as number[]).includes(45))
  },
)

verifies(
  'replay:series',
  'get_series: the first step of a whole recording is no change of energy',
  async (t) => {
    const one = await ask(t, 'drop')
    const [delta] = rowsOf((await one.call('get_series', { series: ['energy.delta'] })).series)
    t.match(delta, { values: [null], nonfinite: 1 })
  },
)

verifies('replay:series', 'get_series: page by page every value comes once, in frame order', async (t) => {
  const one = await ask(t, 'drop')
  const args = { series: ['body.2.position.z', 'energy.total'], max_points: 40, start_frame: 5 }
  const first = await one.call('get_series', args)
  t.equal(first.next_cursor, 'at-5', 'few points say how to get all')
  const seen: unknown[][] = []
  for (let cursor = first.next_cursor; cursor !== null; ) {
    const page = await one.call('get_series', { ...args, cursor })
    const [height, energy] = rowsOf(page.series) as { frames: number[]; values: number[] }[]
    for (const [i, frame] of (height?.frames ?? []).entries())
      seen.push([frame, height?.values[i], energy?.values[i]])
    cursor = page.next_cursor
  }
  const wanted: unknown[][] = []
  for (let frame_id = 5; frame_id <= 150; frame_id += 29) {
    const { states, system_energy } = await one.call('get_frame', { frame_id })
    const position = rowsOf(states)[0]?.position as { z: number }
    wanted.push([frame_id, position.z, (system_energy as { total_system_e: number }).total_system_e])
  }
  t.same(
    seen.map(([frame]) => frame),
    Array.from({ length: 146 }, (_, i) => i + 5),
  )
  for (const row of wanted) t.same(seen[Number(row[0]) - 5], row)
  const beyond = await one.call('get_series', { ...args, cursor: 'at-151' })
  t.match(beyond, { next_cursor: null, summary: 'No frames from there on.' })
  await t.rejects(one.call('get_series', { ...args, cursor: 'page 2' }), { code: 'INVALID_CURSOR' })
})

verifies('replay:series', 'get_series: a wrong name is refused with what was meant', async (t) => {
  const one = await ask(t, 'slide_at_45')
  const read = (name: string) => one.call('get_series', { series: [name] })
  await t.rejects(read('body.1.sped'), { code: 'INVALID_ARGUMENTS', data: { did_you_mean: 'body.1.speed' } })
  await t.rejects(read('enrgy.total'), { code: 'INVALID_ARGUMENTS', data: { did_you_mean: 'energy.total' } })
  await t.rejects(read('body.x.speed'), { code: 'INVALID_ARGUMENTS' })
  await t.rejects(read('body.9.speed'), { code: 'BODY_NOT_FOUND' })
  await t.rejects(read('pair.1'), { code: 'INVALID_ARGUMENTS' })
  await t.rejects(read('__proto__'), { code: 'INVALID_ARGUMENTS' })
})

verifies(
  'replay:trajectory',
  'get_body_trajectory: few points keep the shape, lengths are exact',
  async (t) => {
    const one = await ask(t, 'drop')
    const whole = await one.call('get_body_trajectory', { body_id: 2 })
    const few = await one.call('get_body_trajectory', { body_id: 2, max_points: 6 })
    t.equal(few.path_length_m, whole.path_length_m)
    t.equal(rowsOf(few.points).length, 6)
    t.ok(Number(few.shape_error_m) < 0.2 * Number(few.path_length_m))
    t.match(few, { truncated: true, min_z: whole.min_z as object, max_speed: whole.max_speed as object })
  },
)

verifies('replay:search', 'search_frames: runs of frames that meet a condition, in pages', async (t) => {
  const one = await ask(t, 'slide_at_45')
  const slides = await one.call('search_frames', { predicate: 'speed(1) > 0.5 and contact(1, floor)' })
  t.equal(rowsOf(slides.runs)[0]?.first_frame, 45)
  const jumps = await one.call('search_frames', { predicate: 'abs(delta_e) > 1' })
  t.same(rowsOf(jumps.runs).map(({ first_frame }) => first_frame)[0], 45)
  const none = await one.call('search_frames', { predicate: 'not (time >= 0)' })
  t.match(none, { count: 0, runs: [], frames: 0, searched: 120 })
  const odd = { predicate: 'frame == 3 or frame == 5 or frame == 7', max_points: 2 }
  const first = await one.call('search_frames', odd)
  t.match(first, { count: 3, truncated: true })
  const second = await one.call('search_frames', { ...odd, cursor: first.next_cursor })
  t.match(second, { runs: [{ first_frame: 7, frames: 1 }], next_cursor: null })
})

verifies(
  'replay:search',
  'search_frames: a condition that cannot be read is refused at its place',
  async (t) => {
    const one = await ask(t, 'slide_at_45')
    const refused = async (predicate: string, position: number, data = {}) =>
      t.rejects(
        one.call('search_frames', { predicate }),
        { code: 'INVALID_ARGUMENTS', data: { position, ...data } },
        predicate,
      )
    await refused('speed(1) >', 10)
    await refused('speed(1) > 1 and', 16)
    await refused('speed(1) > 1 2', 13)
    await refused('sped(1) > 1', 0, { did_you_mean: 'body.1.speed' })
    await refused('speed(1) > 1; drop', 12)
    await refused(`${'('.repeat(300)}1`, 40)
    await refused('and', 0)
  },
)
