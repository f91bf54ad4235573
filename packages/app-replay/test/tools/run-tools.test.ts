import { makeRoots } from '@causeway/app-kit'
import { openForTest } from '@causeway/app-kit/testing'
import type { RunSummary } from '@causeway/recording'
import t from 'tap'
import { requirePackages } from '../../../../test/downloads/optional.ts'
import { verifies } from '../../../../test/verifies.ts'
import { frameLines, runLine, streamLines } from '../../../recording/test/run-lines.ts'
import replay from '../../src/index.ts'
import type { ReplayStore } from '../../src/store/store.ts'
import { fixtures, openReplay, toRows } from '../replay-kit.ts'

t.setTimeout(120_000)

const provenance = {
  branch: 'main',
  seed: null,
  host: 'ci',
  engine_version: '2',
  tags: [] as readonly string[],
}

function makeSummary(i: number, change: Partial<RunSummary> = {}): RunSummary {
  const isBad = i >= 600
  return {
    ...provenance,
    recording: `run-${i}`,
    name: `run-${i}`,
    revision: 'finished/1000',
    sealed_ms: i * 1000,
    status: 'finished',
    frames: 1000,
    bodies: 10,
    duration_s: 10,
    commit: `commit-${Math.floor(i / 20)}`,
    scenario: `scenario-${i % 4}`,
    verdict: {
      checked: ['finite_numbers'],
      not_checked: [],
      errors: isBad ? 1 : 0,
      kinds: isBad ? ['blow_up'] : [],
      first_bad_frame: isBad ? 10 : null,
      first_bad_kind: isBad ? 'blow_up' : null,
      worst_penetration_m: i / 1e6,
      worst_speed_m_s: 1,
      worst_energy_step_j: 1,
      worst_iterations: 10,
      worst_residual: 1e-6,
    },
    ...change,
  }
}

verifies('replay:runs:summary', 'a run that was removed before its diagnosis is not counted', async (t) => {
  const { app, client } = await openReplay(t, [])
  const { recorder, runs } = app.store as ReplayStore
  for (const name of ['kept', 'removed']) {
    await recorder.write(name, streamLines([runLine, ...frameLines(1, 5)]))
    await recorder.finish(name)
  }
  await recorder.remove('removed')
  t.match(await client().call('list_runs'), { total: 1, not_diagnosed: 1 })
  await runs.waitUntilSettled()
  t.match(await client().call('list_runs'), { total: 1, not_diagnosed: 0, runs: [{ name: 'kept' }] })
})

verifies('replay:runs:summary', 'a sealed run is summarised, diagnosed and listed', async (t) => {
  const { app, client } = await openReplay(t, [])
  const store = app.store as ReplayStore
  const one = client()
  await store.recorder.write('run', streamLines([runLine, ...frameLines(1, 30)]))
  t.match(await one.call('list_runs'), { total: 0, runs: [] }, 'a live run has no summary')
  await store.recorder.finish('run')
  t.match(await one.call('list_runs'), { total: 1, not_diagnosed: 1, bad: 0, without_error: 0 })
  await store.runs.waitUntilSettled()
  const listed = await one.call('list_runs')
  t.match(listed, { total: 1, not_diagnosed: 0 })
  const [row] = toRows(listed.runs)
  t.match(row, { name: 'run', status: 'finished', frames: 30, bodies: 2, diagnosed: true, commit: null })
  t.ok(Number(row?.worst_penetration_m) > 0.0009 && Number(row?.worst_penetration_m) < 0.0011)
  const { counts, findings } = await one.call('diagnose', { recording: 'run' })
  t.equal(
    Number(row?.errors) > 0,
    toRows(findings).some(({ severity }) => severity === 'error'),
    String(counts),
  )

  await store.recorder.write('other', streamLines([runLine, ...frameLines(1, 5)]))
  await store.recorder.finish('other')
  await store.recorder.remove('other')
  await store.runs.waitUntilSettled()
  t.match(await one.call('list_runs'), { total: 1 }, 'a removed run has no summary')
})

verifies('replay:runs:summary', 'runs that an earlier process recorded are diagnosed', async (t) => {
  const dir = t.testdir()
  const open = () => openForTest(replay, { dir, roots: makeRoots(() => [], 'CAUSEWAY_RECORDING_ROOTS') })
  const before = await open()
  await (before.store as ReplayStore).recorder.write('run', streamLines([runLine, ...frameLines(1, 10)]))
  await before.close()
  const after = await open()
  t.teardown(() => after.close())
  t.match(await after.client().call('list_runs'), { total: 1, not_diagnosed: 1 })
  await (after.store as ReplayStore).runs.waitUntilSettled()
  const listed = await after.client().call('list_runs')
  t.match(listed, { not_diagnosed: 0, runs: [{ status: 'interrupted', diagnosed: true }] })
})

verifies('replay:runs:summary', 'a file gets a summary when it is diagnosed as a whole', async (t) => {
  const app = await openForTest(replay, {
    dir: t.testdir(),
    roots: makeRoots(() => [fixtures], 'CAUSEWAY_RECORDING_ROOTS'),
  })
  t.teardown(() => app.close())
  const one = app.client()
  await one.call('diagnose', { recording: 'nan', start_frame: 1, end_frame: 20 })
  await one.call('diagnose', { recording: 'nan', law: 'numerics' })
  t.match(await one.call('list_runs'), { total: 0 }, 'neither a range nor one law is the whole')
  await t.rejects(one.call('runs_like', { recording: 'nan' }), { code: 'NOT_DIAGNOSED' })
  for (const recording of ['nan', 'drop', 'energy_injection']) await one.call('diagnose', { recording })
  const listed = await one.call('list_runs', { where: { bad: true }, order: 'first_bad_frame' })
  t.match(listed, { total: 2, runs: [{ status: 'file' }, { status: 'file' }] })
  t.ok(toRows(listed.runs).some(({ kinds }) => (kinds as string[]).includes('nan')))
  t.match(await one.call('runs_like', { recording: 'nan' }), { compared: 1 })
})

verifies('replay:runs:regression', 'the tools can process 1,000 runs', async (t) => {
  const { app, client } = await openReplay(t, [])
  const { runs } = app.store as ReplayStore
  for (let i = 0; i < 1000; i++) runs.put(makeSummary(i))
  for (let i = 1000; i < 1010; i++) runs.put(makeSummary(i, { verdict: null }))
  const one = client()
  const found = await one.call('find_regression')
  t.match(found, {
    found: { commit: 'commit-30', previous_commit: 'commit-29', share_before: 0, share_after: 1 },
    not_diagnosed: 10,
    bad: 400,
  })
  t.match(
    found.summary,
    /^Since commit-30, .*0 of 600 runs before, 400 of 400 runs after.*Not diagnosed: 10 of/,
  )
  t.match(await one.call('find_regression', { metric: 'jitter' }), {
    found: null,
    summary: /^No significant/,
  })
  t.match(await one.call('find_regression', { since: 'commit-30' }), { found: null })
  await t.rejects(one.call('find_regression', { since: 'other' }), { code: 'INVALID_ARGUMENTS' })
  await t.rejects(one.call('find_regression', { metric: 'speed' }), { code: 'INVALID_ARGUMENTS' })
  const compared = await one.call('compare_commits', { scenario: 'scenario-1' })
  t.equal(toRows(compared.commits).length, 51)
  t.match(toRows(compared.commits)[30], { commit: 'commit-30', runs: 5, bad: 5, kinds: { blow_up: 5 } })
  const worst = await one.call('list_runs', { order: '-worst_penetration_m', max_points: 2 })
  t.match(worst, { runs: [{ recording: 'run-999' }, { recording: 'run-998' }], truncated: true })
  const next = await one.call('list_runs', {
    order: '-worst_penetration_m',
    max_points: 2,
    cursor: worst.next_cursor,
  })
  t.match(next, { runs: [{ recording: 'run-997' }, { recording: 'run-996' }] })
  t.match(await one.call('runs_like', { recording: 'run-999' }), { runs: [{ recording: 'run-998' }] })
})

verifies('replay:runs:regression', 'find_regression reports whether it omitted commits', async (t) => {
  const { app, client } = await openReplay(t, [])
  const { runs } = app.store as ReplayStore
  for (let i = 0; i < 250; i++) runs.put(makeSummary(i, { commit: `commit-${i}.` }))
  const one = client()
  t.match(await one.call('find_regression'), { commits: 200, truncated: true })
  t.match(await one.call('find_regression', { since: 'commit-10.' }), { commits: 200, truncated: true })
  t.match(await one.call('find_regression', { since: 'commit-50.' }), { commits: 200, truncated: false })
})

verifies(
  'replay:runs:summary',
  'worst_energy_step_j compares consecutive frames of the same bodies',
  async (t) => {
    const bodies = [1, 2].map((id) => ({ id, mass: 2 }))
    const state = (id: number, speed: number) => ({ id, position: [id, 0, 0], velocity: [speed, 0, 0] })
    /** Body 1 becomes faster in each frame. Body 2, with 100 J, exists only in frames 3 and 4. */
    const line = (frame: number, speed: number) => ({
      frame_id: frame,
      time: frame * 0.01,
      bodies: [state(1, speed), ...(frame === 3 || frame === 4 ? [state(2, 10)] : [])],
      contacts: [],
    })
    const lines = [line(1, 1), line(2, 2), line(3, 2), line(4, 2), line(5, 2), line(9, 20), line(10, 20)]
    const { app, client } = await openReplay(t, [])
    const { recorder, runs } = app.store as ReplayStore
    const run = { run: { dt: 0.01, gravity: [0, 0, 0], bodies } }
    await recorder.write('run', streamLines([run, ...lines].map((one) => JSON.stringify(one))))
    await recorder.finish('run')
    await runs.waitUntilSettled()
    t.match((await client().call('list_runs')).runs, [{ worst_energy_step_j: 3 }])
  },
)

const skip = requirePackages('duckdb')

verifies('recording:lake:questions', 'query_runs exports finished runs and answers questions', async (t) => {
  if (skip !== false) return void t.pass('DuckDB', { skip })
  const { app, client } = await openReplay(t, [])
  const store = app.store as ReplayStore
  const one = client()
  t.match(await one.call('query_runs', { question: 'blew_up' }), {
    rows: [],
    engine: 'DuckDB',
    not_exported: 0,
  })
  await store.recorder.write('run', streamLines([runLine, ...frameLines(1, 30)]))
  t.match(
    await one.call('query_runs', { question: 'blew_up', threshold: -1 }),
    { rows: [] },
    'a live run is left out',
  )
  await store.recorder.finish('run')
  const answer = await one.call('query_runs', { question: 'blew_up', threshold: -1 })
  t.match(toRows(answer.rows), [{ recording: 'run', first_frame: 1, frames: 30 }])
  t.match(await one.call('query_runs', { question: 'worst_depth' }), { rows: [{ recording: 'run' }] })
})

t.test('an unreadable catalogue stops the diagnosis of sealed runs, but not the server', async (t) => {
  const { app } = await openReplay(t, [])
  const { recorder, runs } = app.store as ReplayStore
  await recorder.write('drop', streamLines([runLine, ...frameLines(1, 5)]))
  await recorder.finish('drop')
  recorder.findEntry = () => {
    throw new Error('database disk image is malformed')
  }
  await t.resolves(runs.waitUntilSettled())
})
