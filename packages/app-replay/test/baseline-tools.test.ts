import { join } from 'node:path'
import { verifies } from '../../../test/verifies.ts'
import { openNotebook } from '../src/notebook.ts'
import { ask, openReplay, rowsOf } from './replay-kit.ts'

verifies('replay:bookmark', 'bookmark: is added, listed by frame, and removed', async (t) => {
  const one = await ask(t, 'slide_at_45')
  await one.call('bookmark', { frame_id: 50, note: 'still slides' })
  const { bookmarks } = await one.call('bookmark', { frame_id: 45, note: 'begins to slide' })
  t.match(bookmarks, [
    { frame_id: 45, note: 'begins to slide' },
    { frame_id: 50, note: 'still slides' },
  ])
  const [first] = rowsOf(bookmarks)
  const left = await one.call('bookmark', { remove: first?.id })
  t.match(left.bookmarks, [{ frame_id: 50 }])
  await t.rejects(one.call('bookmark', { remove: 99 }), { code: 'INVALID_ARGUMENTS' })
  await t.rejects(one.call('bookmark', { frame_id: 5 }), { code: 'INVALID_ARGUMENTS' })
  await t.rejects(one.call('bookmark', { frame_id: 999, note: 'x' }), { code: 'FRAME_NOT_FOUND' })
})

verifies(
  'replay:notebook',
  'notebook: a repeated request changes nothing, and gets the answer of the first',
  async (t) => {
    let now = 1_000_000
    const dir = join(t.testdir({}), 'data')
    const book = openNotebook(dir, { now: () => now })
    t.teardown(() => book.close())
    const note = { recording: 'r', frame_id: 1, note: 'n' }
    await book.addBookmark('one', note)
    await book.addBookmark('one', note)
    const [only, ...others] = await book.bookmarks('r')
    t.same(others, [])
    t.equal(await book.removeBookmark('two', 'r', only?.id ?? 0), true)
    t.equal(await book.removeBookmark('two', 'r', only?.id ?? 0), true, 'the answer of the first')
    t.equal(await book.removeBookmark('three', 'r', only?.id ?? 0), false)
    now += 600_001
    await book.addBookmark('one', note)
    t.equal((await book.bookmarks('r')).length, 1, 'after ten minutes it is another request')
  },
)

verifies('replay:baseline', 'save_baseline: later runs of the same scene are held against it', async (t) => {
  const { client } = await openReplay(t, ['incline_sticks', 'incline_slides'])
  const one = client()
  const saved = await one.call('save_baseline', { recording: 'incline_sticks', name: 'sticks' })
  t.match(saved, { invariants: { max_penetration_m: Number } })
  t.match(await one.call('assert_invariants', { recording: 'incline_sticks', baseline: 'sticks' }), {
    passed: true,
  })
  const other = await one.call('assert_invariants', { recording: 'incline_slides', baseline: 'sticks' })
  t.match(other, { passed: false })
  t.ok(rowsOf(other.verdicts).some(({ passed, invariant }) => !passed && invariant === 'never_below'))
  await t.rejects(one.call('assert_invariants', { recording: 'incline_sticks', baseline: 'x' }), {
    code: 'INVALID_ARGUMENTS',
    data: { known: ['sticks'] },
  })
})

verifies(
  'replay:invariants',
  'assert_invariants: pass or fail of each, with where and what shows it',
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
  'assert_invariants: a file that was never given contacts or impulses keeps no limit of them',
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
      rowsOf(old.series).map(({ max }) => max !== null),
      [true, true, false, false],
      'contacts without constraints',
    )
  },
)

verifies('replay:invariants', 'assert_invariants: a run that breaks down keeps no limit', async (t) => {
  const one = await ask(t, 'nan')
  const answer = await one.call('assert_invariants', {
    invariants: { never_below: -1e9, max_energy_drift: 1e9, rest_by: { frame: 1, speed: 1e9 } },
  })
  t.equal(answer.passed, false)
  const failed = rowsOf(answer.verdicts).filter(({ passed }) => !passed)
  t.ok(failed.some(({ invariant }) => invariant === 'never_below'))
  t.ok(failed.every(({ value, frame_id }) => value === null && frame_id !== null))
})
