import { execFileSync } from 'node:child_process'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifies } from '../../../test/verifies.ts'
import type { EvalResult } from '../src/domain/evaluation/result.ts'
import { createStanding } from '../src/domain/evaluation/score.ts'
import { TestMatrix } from '../src/domain/evaluation/test-matrix.ts'
import { createConfig, requestSchema } from '../src/domain/session-config.ts'
import trm from '../src/index.ts'
import { listTestOutcomes } from '../src/routes.ts'
import type { Critic } from '../src/session/critic.ts'
import { diffStep } from '../src/session/step-diff.ts'
import { judge, judged, openTrm, readText, replacing, scored, write } from './trm-kit.ts'

/** Stores sessions of a project that does not exist. */
async function createSessions(store: Critic['store'], count: number): Promise<void> {
  const config = createConfig('/nowhere', requestSchema.parse({}), 'none')
  const standing = createStanding('')
  for (let index = 0; index < count; index++)
    await store.createSession(
      { id: `old-${index}`, config, standing, start: null },
      { id: `old ${index}`, answer: {} },
    )
}

verifies('trm:restore:exact', async (t) => {
  const { client, root } = await openTrm(t, { files: judged })
  const { ask } = client()
  await ask('start', { repo: 'p', test: judge, notes: 'begin' })
  t.match(await ask('submit', { candidate: scored(2), reason: 'two' }), { score: 0.5, noImproveStreak: 0 })
  t.match(await ask('submit', { candidate: scored(1), reason: 'one' }), { score: 0.25, noImproveStreak: 1 })
  const { checkpointId } = await ask('save', { desc: 'after two' })
  const kept = await ask('state')
  t.match(kept.summary, /^Active: step 2, best score 0\.5, streak 1\. /)
  await ask('submit', { candidate: scored(3) })
  await ask('submit', { candidate: { mode: 'create', files: [{ path: 'new/deep.txt', content: 'x' }] } })
  writeFileSync(join(root, 'p', 'score'), '9\n')
  await t.rejects(ask('restore', { cid: checkpointId }), {
    code: 'USER_EDIT_CONFLICT',
    data: { conflicts: ['score'] },
  })
  t.equal(readText(root, 'p', 'score'), '9\n')
  t.ok(existsSync(join(root, 'p', 'new', 'deep.txt')), 'nothing was written')
  t.match(await ask('restore', { checkpoint_id: checkpointId, force: true }), { currentStep: 2 })
  t.equal(readText(root, 'p', 'score'), '1\n')
  t.notOk(existsSync(join(root, 'p', 'new', 'deep.txt')))
  const now = await ask('state')
  for (const name of ['step', 'bestScore', 'emaScore', 'noImproveStreak', 'zNotes'])
    t.equal(now[name], kept[name], name)
  t.match(now.last, { step: 2, score: 0.25 })
  t.match(await ask('undo'), { currentStep: 1 })
  t.equal(readText(root, 'p', 'score'), '2\n', 'the history before a checkpoint can be undone')
  t.match(
    await ask('restore', { cid: checkpointId }),
    { currentStep: 2 },
    'and the checkpoint is there still',
  )
  t.equal(readText(root, 'p', 'score'), '1\n')
  await t.rejects(ask('restore', { cid: 'nothing' }), {
    code: 'CHECKPOINT_NOT_FOUND',
    data: { checkpoints: [checkpointId] },
  })
})

verifies('trm:save:most', async (t) => {
  const { client } = await openTrm(t, { files: judged })
  const { ask } = client()
  await ask('start', { repo: 'p', preflight: false })
  for (let count = 0; count < 20; count++) await ask('save')
  await t.rejects(ask('save'), { code: 'TOO_MANY_CHECKPOINTS' })
  t.equal((await ask('list')).checkpoints.length, 20)
})

verifies('trm:undo:exact', async (t) => {
  const { client, root } = await openTrm(t, { files: judged })
  const { ask } = client()
  await ask('start', { repo: 'p', test: judge })
  const streaks: number[] = []
  for (const score of [2, 2, 3, 1]) {
    streaks.push((await ask('state')).noImproveStreak)
    await ask('submit', { candidate: scored(score) })
  }
  t.same(streaks, [0, 0, 1, 0])
  for (const before of streaks.toReversed()) {
    await ask('undo')
    t.equal((await ask('state')).noImproveStreak, before)
  }
  await t.rejects(ask('undo'), { code: 'NOTHING_TO_UNDO' })
  t.equal(readText(root, 'p', 'score'), '1\n')
  t.match(
    (await ask('state')).history.map(({ status }: { status: string }) => status),
    Array(4).fill('undone'),
  )
})

verifies(
  'trm:undo:exact',
  'a file that the user changed later is a conflict unless `force` is set',
  async (t) => {
    const { client, root } = await openTrm(t, { files: judged })
    const { ask } = client()
    await ask('start', { repo: 'p', test: judge, preflight: false })
    await ask('submit', { candidate: scored(2) })
    writeFileSync(join(root, 'p', 'score'), '3\n')
    await t.rejects(ask('undo'), { code: 'USER_EDIT_CONFLICT', data: { conflicts: ['score'] } })
    t.equal((await ask('state')).step, 1)
    t.match(await ask('undo', { force: true }), { currentStep: 0, filesRestored: ['score'] })
    t.equal(readText(root, 'p', 'score'), '1\n')
  },
)

verifies('trm:reset:user', 'reset in a git repository does not change work of the user', async (t) => {
  const { client, root } = await openTrm(t, { files: judged })
  const repo = join(root, 'p')
  const git = (...args: string[]) => execFileSync('git', ['-C', repo, ...args], { encoding: 'utf8' })
  git('init', '-q')
  git('config', 'user.email', 'a@b')
  git('config', 'user.name', 'a')
  git('add', '-A')
  git('commit', '-qm', 'one')
  write(join(repo, 'other.txt'), 'staged\n')
  git('add', 'other.txt')
  write(join(repo, 'other.txt'), 'worked on\n')
  write(join(repo, 'untracked.txt'), 'mine\n')
  const seen = () => ({
    status: git('status', '--porcelain=v2', '--branch'),
    index: git('ls-files', '--stage'),
    refs: git('for-each-ref'),
    stash: git('stash', 'list'),
    config: readText(repo, '.git', 'config'),
    mtime: statSync(join(repo, 'other.txt')).mtimeMs,
  })
  const before = seen()
  const { ask } = client()
  await ask('start', { repo: 'p', test: judge })
  await ask('submit', { candidate: scored(3) })
  await ask('submit', { candidate: { mode: 'create', files: [{ path: 'made.txt', content: 'x' }] } })
  t.match(await ask('reset'), { currentStep: 0, filesRestored: ['made.txt', 'score'] })
  t.same(seen(), before)
  t.equal(readText(repo, 'untracked.txt'), 'mine\n')
  t.equal(readText(repo, 'other.txt'), 'worked on\n')
  t.match(await ask('state'), { step: 0, noImproveStreak: 0, bestScore: 0.25 })
})

verifies('trm:reset:user', 'reset outside a git repository does not change work of the user', async (t) => {
  const { client, root } = await openTrm(t, { files: judged })
  const { ask } = client()
  await ask('start', { repo: 'p', test: judge, preflight: false })
  await ask('submit', { candidate: scored(3) })
  write(join(root, 'p', 'other.txt'), 'mine\n')
  await ask('reset')
  t.same([readText(root, 'p', 'score'), readText(root, 'p', 'other.txt')], ['1\n', 'mine\n'])
  t.notOk(existsSync(join(root, 'p', '.git')))
})

verifies('trm:end:best', async (t) => {
  const { client, root } = await openTrm(t, { files: judged })
  const { ask } = client()
  await ask('start', { repo: 'p', test: judge })
  await ask('submit', { candidate: scored(3) })
  await ask('submit', { candidate: scored(2) })
  await ask('submit', { candidate: { mode: 'create', files: [{ path: 'late.txt', content: 'x' }] } })
  t.match(await ask('end', { apply: 'best' }), { ok: true, filesRestored: ['late.txt', 'score'] })
  t.equal(readText(root, 'p', 'score'), '3\n')
  t.notOk(existsSync(join(root, 'p', 'late.txt')))
  await t.rejects(ask('state'), { code: 'SESSION_NOT_FOUND' })
})

verifies('trm:end:best', 'end cancels a running evaluation and restores its files', async (t) => {
  const { client, root, critic } = await openTrm(t, { files: judged })
  const { ask } = client()
  await ask('start', { repo: 'p', test: 'sleep 300', preflight: false })
  await ask('submit', { candidate: scored(3), wait: 0.05 })
  t.match(await ask('end'), { ok: true })
  t.equal(critic.running.size, 0)
  t.equal(readText(root, 'p', 'score'), '1\n')
})

verifies('trm:start:most', 'simultaneous starts do not exceed the limit', async (t) => {
  const { client, critic } = await openTrm(t, { files: judged })
  const { ask } = client()
  await createSessions(critic.store, 45)
  const starts = Array.from({ length: 15 }, () => ask('start', { repo: 'p', preflight: false }))
  const results = await Promise.allSettled(starts)
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 5)
  const refused = results.filter((one) => one.status === 'rejected').map(({ reason }) => reason.code)
  t.same(refused, Array(10).fill('TOO_MANY_SESSIONS'))
  const sid = results.find((one) => one.status === 'fulfilled')?.value.sessionId
  await t.rejects(ask('start', { repo: 'p', preflight: false, options: { write: 'end', x: 1 } }))
  await ask('end', { sid })
  t.ok(await ask('start', { repo: 'p', preflight: false }), 'a refused start takes no place')
})

verifies('trm:submit:once', async (t) => {
  const { critic, app } = await openTrm(t, { files: judged })
  const session = {}
  const call = (name: string, args: object, requestId: string) => {
    const tool = trm.tools.find((one) => one.name === name)
    const context = {
      store: app.store,
      session,
      sharedSession: false,
      signal: new AbortController().signal,
      progress() {},
      notify() {},
      log: critic.log,
      now: critic.now,
      client: { name: 'test', version: '0' },
      requestId,
      input: { replies: {}, kept: undefined, can: () => false },
    }
    return tool?.call(args, context as never) as Promise<{ structuredContent: Record<string, unknown> }>
  }
  const start = { repo: 'p', test: judge, preflight: false }
  const [first, again] = [await call('start', start, 'a'), await call('start', start, 'a')]
  t.equal(again.structuredContent.sessionId, first.structuredContent.sessionId)
  const submit = { candidate: scored(3) }
  const [one, same] = [await call('submit', submit, 'b'), await call('submit', submit, 'b')]
  t.same(same.structuredContent, one.structuredContent)
  const [undo, twice] = [await call('undo', {}, 'c'), await call('undo', {}, 'c')]
  t.same(twice.structuredContent, undo.structuredContent)
  t.equal((await critic.store.listSteps(String(first.structuredContent.sessionId))).length, 1)
})

verifies('trm:state:whole', async (t) => {
  const { client, root } = await openTrm(t, { files: judged })
  const { ask } = client()
  await ask('start', { repo: 'p', test: judge, preflight: false })
  t.match(await ask('halt'), { shouldHalt: false, reasons: ['No evaluations yet'] })
  t.match(await ask('state'), { step: 0, last: null, history: [] })
  const result = await ask('submit', { candidate: scored(4), reason: 'all' })
  t.match(await ask('halt'), { shouldHalt: true, reasons: result.reasons })
  const state = await ask('state')
  t.same(state.last.signals, result.signals)
  t.match(state, { zNotes: 'all', history: [{ step: 1, reason: 'all', score: 1 }], stepsLeft: 11 })
  t.equal(readText(root, 'p', 'score'), '4\n')
})

verifies('trm:validate:exact', async (t) => {
  const { client, root } = await openTrm(t, { files: { 'p/a.txt': 'one\ntwo\nthree\n' } })
  const { ask } = client()
  await ask('start', { repo: 'p', preflight: false })
  const shown = await ask('validate', { candidate: replacing('a.txt', 'two', 'TWO') })
  t.same(shown.preview.filesPreviews[0], {
    file: 'a.txt',
    beforeLines: ['one', 'two', 'three'],
    afterLines: ['one', 'TWO', 'three'],
    linesAdded: 1,
    linesRemoved: 1,
    changeType: 'modification',
  })
  for (const candidate of [
    { mode: 'create', files: [{ path: 'a.txt', content: '' }] },
    replacing('b.txt', 'a', 'b'),
  ]) {
    const { valid, errors } = await ask('validate', { candidate })
    const error = await ask('submit', { candidate }).catch((cause) => cause)
    t.same([valid, errors[0].code], [false, error.code])
  }
  t.equal(readText(root, 'p', 'a.txt'), 'one\ntwo\nthree\n')
})

verifies('trm:start:most', async (t) => {
  const { client, critic } = await openTrm(t, { files: judged })
  const { ask } = client()
  await createSessions(critic.store, 50)
  await t.rejects(ask('start', { repo: 'p', preflight: false }), { code: 'TOO_MANY_SESSIONS' })
  const now = () => Date.now() + 8 * 86_400_000
  const later = Object.create(critic, { now: { value: now } })
  const call = trm.tools.find(({ name }) => name === 'start')
  const context = {
    store: later,
    session: {},
    sharedSession: false,
    signal: new AbortController().signal,
    progress() {},
    notify() {},
    log: critic.log,
    now: later.now,
    client: { name: 'test', version: '0' },
    requestId: 'later',
    note() {},
    clientKey: 'test',
    input: { replies: {}, kept: undefined, can: () => false },
  }
  await call?.call({ repo: 'p', preflight: false }, context)
  const open = await critic.store.listSessions()
  t.equal(open.length, 50, 'a session that was idle for a week was ended')
  t.notOk(open.some(({ id }) => id === 'old-0'))
})

verifies('trm:diff', async (t) => {
  const { client, app } = await openTrm(t, { files: judged })
  const { ask } = client()
  const { sessionId } = await ask('start', { repo: 'p', test: judge })
  await ask('submit', { candidate: scored(2) })
  await ask('submit', { candidate: { mode: 'create', files: [{ path: 'new.txt', content: 'x\n' }] } })
  await ask('undo')
  const critic = app.store as Critic
  const positions = (await critic.store.listSteps(sessionId)).length
  t.equal(positions, 3, 'the baseline and two candidates')
  t.same(await diffStep(critic, sessionId, 0), [])
  t.same(await diffStep(critic, sessionId, 1), [
    { path: 'score', change: 'modified', diff: '@@ -1,1 +1,1 @@\n-1\n+2' },
  ])
  t.same(await diffStep(critic, sessionId, 2), [
    { path: 'new.txt', change: 'added', diff: '@@ -0,0 +1,1 @@\n+x' },
  ])
  await t.rejects(diffStep(critic, sessionId, 3), { code: 'SNAPSHOT_NOT_FOUND' })
})

verifies('trm:tests', async (t) => {
  const reports = { ...judged, 'p/report': 'ok 1 t1\nnot ok 2 t2\nok 3 t3\nok 4 t4 # SKIP\n1..4\n' }
  const { client, critic } = await openTrm(t, { files: reports })
  const { ask } = client()
  const { sessionId } = await ask('start', { repo: 'p', test: '(echo TAP version 13; cat report)' })
  const report = (content: string) =>
    ask('submit', { candidate: { mode: 'files', files: [{ path: 'report', content }] } })
  await report('ok 1 t1\nok 2 t2\nnot ok 3 t3\nok 4 t4 # SKIP\nnot ok 5 t5\n1..5\n')
  await ask('undo')
  await report('ok 1 t1 # SKIP\nok 2 t2\nok 4 t4\nok 5 t5\n1..4\n')
  const { baseline } = await critic.findSession(sessionId)
  const results = (await critic.store.listSteps(sessionId)).map(({ result }) => result)
  const cases = baseline?.tests?.cases ?? []
  const { tests: rows } = await listTestOutcomes(cases, [...results, null], 500)
  t.same(Object.fromEntries(rows.map(({ id, outcomes }) => [id, outcomes.join(' ')])), {
    t2: 'fail pass pass unknown',
    t3: 'pass fail missing unknown',
    t5: 'unknown fail unknown unknown',
    t1: 'pass pass skip unknown',
    t4: 'skip unknown unknown unknown',
  })
  t.same(
    rows.map(({ id }) => id),
    ['t2', 't3', 't5', 't1', 't4'],
    'tests that failed or did not run are first',
  )
  const [, second] = results
  const many = { ...(second as EvalResult), tests: { passed: 1, failed: 300, total: 301 } }
  const { tests } = await listTestOutcomes(cases, [many], 500)
  const outcomes = tests.map((row) => [row.id, ...row.outcomes].join(' '))
  t.same(
    outcomes,
    ['t3 fail', 't5 fail', 't1 unknown', 't2 pass', 't4 unknown'],
    'not all failures are named',
  )
  const cut = await listTestOutcomes(cases, [...results, null], 2)
  t.same(cut, { tests: rows.slice(0, 2), count: 5 })

  const stored = critic.store.readResults(sessionId)
  t.same((await stored.next()).value, results[0])
  critic.store.db.exec('UPDATE step SET result = NULL')
  t.equal((await stored.next()).value, null, 'results are read one by one')
})

verifies('trm:tests', 'only the outcomes of returned tests are computed, in several turns', async (t) => {
  const cases = Array.from({ length: 5000 }, (_, index) => ({ id: `t${index}`, status: 'pass' as const }))
  const result = {
    ...{ kind: 'submit', tests: { failed: 1 }, failing: ['t4000'], failures: [] },
    ...{ missing: ['t3000'], missingCount: 1, newlySkipped: [], repaired: [] },
  } as unknown as EvalResult
  const { rows } = TestMatrix.prototype
  let computed = 0
  t.intercept(TestMatrix.prototype, 'rows', {
    value: function* (this: TestMatrix) {
      for (const row of rows.call(this)) {
        computed += 1
        yield row
      }
    },
  })
  let turns = 0
  let isDone = false
  const count = () => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const list = await listTestOutcomes(cases, Array(50).fill(result), 10)
  isDone = true
  t.same([list.tests.length, list.count, computed], [10, 5000, 10])
  t.same(
    list.tests.slice(0, 3).map(({ id, outcomes }) => [id, outcomes[0]]),
    [
      ['t3000', 'missing'],
      ['t4000', 'fail'],
      ['t0', 'pass'],
    ],
  )
  t.ok(turns >= 50, `${turns} turns of the event loop`)
})
