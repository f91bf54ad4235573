import { join } from 'node:path'
import t from 'tap'
import { openTrm, repairSums, replacing, textOf, unittest } from './trm-kit.ts'

t.test('submit: a wrong and then a right candidate lead from the baseline to success', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const start = await ask('start', { repo: 'sums', test: unittest })
  t.match(start, {
    status: 'done',
    config: { halt: { max: 12, threshold: 0.95, patience: 3, min: 1 }, ema: 0.9, timeout: 120 },
    baseline: { step: 0, tests: { passed: 1, failed: 2, total: 3 }, shouldHalt: false },
  })
  const wrong = await ask('submit', {
    candidate: replacing('sums.py', 'len(values) + 1', 'len(values) + 2'),
    reason: 'try',
  })
  t.match(wrong, {
    status: 'done',
    step: 1,
    tests: { passed: 1, failed: 2 },
    noImproveStreak: 1,
    shouldHalt: false,
  })
  t.match(wrong.failures[0], { id: 'test_sums.Sums.test_mean', file: 'test_sums.py', line: 11 })
  const told = wrong.feedback.filter((item: string) => item.includes('AssertionError: 1.2 != 2'))
  t.equal(told.length, 1, 'a failure is told once')
  t.match(textOf(root, 'sums', 'sums.py'), /\+ 2/)
  const right = await ask('submit', { candidate: replacing('sums.py', 'len(values) + 2', 'len(values)') })
  t.match(right, {
    step: 2,
    score: 1,
    tests: { passed: 3, failed: 0, total: 3 },
    shouldHalt: true,
    rule: 'success',
  })
  t.match(await ask('state'), {
    step: 2,
    bestScore: 1,
    last: { score: 1 },
    history: [{ step: 1 }, { step: 2 }],
  })
  t.match(await ask('halt'), { shouldHalt: true, rule: 'success' })
  t.match(await ask('undo'), { currentStep: 1, filesRestored: ['sums.py'] })
  t.match(textOf(root, 'sums', 'sums.py'), /\+ 2/)
  t.match(await ask('undo'), { currentStep: 0 })
  await t.rejects(ask('undo'), { code: 'NOTHING_TO_UNDO' })
  t.match(textOf(root, 'sums', 'sums.py'), /\+ 1/)
  t.match(await ask('end'), { ok: true })
  await t.rejects(ask('end', { sid: start.sessionId }), { code: 'SESSION_NOT_FOUND' })
})

t.test(
  'validate: shows what a candidate would change and why one is refused, and changes nothing',
  async (t) => {
    const { client, root } = await openTrm(t, { copies: ['sums'] })
    const { ask } = client()
    await ask('start', { repo: 'sums', preflight: false })
    const good = await ask('validate', { candidate: repairSums })
    t.match(good, { valid: true, preview: { filesAffected: ['sums.py'], linesAdded: 1, linesRemoved: 1 } })
    t.ok(good.preview.filesPreviews[0].afterLines.includes('    return total(values) / (len(values))'))
    const bad = await ask('validate', { candidate: replacing('sums.py', 'not there', 'x') })
    t.match(bad, { valid: false, errors: [{ code: 'REPLACE_NOT_FOUND' }] })
    t.match(textOf(root, 'sums', 'sums.py'), /\+ 1/)
    t.equal((await ask('state')).step, 0)
  },
)

t.test('save and restore: files, step, scores and notes are as they were', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  await ask('start', { repo: 'sums', test: unittest, notes: 'first' })
  await ask('submit', {
    candidate: replacing('sums.py', 'total(values) / ', 'sum(values) / '),
    reason: 'second',
  })
  const before = { text: textOf(root, 'sums', 'sums.py'), state: await ask('state') }
  const { checkpointId } = await ask('save', { desc: 'here' })
  await ask('submit', { candidate: repairSums, reason: 'third' })
  await ask('submit', { candidate: { mode: 'create', files: [{ path: 'new.py', content: 'x = 1\n' }] } })
  t.match(await ask('restore', { cid: checkpointId }), {
    currentStep: 1,
    filesRestored: ['new.py', 'sums.py'],
  })
  t.equal(textOf(root, 'sums', 'sums.py'), before.text)
  const { step, bestScore, emaScore, noImproveStreak, zNotes } = await ask('state')
  t.match(before.state, { step, bestScore, emaScore, noImproveStreak, zNotes })
  t.equal(zNotes, 'second')
  t.throws(() => textOf(join(root, 'sums', 'new.py')))
  t.match(await ask('list'), { checkpoints: [{ id: checkpointId, step: 1, description: 'here' }] })
  t.match(await ask('reset'), { currentStep: 0 })
  t.match(textOf(root, 'sums', 'sums.py'), /total\(values\) \/ \(len\(values\) \+ 1\)/)
})
