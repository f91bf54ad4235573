import { execFileSync } from 'node:child_process'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifies } from '../../../test/verifies.ts'
import { judge, judged, openTrm, scored, textOf, write } from './trm-kit.ts'

verifies('trm:restore:exact', async (t) => {
  const { client, root } = await openTrm(t, { files: judged })
  const { ask } = client()
  await ask('start', { repo: 'p', test: judge, notes: 'begin' })
  t.match(await ask('submit', { candidate: scored(2), reason: 'two' }), { score: 0.5, noImproveStreak: 0 })
  t.match(await ask('submit', { candidate: scored(1), reason: 'one' }), { score: 0.25, noImproveStreak: 1 })
  const { checkpointId } = await ask('save', { desc: 'after two' })
  const kept = await ask('state')
  await ask('submit', { candidate: scored(3) })
  await ask('submit', { candidate: { mode: 'create', files: [{ path: 'new/deep.txt', content: 'x' }] } })
  writeFileSync(join(root, 'p', 'score'), '9\n')
  await t.rejects(ask('restore', { cid: checkpointId }), {
    code: 'USER_EDIT_CONFLICT',
    data: { conflicts: ['score'] },
  })
  t.equal(textOf(root, 'p', 'score'), '9\n')
  t.ok(existsSync(join(root, 'p', 'new', 'deep.txt')), 'nothing was written')
  t.match(await ask('restore', { checkpoint_id: checkpointId, force: true }), { currentStep: 2 })
  t.equal(textOf(root, 'p', 'score'), '1\n')
  t.notOk(existsSync(join(root, 'p', 'new', 'deep.txt')))
  const now = await ask('state')
  for (const name of ['step', 'bestScore', 'emaScore', 'noImproveStreak', 'zNotes'])
    t.equal(now[name], kept[name], name)
  t.match(now.last, { step: 2, score: 0.25 })
  t.match(await ask('undo'), { currentStep: 1 })
  t.equal(textOf(root, 'p', 'score'), '2\n', 'the history before a checkpoint can be undone')
  t.match(
    await ask('restore', { cid: checkpointId }),
    { currentStep: 2 },
    'and the checkpoint is there still',
  )
  t.equal(textOf(root, 'p', 'score'), '1\n')
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
  t.equal(textOf(root, 'p', 'score'), '1\n')
  t.match(
    (await ask('state')).history.map(({ status }: { status: string }) => status),
    Array(4).fill('undone'),
  )
})

verifies('trm:undo:exact', 'what the user changed since is a conflict, unless forced', async (t) => {
  const { client, root } = await openTrm(t, { files: judged })
  const { ask } = client()
  await ask('start', { repo: 'p', test: judge, preflight: false })
  await ask('submit', { candidate: scored(2) })
  writeFileSync(join(root, 'p', 'score'), '3\n')
  await t.rejects(ask('undo'), { code: 'USER_EDIT_CONFLICT', data: { conflicts: ['score'] } })
  t.equal((await ask('state')).step, 1)
  t.match(await ask('undo', { force: true }), { currentStep: 0, filesRestored: ['score'] })
  t.equal(textOf(root, 'p', 'score'), '1\n')
})

verifies('trm:reset:user', 'in a git repository', async (t) => {
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
    config: textOf(repo, '.git', 'config'),
    mtime: statSync(join(repo, 'other.txt')).mtimeMs,
  })
  const before = seen()
  const { ask } = client()
  await ask('start', { repo: 'p', test: judge })
  await ask('submit', { candidate: scored(3) })
  await ask('submit', { candidate: { mode: 'create', files: [{ path: 'made.txt', content: 'x' }] } })
  t.match(await ask('reset'), { currentStep: 0, filesRestored: ['made.txt', 'score'] })
  t.same(seen(), before)
  t.equal(textOf(repo, 'untracked.txt'), 'mine\n')
  t.equal(textOf(repo, 'other.txt'), 'worked on\n')
  t.match(await ask('state'), { step: 0, noImproveStreak: 0, bestScore: 0.25 })
})

verifies('trm:reset:user', 'outside of git', async (t) => {
  const { client, root } = await openTrm(t, { files: judged })
  const { ask } = client()
  await ask('start', { repo: 'p', test: judge, preflight: false })
  await ask('submit', { candidate: scored(3) })
  write(join(root, 'p', 'other.txt'), 'mine\n')
  await ask('reset')
  t.same([textOf(root, 'p', 'score'), textOf(root, 'p', 'other.txt')], ['1\n', 'mine\n'])
  t.notOk(existsSync(join(root, 'p', '.git')))
})
