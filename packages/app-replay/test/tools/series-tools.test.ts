import { verifies } from '../../../../test/verifies.ts'
import { streamLines } from '../../../recording/test/run-lines.ts'
import { formatNumber } from '../../src/domain/sentence.ts'
import type { ReplayStore } from '../../src/store/store.ts'
import { ask, openReplay, readText, toRows } from '../replay-kit.ts'

verifies(
  'replay:series',
  'get_series returns recorded values, exact totals, and the peaks of a long series',
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
    const [speed, , delta, , force] = toRows(series) as { frames: number[]; values: number[]; unit: string }[]
    t.same(speed?.frames, [40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50])
    for (const frame_id of [44, 45]) {
      const state = await one.call('get_body_state', { body_id: 1, frame_id })
      t.ok(Math.abs((speed?.values[frame_id - 40] ?? 0) - Number(state.speed)) < 1e-12)
    }
    const anomalies = toRows((await one.call('find_energy_anomalies')).anomalies)
    t.equal(delta?.values[5], anomalies.find(({ frame_id }) => frame_id === 45)?.delta_e)
    t.equal(force?.unit, 'N')
    t.ok(Math.abs((force?.values[0] ?? 0) - 98.1) < 1, 'a body of 10 kg at rest weighs on the floor')
    const cut = toRows((await one.call('get_series', { series: ['energy.delta'], max_points: 6 })).series)
    t.match(cut, [{ truncated: true, max_frame: 45, count: 120 }])
    const [{ frames = [] } = {}] = cut
    t.ok((frames as number[]).includes(45))
  },
)

verifies('replay:series', 'get_series does not return an energy change in the first frame', async (t) => {
  const one = await ask(t, 'drop')
  const [delta] = toRows((await one.call('get_series', { series: ['energy.delta'] })).series)
  t.match(delta, { values: [null], nonfinite: 1 })
})

verifies('replay:series', 'get_series returns every value once, page by page, in frame order', async (t) => {
  const one = await ask(t, 'drop')
  const args = { series: ['body.2.position.z', 'energy.total'], max_points: 40, start_frame: 5 }
  const first = await one.call('get_series', args)
  t.equal(first.next_cursor, 'at-5', 'few points include a cursor')
  const seen: unknown[][] = []
  for (let cursor = first.next_cursor; cursor !== null; ) {
    const page = await one.call('get_series', { ...args, cursor })
    const [height, energy] = toRows(page.series) as { frames: number[]; values: number[] }[]
    for (const [i, frame] of (height?.frames ?? []).entries())
      seen.push([frame, height?.values[i], energy?.values[i]])
    cursor = page.next_cursor
  }
  const wanted: unknown[][] = []
  for (let frame_id = 5; frame_id <= 150; frame_id += 29) {
    const { states, system_energy } = await one.call('get_frame', { frame_id })
    const position = toRows(states)[0]?.position as { z: number }
    wanted.push([frame_id, position.z, (system_energy as { total_system_e: number }).total_system_e])
  }
  t.same(
    seen.map(([frame]) => frame),
    Array.from({ length: 146 }, (_, i) => i + 5),
  )
  for (const row of wanted) t.same(seen[Number(row[0]) - 5], row)
  const beyond = await one.call('get_series', { ...args, cursor: 'at-151' })
  t.match(beyond, { next_cursor: null, summary: 'There are no more frames.' })
  await t.rejects(one.call('get_series', { ...args, cursor: 'page 2' }), { code: 'INVALID_CURSOR' })
})

verifies('replay:series', 'get_series suggests the correct name for an unknown one', async (t) => {
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
  "get_body_trajectory preserves the path's shape and returns exact lengths",
  async (t) => {
    const one = await ask(t, 'drop')
    const whole = await one.call('get_body_trajectory', { body_id: 2 })
    const few = await one.call('get_body_trajectory', { body_id: 2, max_points: 6 })
    t.equal(few.path_length_m, whole.path_length_m)
    t.equal(toRows(few.points).length, 6)
    t.ok(Number(few.shape_error_m) < 0.2 * Number(few.path_length_m))
    t.match(few, { truncated: true, min_z: whole.min_z as object, max_speed: whole.max_speed as object })
    t.same(
      await one.call('get_series', { path_of: 2, max_points: 6 }),
      few,
      'the listed tool returns the same',
    )
    for (const args of [{}, { path_of: 2, series: ['energy.total'] }])
      await t.rejects(one.call('get_series', args), { code: 'INVALID_ARGUMENTS' })
  },
)

verifies(
  'replay:search',
  'search_frames returns, in pages, the runs of frames that meet a condition',
  async (t) => {
    const one = await ask(t, 'slide_at_45')
    const slides = await one.call('search_frames', { predicate: 'speed(1) > 0.5 and contact(1, floor)' })
    t.equal(toRows(slides.runs)[0]?.first_frame, 45)
    const jumps = await one.call('search_frames', { predicate: 'abs(delta_e) > 1' })
    t.same(toRows(jumps.runs).map(({ first_frame }) => first_frame)[0], 45)
    const none = await one.call('search_frames', { predicate: 'not (time >= 0)' })
    t.match(none, { count: 0, runs: [], frames: 0, searched: 120 })
    const odd = { predicate: 'frame == 3 or frame == 5 or frame == 7', max_points: 2 }
    const first = await one.call('search_frames', odd)
    t.match(first, { count: 3, truncated: true })
    const second = await one.call('search_frames', { ...odd, cursor: first.next_cursor })
    t.match(second, { runs: [{ first_frame: 7, frames: 1 }], next_cursor: null })
  },
)

verifies('replay:search', 'search_frames reports the position of a syntax error', async (t) => {
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
})

verifies(
  'replay:explain',
  'explain_frame balances the forces on a resting body and names the cause of a push',
  async (t) => {
    const client = await ask(t, 'slide_at_45')
    const rest = await client.call('explain_frame', { frame_id: 44 })
    const [body] = toRows(rest.balances)
    t.ok(Number(body?.unexplained_n) < 1)
    const { z } = (body?.contact_n ?? { z: 0 }) as { z: number }
    t.ok(Math.abs(z - 98.1) < 1)
    t.same(rest.findings, [])
    const push = await client.call('explain_frame', { frame_id: 45 })
    t.match(toRows(push.findings)[0], { kind: 'friction_cone' })
    t.match(toRows(push.contacts)[0], { exceeds_limit: true, is_new: false })
    t.ok(toRows(push.contacts).some(({ utilization }) => Number(utilization) > 10))
  },
)

verifies('replay:explain', 'explain_frame returns laws, energy and solver only on request', async (t) => {
  for (const [name, frame_id] of [
    ['drop', 100],
    ['slide_at_45', 45],
    ['cone_violation', 30],
  ] as const) {
    const client = await ask(t, name)
    const short = await client.call('explain_frame', { frame_id })
    const long = await client.call('explain_frame', { frame_id, details: true })
    const { checked, not_applicable, not_checked, system_energy, solver, ...rest } = long
    t.ok([checked, not_applicable, not_checked, system_energy, solver].every((part) => part !== undefined))
    t.same(short, rest)
    t.ok(2 * JSON.stringify(short).length <= JSON.stringify(long).length, `half the size: ${name}`)
  }
})

verifies('replay:explain', 'explain_frame includes external forces', async (t) => {
  const { app, client } = await openReplay(t, [])
  const [mass, dt, g, thrust] = [10, 0.01, 9.81, 50]
  const run = { gravity: [0, 0, -g], dt, bodies: [{ id: 1, mass }] }
  /** A body that falls and, from the second frame on, is pushed along x, by semi-implicit Euler. */
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
  await (app.store as ReplayStore).recorder.write('thrust', streamLines(lines))
  const story = await client().call('explain_frame', { recording: 'thrust', frame_id: 10 })
  const [body] = toRows(story.balances)
  t.match(body, { external_n: { x: thrust, y: 0, z: 0 }, contact_n: { x: 0 } })
  t.ok(Math.abs(Number(body?.unexplained_n)) < 1e-9)
  t.same(story.findings, [])
  const frame = await client().call('get_frame', { recording: 'thrust', frame_id: 10, details: true })
  t.match(frame, { external_forces: [{ body_id: 1, force: { x: 40 } }, {}], counts: { external_forces: 2 } })
})

verifies(
  'replay:explain',
  'explain_frame does not return changes or inertial forces for the first frame',
  async (t) => {
    const client = await ask(t, 'drop')
    const { changes, balances } = await client.call('explain_frame', { frame_id: 1 })
    t.same(changes, ['there is no frame before this one'])
    t.equal(toRows(balances)[0]?.inertial_n, null)
  },
)

verifies('replay:timeline', 'timeline reports an impact and then rest for a dropped body', async (t) => {
  const client = await ask(t, 'drop')
  const { events, counts } = await client.call('timeline')
  const kinds = toRows(events).map(({ kind }) => kind)
  t.ok(kinds.indexOf('contact_begin') < kinds.indexOf('impact'))
  t.ok(kinds.indexOf('impact') < kinds.indexOf('rest'))
  const impact = toRows(events).find(({ kind }) => kind === 'impact')
  t.match(impact, { bodies: [2, 2147483649], unit: 'N·s' })
  t.ok(Number(impact?.value) > 0)
  t.equal((counts as Record<string, number>).rest, 1)
})

verifies('replay:timeline', 'timeline filters by kind and rejects unknown kinds', async (t) => {
  const client = await ask(t, 'incline_slides')
  const { events } = await client.call('timeline', { kinds: ['sliding_start'] })
  t.ok(toRows(events).length > 0)
  t.ok(toRows(events).every(({ kind }) => kind === 'sliding_start'))
  await t.rejects(client.call('timeline', { kinds: ['explosion'] }), { code: 'INVALID_ARGUMENTS' })
})

verifies(
  'replay:explain',
  'explain_frame reports a loss of convergence only in its first frame',
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
  'find_solver_stalls returns the run, its bodies and their mass ratio',
  async (t) => {
    const client = await ask(t, 'solver_stall')
    const { runs, count } = await client.call('find_solver_stalls')
    t.equal(count, 1)
    t.match(toRows(runs)[0], { frames: { first: 30, last: 39 }, bodies: [2, 3], mass_ratio: 1000 })
    const listed = await client.call('get_solver_diagnostics', { stalls: true })
    t.match(listed, { stalls: runs as object, stalls_count: 1, summary: /^1 stall in .* mass ratio 1,?000/ })
    const drop = await ask(t, 'drop')
    t.same((await drop.call('find_solver_stalls')).runs, [])
    t.same((await drop.call('get_solver_diagnostics', { stalls: true })).stalls, [])
  },
)

interface Image {
  readonly type: string
  readonly data?: string
  readonly mimeType?: string
  readonly uri?: string
}

/** Reads the width and height from a PNG's header. */
function readSize(content: readonly Image[]): readonly [number, number] {
  const png = Buffer.from(content.find(({ type }) => type === 'image')?.data ?? '', 'base64')
  if (png.toString('latin1', 1, 4) !== 'PNG') throw new Error('not a PNG')
  return [png.readUInt32BE(16), png.readUInt32BE(20)]
}

verifies(
  'replay:plot',
  'plot returns a PNG, exact totals, and a link to an SVG with the cited frame marked',
  async (t) => {
    const one = await ask(t, 'slide_at_45')
    const answer = await one.answer('plot', {
      series: ['energy.total', 'body.1.speed'],
      mark_frame: 45,
      shade_findings: true,
    })
    const content = answer.content as unknown as Image[]
    const [width, height] = readSize(content)
    t.ok(width >= 1000 && height >= 400)
    const link = content.find(({ type }) => type === 'resource_link')
    t.match(link, { uri: /^replay:\/\/recordings\/slide_at_45\/plots\//, mimeType: 'image/svg+xml' })
    const svg = await readText(one, link?.uri)
    const cited = await one.call('get_series', { series: ['energy.total'], start_frame: 45, end_frame: 45 })
    const [{ max } = {}] = toRows(cited.series)
    t.match(svg, `frame 45: ${formatNumber(Number(max))} J`)
    for (const shown of ['frame 45', 'energy (J)', 'speed (m/s)', 'friction cone']) t.match(svg, shown, shown)
    t.match(answer.structuredContent, { series: [{ name: 'energy.total', max_frame: 45 }, {}] })
    await t.rejects(one.read('replay://recordings/slide_at_45/plots/nothing'), { code: 'RESOURCE_NOT_FOUND' })
  },
)

verifies(
  'replay:plot',
  'plot labels the cited value in the first and in the last frame of the range',
  async (t) => {
    const one = await ask(t, 'slide_at_45')
    const range = { series: ['energy.total'], start_frame: 44, end_frame: 46 }
    const { series } = await one.call('get_series', range)
    const [{ values = [] } = {}] = toRows(series) as { values?: number[] }[]
    for (const [frame, value] of [
      [44, values[0]],
      [46, values[2]],
    ] as const) {
      const { content } = await one.answer('plot', { ...range, mark_frame: frame })
      const link = (content as unknown as Image[]).find(({ type }) => type === 'resource_link')
      t.match(await readText(one, link?.uri), `frame ${frame}: ${formatNumber(value ?? null)} J`)
    }
  },
)

verifies(
  'replay:plot',
  'plot rejects zero series, nine series, and a marked frame that does not exist',
  async (t) => {
    const one = await ask(t, 'slide_at_45')
    await t.rejects(one.call('plot', { series: [] }), { code: 'INVALID_ARGUMENTS' })
    await t.rejects(one.call('plot', { series: Array(9).fill('energy.total') }), {
      code: 'INVALID_ARGUMENTS',
    })
    await t.rejects(one.call('plot', { series: ['energy.total'], mark_frame: 4000 }), {
      code: 'FRAME_NOT_FOUND',
    })
  },
)

verifies('replay:render', 'render_frame labels forces in N and speeds in m/s in every view', async (t) => {
  const one = await ask(t, 'slide_at_45')
  for (const view of ['front', 'side', 'top', 'iso']) {
    const answer = await one.answer('render_frame', { frame_id: 46, view })
    const content = answer.content as unknown as Image[]
    t.same(readSize(content), [1350, 960], view)
    const svg = await readText(one, content.find(({ uri }) => uri !== undefined)?.uri)
    t.match(svg, 'Frame 46, t = 0.184 s')
    t.match(svg, '0.9804 m/s')
    t.equal(svg.includes('98.1 N'), true, 'the weight of the body')
    t.match(svg, '49.05 N', 'friction at its limit')
  }
})

verifies(
  'replay:render',
  'render_frame returns an image for recordings of every era and for positions that are not finite',
  async (t) => {
    const names = ['nan', 'era_states_only', 'era_flat_contacts', 'era_unified', 'tunnelling']
    const { client } = await openReplay(t, names)
    const one = client()
    for (const recording of names) {
      const { last_frame } = await one.call('get_metadata', { recording })
      const frame_id = Math.floor(Number(last_frame) / 2)
      const answer = await one.answer('render_frame', {
        recording,
        frame_id,
        view: 'iso',
      })
      t.same(readSize(answer.content as unknown as Image[]), [1350, 960], recording)
    }
  },
)
