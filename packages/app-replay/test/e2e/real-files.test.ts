import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import type { TestClient } from '@causeway/app-kit/testing'
import type { Test } from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import type { ReplayStore } from '../../src/store/store.ts'
import { fps, frameLine, kick, runLine } from '../falling.ts'
import { holds } from '../near.ts'
import { openReplay, toRows } from '../replay-kit.ts'

/** Recordings of the original C++ recorder, compared with independently computed answers. */

const folder = process.env.CAUSEWAY_REAL_RECORDINGS
const skip = folder === undefined && 'CAUSEWAY_REAL_RECORDINGS names no folder of real recordings'
const names = ['drop', 'friction_slide', 'legacy_notangent']

// biome-ignore lint/suspicious/noExplicitAny: the sidecar is data of another program, compared and never relied on
type Sidecar = any

const sidecar = (name: string): Sidecar =>
  JSON.parse(readFileSync(join(folder ?? '', `${name}.json`), 'utf8'))

async function load(t: Test, name: string): Promise<TestClient> {
  const client = (await openReplay(t, [name], { source: folder ?? '' })).client()
  await client.call('load_recording', { path: `${name}.db` })
  return client
}

verifies('recording:real-files', 'the tools agree with independently computed answers', async (t) => {
  for (const name of names)
    await t.test(name, { skip }, async (t) => {
      const expected = sidecar(`${name}.expected`)
      const client = await load(t, name)
      await checkSeries(t, client, expected)
      await checkEveryFrame(t, client, expected)
      for (const sample of expected.sample_frames) await checkFrame(t, client, sample)
      await checkPairs(t, client, expected)
    })
})

async function checkSeries(t: Test, client: TestClient, expected: Sidecar): Promise<void> {
  const { frames, bodies, contact_body_ids_without_metadata: environment } = expected
  const metadata = await client.call('get_metadata')
  holds(t, metadata, { bodies, total_frames: frames.count, first_frame: frames.first_id }, 'metadata')
  holds(
    t,
    toRows(metadata.environment_bodies).map(({ body_id }) => body_id),
    environment,
    'environment',
  )

  const { points, first, second, last, min_total, max_total } = expected.system_energy
  const energy = await client.call('get_system_energy', { max_points: 2000 })
  const rows = toRows(energy.energy_points)
  holds(t, [rows[0], rows[1], rows.at(-1)], [first, second, last], 'system energy')
  holds(t, energy.totals, { count: points, min: min_total, max: max_total }, 'its totals')
  for (const [threshold, { count, frames }] of Object.entries<Sidecar>(expected.energy_anomalies)) {
    const found = await client.call('find_energy_anomalies', {
      threshold: Number(threshold),
      max_points: 2000,
    })
    const anomalies = toRows(found.anomalies)
    t.equal(anomalies.length, count, `anomalies above ${threshold} J`)
    holds(t, anomalies.slice(0, frames.length), frames, `anomalies above ${threshold} J`)
    const { counts } = found as { counts: { baseline: number } }
    t.equal(Number(found.count) + counts.baseline, count, 'only baselines are not counted')
  }
  for (const [body, { points, first, middle, last, min_total_e, max_total_e }] of Object.entries<Sidecar>(
    expected.body_energy,
  )) {
    const answer = await client.call('get_body_energy', { body_id: Number(body), max_points: 2000 })
    const rows = toRows(answer.energy_points)
    const at = rows.find(({ frame_id }) => frame_id === middle.frame_id)
    holds(t, [rows[0], at, rows.at(-1)], [first, middle, last], `energy of ${body}`)
    holds(t, answer.totals, { count: points, min: min_total_e, max: max_total_e }, `totals of ${body}`)
  }
  const { converged_false, converged_false_with_contacts, max_iterations, max_residual } = expected.solver
  const solver = await client.call('get_solver_diagnostics', { max_points: 2000 })
  const diagnostics = toRows(solver.diagnostics)
  t.equal(diagnostics.length, expected.solver.points)
  t.equal(diagnostics.filter(({ converged }) => converged === false).length, converged_false)
  holds(t, solver, { not_converged: converged_false_with_contacts, max_iterations }, 'solver')
  holds(
    t,
    solver,
    { max_residual: max_residual.residual, max_residual_frame: max_residual.frame_id },
    'residual',
  )
}

/** Compares counts in every frame. */
async function checkEveryFrame(t: Test, client: TestClient, expected: Sidecar): Promise<void> {
  const { first_id, last_id } = expected.frames
  const over: Record<string, number> = Object.fromEntries(
    Object.keys(expected.penetration.frames_over).map((threshold) => [threshold, 0]),
  )
  const violations: Record<string, number> = {}
  const strict: Record<string, number> = {}
  for (let frame_id = first_id; frame_id <= last_id; frame_id++) {
    const { max_penetration_depth, excessive_penetrations } = await client.call('check_penetration', {
      frame_id,
      threshold: 0,
    })
    for (const threshold of Object.keys(over)) {
      const depths = toRows(excessive_penetrations).map((row) => Number(row.penetration_depth))
      if (depths.some((depth) => depth > Number(threshold))) over[threshold] = (over[threshold] ?? 0) + 1
    }
    if (frame_id === expected.penetration.frame_id)
      holds(t, max_penetration_depth, expected.penetration.max, 'deepest frame')
    if (expected.friction_cone.rows === 0) continue
    const cone = await client.call('check_friction_cone', { frame_id })
    if (Number(cone.violation_count) > 0) violations[frame_id] = Number(cone.violation_count)
    if (Number(cone.strict_violation_count) > 0) strict[frame_id] = Number(cone.strict_violation_count)
  }
  t.same(over, expected.penetration.frames_over)
  t.same(violations, expected.friction_cone.violations_1pct_rule.frames)
  t.same(strict, expected.friction_cone.violations_1pct_plus_1e_6.frames)
}

async function checkFrame(t: Test, client: TestClient, sample: Sidecar): Promise<void> {
  const { frame_id, frame } = sample
  holds(t, await client.call('get_frame', { frame_id }), frame, `frame ${frame_id}`)
  for (const state of frame.states)
    holds(t, await client.call('get_body_state', { frame_id, body_id: state.body_id }), state, 'state')
  for (const [body, contacts] of Object.entries(sample.contacts_for_body)) {
    const answer = await client.call('get_contacts_for_body', { frame_id, body_id: Number(body) })
    t.equal(toRows(answer.contacts).length, contacts, `contacts of ${body} in frame ${frame_id}`)
  }
  const penetration = await client.call('check_penetration', { frame_id, threshold: 0.01 })
  holds(t, penetration.excessive_penetrations, sample['penetration_over_0.01'], 'penetrations')
  for (const threshold of [0.01, 0.2]) {
    const wanted = sample[`resting_${threshold}`]
    const answer = await client.call('check_resting_contact', { frame_id, velocity_threshold: threshold })
    const byCollision = wanted.bodies_in_contact_by_collision_rows
    t.equal(answer.bodies_in_contact, byCollision.length, `bodies in contact in frame ${frame_id}`)
    // Without friction rows, the original server reported no contacts.
    if (answer.source === 'collisions') continue
    t.equal(answer.environment_in_contact, wanted.environment_ids_in_contact.length)
    const moving = wanted.moving.map((body: Sidecar) => ({
      body_id: body.body_id,
      velocity_magnitude: body.speed,
      angular_velocity_magnitude: body.angular_speed,
    }))
    holds(t, answer.moving_bodies, moving, `moving bodies in frame ${frame_id}`)
  }
  if (sample.friction_cone.length === 0) return
  const cone = await client.call('check_friction_cone', { frame_id })
  const rows = sample.friction_cone.map(
    ({ margin_with_1pct: _, margin_without, exceeds_limit_abs_tol_1e_6, ...row }: Sidecar) => ({
      ...row,
      margin: margin_without,
      exceeds_limit_strict: exceeds_limit_abs_tol_1e_6,
    }),
  )
  holds(t, cone.violations, rows, `cone in frame ${frame_id}`)
}

async function checkPairs(t: Test, client: TestClient, expected: Sidecar): Promise<void> {
  for (const { body_id, frame_a, frame_b, body_missing, ...change } of expected.compare) {
    const call = client.call('compare_body_across_frames', { body_id, frame_a, frame_b })
    if (body_missing) await t.rejects(call, { code: 'BODY_NOT_FOUND' })
    else holds(t, await call, change, `body ${body_id} from ${frame_a} to ${frame_b}`)
  }
  for (const pair of expected.contact_history) {
    const { body_a_id, body_b_id, start_frame, end_frame } = pair
    const range = { body_a_id, body_b_id, start_frame, end_frame, max_points: 2000 }
    const answer = await client.call('get_contact_history', range)
    if (answer.source === 'collisions') {
      const isPair = (row: Sidecar): boolean => row.body_a_id === body_a_id && row.body_b_id === body_b_id
      const { frames } = expected.collision_pairs.find(isPair)
      t.match(answer, { frames_with_contact: frames }, 'without friction rows the collisions count')
      t.equal(pair.frames_with_contact, 0)
      continue
    }
    const rows = toRows(answer.contact_history)
    t.equal(rows.length, pair.frames_with_contact)
    t.equal(
      rows.reduce((sum, row) => sum + Number(row.num_contacts), 0),
      pair.total_rows,
    )
    const runs = toRows(answer.runs).map(({ first_frame, last_frame }) => [first_frame, last_frame])
    t.same(runs, pair.contiguous_runs)
  }
}

verifies(
  'recording:real-files',
  'the tools agree with the original server, except for documented decisions',
  async (t) => {
    for (const name of names)
      await t.test(name, { skip }, async (t) => {
        const client = await load(t, name)
        for (const call of sidecar(`${name}.upstream`).calls) await checkCall(t, client, call)
      })
  },
)

async function checkCall(
  t: Test,
  client: TestClient,
  { tool, arguments: args, result, result_digest }: Sidecar,
) {
  const label = `${tool} ${JSON.stringify(args)}`
  const call = () => client.call(tool, args)
  if (result?.error !== undefined || result?.JSONRPC_ERROR !== undefined) {
    await t.rejects(call(), { code: /^[A-Z_]+$/ }, label)
    return
  }
  // For missing bodies and energies, the original server returned an empty list instead of an error.
  if (tool === 'get_body_energy' && result?.energy_points.length === 0) {
    await t.rejects(call(), { code: 'BODY_NOT_FOUND' }, label)
    return
  }
  const { missing } = await client.call('get_metadata')
  if (tool === 'check_friction_cone' && (missing as string[]).includes('tangent_lambdas')) {
    await t.rejects(call(), { code: 'NOT_RECORDED' }, label)
    return
  }
  const answer = await call()
  if (result === undefined) checkDigest(t, { tool, args, answer, digest: result_digest, label })
  else checkResult(t, { tool, answer, result, label })
}

function checkResult(t: Test, { tool, answer, result, label }: Sidecar): void {
  const { summary: _, path: __, ...wanted } = result
  if (tool === 'check_friction_cone')
    wanted.violations = wanted.violations.map(({ margin, ...row }: Sidecar) => ({
      ...row,
      margin: margin - 0.01 * row.friction_limit,
    }))
  if (tool === 'check_resting_contact') {
    if (answer.source === 'collisions') return
    // The original server also counted the environment.
    wanted.bodies_in_contact -= answer.environment_in_contact
  }
  holds(t, answer, wanted, label)
}

function checkDigest(t: Test, { tool, args, answer, digest, label }: Sidecar): void {
  const { first, last, points, count } = digest
  if (tool === 'find_energy_anomalies') t.equal(answer.count + answer.counts.baseline, count, label)
  else if (tool === 'get_contact_history') {
    if (answer.source === 'friction') t.equal(answer.contact_history.length, digest.frames, label)
  } else {
    const rows = toRows(answer.energy_points ?? answer.diagnostics)
    const isSolver = tool === 'get_solver_diagnostics'
    // The original server omitted the last frame of an open range.
    t.equal(answer.totals.count, isSolver && args.end_frame === undefined ? points + 1 : points, label)
    holds(t, rows[0], first, label)
    if (!isSolver) holds(t, rows.at(-1), last, label)
  }
}

const seconds = 5

/** Returns the frames of second `n`, as lines. */
const second = (n: number): Buffer =>
  Buffer.from(Array.from({ length: fps }, (_, i) => `${frameLine(fps * n + i + 1)}\n`).join(''))

verifies('replay:live', async (t) => {
  const { app, client } = await openReplay(t, [])
  const { recorder } = app.store as ReplayStore
  const engine = new PassThrough()
  engine.write(`${runLine}\n`)
  const recorded = recorder.write('live', engine)
  const flushed: number[] = []
  let stored = (_last: number): void => {}
  recorder.onStored(async (name) => {
    const { last_frame_id } = await recorder.state(name)
    flushed.push(last_frame_id ?? 0)
    stored(last_frame_id ?? 0)
  })
  /** Writes a second of frames. Resolves when they are stored. */
  const record = (n: number): Promise<void> =>
    new Promise((resolve) => {
      stored = (last) => last === fps * (n + 1) && resolve()
      engine.write(second(n))
    })
  const [tail, doctor] = [client(), client()]
  const seen: unknown[] = []
  let after: unknown
  const follow = async (): Promise<void> => {
    for (let more: unknown = true; more; ) {
      const page = await tail.call('tail_recording', { recording: 'live', limit: 50, after_frame: after })
      seen.push(...toRows(page.frames).map(({ frame_id }) => frame_id))
      after = page.next_frame
      more = page.more
    }
  }
  await record(0)
  after = 0
  for (let n = 1; n < seconds; n++) {
    // The calls run while the next second is recorded, and must not delay it.
    const asked = Promise.all([doctor.call('diagnose', { recording: 'live' }), follow()])
    await record(n)
    const [{ findings, frames_checked }] = await asked
    t.ok(Number(frames_checked) >= fps * n, 'the answer includes what was stored before the request')
    const found = toRows(findings).filter(({ severity }) => severity !== 'info')
    if (Number(frames_checked) < kick.frame) t.same(found, [], 'there is no finding before the fault')
    else if (fps * n > kick.frame)
      t.match(found[0], { kind: 'energy_injection', bodies: [kick.body], frames: { first: kick.frame } })
  }
  engine.end()
  t.match(await recorded, { accepted: fps * seconds, ignored: 0, last_frame_id: fps * seconds })
  await recorder.finish('live')
  await follow()
  t.same(
    seen,
    Array.from({ length: fps * seconds }, (_, i) => i + 1),
    'the client received every frame once',
  )
  t.same(
    flushed,
    flushed.toSorted((a, b) => a - b),
  )
  t.ok(
    flushed.filter((last) => last % fps === 0).length >= seconds,
    'every second was stored before the next one was sent',
  )
})
