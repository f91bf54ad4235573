import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Recording } from '@causeway/recording'
import type Database from 'better-sqlite3'
import t from 'tap'
import { generatedRecordings } from '../../../fixtures/generate/generated/generated.ts'
import { sample } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { formatPairs } from '../src/domain/recordings/comparison.ts'
import { compareRecordings } from '../src/session/compare-recordings.ts'
import { Notebook } from '../src/store/notebook.ts'
import type { ReplayStore } from '../src/store/store.ts'
import { ask, edit, openReplay, recordRun, toRows } from './replay-kit.ts'

t.setTimeout(300_000)
const { folder, manifest } = await generatedRecordings()

/** Opens a recording and a changed copy of it. */
async function pair(
  t: Parameters<typeof openReplay>[0],
  name: string,
  change: (db: Database.Database) => void,
) {
  const { client, folder } = await openReplay(t, [name])
  copyFileSync(join(folder, `${name}.db`), join(folder, 'after.db'))
  edit(join(folder, 'after.db'), change)
  return client()
}

/** Adds a velocity along x to a body from a frame on. The velocity grows by `factor` per frame. */
const drift = (from: number, size: number, factor: number) => (db: Database.Database) =>
  void db
    .prepare(
      `UPDATE VelocityRecord SET x = x + :size * pow(:factor, (SELECT s.frame_id FROM AssetDynamicStateRecord s JOIN InertialStateRecord i ON i.id = s.kinematicState_id WHERE i.velocity_id = VelocityRecord.id) - :from)
       WHERE id IN (SELECT i.velocity_id FROM AssetDynamicStateRecord s JOIN InertialStateRecord i ON i.id = s.kinematicState_id WHERE s.frame_id >= :from)`,
    )
    .run({ from, size, factor })

verifies(
  'replay:divergence',
  'find_first_divergence returns the first frame that differs, by tolerance and bit by bit',
  async (t) => {
    const one = await pair(t, 'drop', (db) => {
      drift(30, 1e-12, 1)(db)
      drift(50, 1e-3, 1)(db)
    })
    const loose = await one.call('find_first_divergence', { a: 'drop', b: 'after' })
    t.match(loose, { first_frame: 50, differs: [{ field: 'velocity', body_id: 2 }], recording: 'drop' })
    const exact = await one.call('find_first_divergence', { a: 'drop', b: 'after', exact: true })
    t.match(exact, { first_frame: 30, frame_a: { frame_id: 30 }, frame_b: { frame_id: 30 } })
    const same = await one.call('find_first_divergence', { a: 'drop', b: 'drop', exact: true })
    t.match(same, { first_frame: null, differs: [], compared_frames: Number })
  },
)

verifies(
  'replay:compare-recordings',
  'compare_recordings reports how a difference grows and which other fields differ',
  async (t) => {
    const one = await pair(t, 'drop', (db) => {
      drift(40, 1e-4, 1.1)(db)
      db.exec('UPDATE SolverDiagnosticRecord SET iterations = iterations + 1 WHERE frame_id >= 60')
      db.exec('UPDATE AssetInertialStaticRecord SET friction = 0.9')
    })
    const answer = await one.call('compare_recordings', { a: 'drop', b: 'after' })
    const [velocity, iterations] = toRows(answer.divergences)
    t.match(velocity, { field: 'velocity', first_frame_a: 40 })
    t.ok(Math.abs(Number(velocity?.growth_per_frame) - 1.1) < 1e-3)
    t.match(iterations, { field: 'iterations', first_frame_a: 60 })
    t.match(answer, { parameters: [{ body_id: 2, parameter: 'friction', b: 0.9 }], first_frame: 40 })
  },
)

verifies(
  'replay:compare-recordings',
  'compare_recordings matches bodies by mass and frames by time',
  async (t) => {
    const one = await pair(t, 'drop', (db) => {
      for (const table of ['AssetDynamicStateRecord', 'AssetInertialStaticRecord', 'EnergyRecord'])
        db.exec(`UPDATE ${table} SET body_id = 9`)
      db.exec('UPDATE AssetPhysicalStaticRecord SET body_id = 9')
      for (const table of ['CollisionResultRecord', 'ContactConstraintRecord', 'FrictionConstraintRecord'])
        db.exec(`UPDATE ${table} SET body_a_id = 9`)
    })
    const answer = await one.call('compare_recordings', { a: 'drop', b: 'after', align: 'time', exact: true })
    t.match(answer, { divergences: [], renamed_bodies: [{ a: 2, b: 9 }] })
  },
)

verifies(
  'replay:compare-recordings',
  'compare_recordings matches contacts whose ids and order of bodies changed',
  async (t) => {
    const one = await pair(t, 'drop', (db) => {
      for (const table of ['CollisionResultRecord', 'ContactConstraintRecord', 'FrictionConstraintRecord'])
        db.exec(`UPDATE ${table} SET body_a_id = body_b_id, body_b_id = body_a_id`)
    })
    const answer = await one.call('compare_recordings', { a: 'drop', b: 'after' })
    t.same(answer.divergences, [])
    const other = await pair(t, 'drop', (db) => {
      for (const table of ['CollisionResultRecord', 'ContactConstraintRecord', 'FrictionConstraintRecord'])
        db.exec(`UPDATE ${table} SET body_b_id = body_b_id + 6`)
    })
    const moved = await other.call('compare_recordings', { a: 'drop', b: 'after', exact: true })
    t.same(moved.divergences, [], 'the floor has another id')
    const swapped = new Map([
      [1, 2],
      [2, 1],
    ])
    const pairs = [
      [1, 2],
      [1, 9],
      [10, 2],
    ] as const
    t.equal(formatPairs(pairs, swapped), '1-10 1-2 2-9')
    t.equal(formatPairs(pairs, new Map()), '1-2 1-9 2-10')
  },
)

verifies(
  'replay:compare-recordings',
  'compare_recordings reports contacts with floors of different names, and repeated contacts',
  async (t) => {
    const replay = await openReplay(t, [])
    const record = (name: string, names: readonly string[], rows = 1) => {
      const floors = names.map((name, index) => ({ id: 3 + index, name, is_environment: true }))
      const contacts = Array(rows).fill({ a: 1, b: 3, normal: [0, 0, -1] })
      const frame = { frame_id: 1, time: 0.01, bodies: [{ id: 1, position: [0, 0, 0] }], contacts }
      return recordRun(replay, name, [{ run: { bodies: [{ id: 1 }, ...floors] } }, frame])
    }
    await record('a', ['ramp', 'ground'])
    const { summary } = await (await record('b', ['ground'])).call('compare_recordings', { a: 'a', b: 'b' })
    t.match(summary, /only in a: body 1 and ramp, only in b: body 1 and ground/)
    const twice = await record('twice', ['ground'], 2)
    const rows = await twice.call('compare_recordings', { a: 'twice', b: 'b' })
    t.match(rows.summary, /only in a: body 1 and ground, only in b: none/)
  },
)

verifies('replay:divergence', 'find_first_divergence reports contacts that only one run has', async (t) => {
  const one = await pair(t, 'stack', (db) =>
    db.exec('DELETE FROM CollisionResultRecord WHERE frame_id = 25 AND id % 2 = 0'),
  )
  const answer = await one.call('find_first_divergence', { a: 'stack', b: 'after' })
  t.match(answer, { first_frame: 25, differs: [{ field: 'contacts' }] })
})

verifies('replay:bookmark', 'bookmark adds and removes bookmarks, and lists them by frame', async (t) => {
  const one = await ask(t, 'slide_at_45')
  await one.call('bookmark', { frame_id: 50, note: 'still slides' })
  const { bookmarks } = await one.call('bookmark', { frame_id: 45, note: 'begins to slide' })
  t.match(bookmarks, [
    { frame_id: 45, note: 'begins to slide' },
    { frame_id: 50, note: 'still slides' },
  ])
  const [first] = toRows(bookmarks)
  const left = await one.call('bookmark', { remove: first?.id })
  t.match(left.bookmarks, [{ frame_id: 50 }])
  await t.rejects(one.call('bookmark', { remove: 99 }), { code: 'INVALID_ARGUMENTS' })
  await t.rejects(one.call('bookmark', { frame_id: 50, note: 'x'.repeat(4001) }), {
    code: 'INVALID_ARGUMENTS',
    data: { problems: [{ argument: 'note', problem: 'has more than 4000 characters' }] },
  })
  await t.rejects(one.call('bookmark', { frame_id: 5 }), { code: 'INVALID_ARGUMENTS' })
  await t.rejects(one.call('bookmark', { frame_id: 999, note: 'x' }), { code: 'FRAME_NOT_FOUND' })
})

verifies(
  'replay:notebook',
  'a repeated request to the notebook changes nothing and returns the first result',
  async (t) => {
    let now = 1_000_000
    const dir = join(t.testdir({}), 'data')
    const book = new Notebook(dir, { now: () => now })
    t.teardown(() => book.close())
    const note = { recording: 'r', frame_id: 1, note: 'n' }
    await book.addBookmark('one', note)
    await book.addBookmark('one', note)
    const [only, ...others] = await book.listBookmarks('r')
    t.same(others, [])
    t.equal(await book.removeBookmark('two', 'r', only?.id ?? 0), true)
    t.equal(await book.removeBookmark('two', 'r', only?.id ?? 0), true, 'the first result')
    t.equal(await book.removeBookmark('three', 'r', only?.id ?? 0), false)
    now += 600_001
    await book.addBookmark('one', note)
    t.equal((await book.listBookmarks('r')).length, 1, 'after ten minutes, it is a new request')
  },
)

verifies('replay:notebook', 'a recording has at most 1,000 bookmarks', async (t) => {
  const { app, client } = await openReplay(t, ['slide_at_45'])
  const one = client()
  const bookmark = { recording: 'slide_at_45', frame_id: 1, note: 'n' }
  const { notebook } = app.store as ReplayStore
  await one.call('bookmark', bookmark)
  const { recording } = (await one.call('bookmark', { recording: 'slide_at_45' })) as { recording: string }
  for (let index = 1; index < 1000; index += 1)
    await notebook.addBookmark(`bookmark ${index}`, { ...bookmark, recording })
  await t.rejects(one.call('bookmark', bookmark), {
    code: 'INVALID_ARGUMENTS',
    data: { problems: [{ argument: 'note', problem: `${recording} has 1000 bookmarks; remove some first` }] },
  })
  const { bookmarks } = await one.call('bookmark', { recording: 'slide_at_45', remove: 1 })
  t.equal((bookmarks as unknown[]).length, 999)
  t.equal(((await one.call('bookmark', bookmark)).bookmarks as unknown[]).length, 1000)
})

verifies('replay:baseline', 'save_baseline sets limits for later runs of the scene', async (t) => {
  const { client } = await openReplay(t, ['incline_sticks', 'incline_slides'])
  const one = client()
  const saved = await one.call('save_baseline', { recording: 'incline_sticks', name: 'sticks' })
  t.match(saved, { invariants: { max_penetration_m: Number } })
  t.match(await one.call('assert_invariants', { recording: 'incline_sticks', baseline: 'sticks' }), {
    passed: true,
  })
  const other = await one.call('assert_invariants', { recording: 'incline_slides', baseline: 'sticks' })
  t.match(other, { passed: false })
  t.ok(toRows(other.verdicts).some(({ passed, invariant }) => !passed && invariant === 'never_below'))
  await t.rejects(one.call('assert_invariants', { recording: 'incline_sticks', baseline: 'x' }), {
    code: 'INVALID_ARGUMENTS',
    data: { known: ['sticks'] },
  })
})

verifies('replay:baseline', 'save_baseline does not set limits for infinite figures', async (t) => {
  const { app, client } = await openReplay(t, ['nan'])
  const one = client()
  const saved = await one.call('save_baseline', { recording: 'nan', name: 'diverged' })
  t.same(Object.keys(saved.invariants as object), ['max_penetration_m', 'never_below'])
  t.same(Object.keys((saved.invariants as { never_below: object }).never_below), ['2'])
  t.match(saved.summary, /Not limited, because the value is infinite: .*max_injection_j/)
  const check = (baseline: string) => one.call('assert_invariants', { recording: 'nan', baseline })
  t.match(await check('diverged'), { passed: true, verdicts: { length: 2 } })
  // An earlier version stored infinite limits.
  const invariants = { max_injection_j: Number.POSITIVE_INFINITY, max_penetration_m: 1 }
  await (app.store as ReplayStore).notebook.saveBaseline('r', { name: 'old', recording: 'nan', invariants })
  t.match(await check('old'), { passed: true, verdicts: [{ invariant: 'max_penetration_m' }] })
})

verifies(
  'replay:invariants',
  'assert_invariants returns pass or fail with frame and evidence for each invariant',
  async (t) => {
    const one = await ask(t, 'slide_at_45')
    const check = (invariants: object) => one.call('assert_invariants', { invariants })
    t.match(await check({ max_injection_j: 1 }), {
      passed: false,
      verdicts: [{ frame_id: 45, unit: 'J', evidence: 'find_energy_anomalies' }],
    })
    t.match(await check({ never_below: 0.05, max_penetration_m: 0.1, max_energy_drift: 1 }), { passed: true })
    t.match(await check({ never_below: { 1: 5 } }), { passed: false, verdicts: [{ body_id: 1 }] })
    t.match(await check({ rest_by: { frame: 118, speed: 0.05 } }), { passed: true })
    t.match(await check({ rest_by: { frame: 45 } }), { passed: false, verdicts: [{ frame_id: 45 }] })
    t.match(await check({ no_cone_violation: true }), { passed: false, verdicts: [{ frame_id: 45 }] })
    t.match(await check({ no_findings: 'error' }), { passed: false })
    await t.rejects(check({}), { code: 'INVALID_ARGUMENTS' })
    await t.rejects(check({ never_abov: 1 }), { code: 'INVALID_ARGUMENTS', data: { known: /never_below/ } })
  },
)

verifies(
  'replay:invariants',
  'assert_invariants fails limits on contacts and impulses that were not recorded',
  async (t) => {
    const check = async (name: string, invariants: object) =>
      (await ask(t, name)).call('assert_invariants', { invariants })
    const unknown = { passed: false, verdicts: [{ passed: false, value: null }] }
    t.match(await check('era_states_only', { max_penetration_m: 1 }), unknown)
    t.match(await check('era_no_tangents', { no_cone_violation: true }), unknown)
    t.match(await check('era_no_tangents', { max_penetration_m: 1 }), { passed: true })
    const series = ['contact', 'depth', 'points', 'normal_force'].map((what) => `pair.2.1.${what}`)
    const old = await (await ask(t, 'era_no_constraints')).call('get_series', { series })
    t.same(
      toRows(old.series).map(({ max }) => max !== null),
      [true, true, false, false],
      'contacts without constraints',
    )
  },
)

verifies('replay:invariants', 'assert_invariants fails every limit for a diverged run', async (t) => {
  const one = await ask(t, 'nan')
  const answer = await one.call('assert_invariants', {
    invariants: { never_below: -1e9, max_energy_drift: 1e9, rest_by: { frame: 1, speed: 1e9 } },
  })
  t.equal(answer.passed, false)
  const failed = toRows(answer.verdicts).filter(({ passed }) => !passed)
  t.ok(failed.some(({ invariant }) => invariant === 'never_below'))
  t.ok(failed.every(({ value, frame_id }) => value === null && frame_id !== null))
})

/** Tool calls that read a whole recording. */
const calls: readonly (readonly [tool: string, args: object])[] = [
  ['diagnose', {}],
  ['find_energy_anomalies', { threshold: 0.5 }],
  ['get_solver_diagnostics', {}],
  ['check_friction_cone', { frame_id: 50 }],
  ['check_resting_contact', { frame_id: 50 }],
  ['query_sql', { sql: 'SELECT count(*), sum(depth) FROM v_contact' }],
]

for (const name of sample(['energy_injection', 'slide_at_45', 'penetration'], 3)) {
  verifies(
    'replay:runs:answers',
    `every tool answers the same for ${name} and for the run into which it was copied`,
    async (t) => {
      const { app, client } = await openReplay(t, [name])
      await (app.store as ReplayStore).importRecording('run', name)
      const one = client()
      for (const [tool, args] of calls) {
        const answer = async (recording: string) => {
          const { recording: _, ...rest } = await one.call(tool, { ...args, recording })
          return rest
        }
        t.same(await answer('run'), await answer(name), tool)
      }
    },
  )
}

const pairs = manifest.recordings.filter(
  ({ diverges_at, name }) => diverges_at !== undefined && name.endsWith('_a'),
)

t.ok(pairs.length >= 3, 'there are pairs of diverging runs')
for (const { name, pair = '', diverges_at } of sample(pairs, 3))
  verifies(
    'replay:divergence',
    `find_first_divergence finds the frame in which ${pair} was changed, compared with ${name}`,
    async (t) => {
      const { client } = await openReplay(t, [name, pair], { source: folder })
      const one = client()
      const exact = await one.call('find_first_divergence', { a: name, b: pair, exact: true })
      t.equal(exact.first_frame, diverges_at, 'bit by bit')
      // The pair differs only in the last bit at first, which a tolerance detects later.
      const tolerance = name.includes('least') ? 0 : 1e-6
      const loose = await one.call('find_first_divergence', { a: name, b: pair, tolerance })
      t.equal(loose.first_frame, diverges_at, 'by tolerance')
    },
  )

t.test('compareRecordings stops reading after the first difference if nothing else is needed', async (t) => {
  const frames = Array.from({ length: 5000 }, (_, index) => index + 1)
  /** A body that moves from 0 m to 1 m in frame `from`. `ranges` receives the ranges that are read. */
  const recording = (from: number, ranges: unknown[] = []) =>
    ({
      summary: {
        bodies: [{ body_id: 1, mass: 1, asset_id: null }],
        ...{ environment_bodies: [], geometry: [], frames: {}, dt_s: 0.01 },
      },
      async analyse(name: string, { range }: { range: { start: number; end: number } }) {
        if (name === 'series')
          return { length: 5000, data: Float64Array.from(frames.flatMap((id) => [id, id * 0.01])) }
        ranges.push([range.start, range.end])
        const read = frames.slice(range.start - 1, range.end)
        const zeros = new Float64Array(read.length)
        return {
          bodies: [1],
          frames: Float64Array.from(read),
          states: Float64Array.from(read.flatMap((id) => [id < from ? 0 : 1, ...Array(13).fill(0)])),
          ...{ totals: zeros, iterations: zeros, residuals: zeros, contacts: read.map(() => '') },
        }
      },
    }) as unknown as Recording
  const compare = async (firstOnly: boolean) => {
    const ranges: unknown[] = []
    const options = { tolerance: { exact: true }, align: 'frame', firstOnly } as const
    const { comparison } = await compareRecordings(recording(9999, ranges), recording(2500), options)
    t.match(comparison.listDivergences(), [{ field: 'position', first_frame_a: 2500 }])
    return ranges
  }
  const parts = [
    [1, 2000],
    [2001, 4000],
    [4001, 5000],
  ]
  t.same(await compare(true), parts.slice(0, 2))
  t.same(await compare(false), parts)
})

t.test('save_baseline and bookmark fail if nothing can be stored', async (t) => {
  const fail = async () => {
    throw new Error('the data file is locked')
  }
  const one = await ask(t, 'drop', {
    wrap(store) {
      Object.assign(store.notebook, { saveBaseline: fail, addBookmark: fail, removeBookmark: fail })
      return store
    },
  })
  const refused = { message: 'the data file is locked' }
  await t.rejects(one.call('save_baseline', { name: 'fine' }), refused)
  await t.rejects(one.call('bookmark', { frame_id: 5, note: 'x' }), refused)
  await t.rejects(one.call('bookmark', { remove: 1 }), refused)
})
