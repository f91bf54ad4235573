import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mock } from 'node:test'
import { WorkerPool } from '@causeway/worker'
import t from 'tap'
import { sample } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import {
  judge,
  judged,
  openTrm,
  readText,
  reopenTrm,
  repairSums,
  replacing,
  scored,
  unittest,
  write,
} from './trm-kit.ts'

verifies(
  'trm:submit:modes',
  'a change produces the same bytes in four modes for all line endings',
  async (t) => {
    const before: Readonly<Record<string, string>> = {
      lf: 'one\ntwo\nthree\n',
      crlf: 'one\r\ntwo\r\nthree\r\n',
      open: 'one\ntwo\nthree',
    }
    const copies = ['modify', 'diff', 'patch', 'files'].flatMap((mode) =>
      Object.entries(before).map(([kind, text]) => [`${mode}-${kind}/a.txt`, text] as const),
    )
    const { client, root } = await openTrm(t, { files: Object.fromEntries(copies) })
    const hunk = '@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n'
    const candidates: Readonly<Record<string, (text: string) => object>> = {
      modify: () => replacing('a.txt', 'two', 'TWO'),
      diff: () => ({ mode: 'diff', changes: [{ path: 'a.txt', diff: hunk }] }),
      patch: () => ({ mode: 'patch', patch: `--- a/a.txt\n+++ b/a.txt\n${hunk}` }),
      files: (text) => ({ mode: 'files', files: [{ path: 'a.txt', content: text.replace('two', 'TWO') }] }),
    }
    for (const [mode, candidate] of Object.entries(candidates))
      for (const [kind, text] of sample(Object.entries(before), 2)) {
        const { ask } = client()
        await ask('start', { repo: `${mode}-${kind}`, preflight: false })
        await ask('submit', { candidate: candidate(text) })
        t.equal(readText(root, `${mode}-${kind}`, 'a.txt'), text.replace('two', 'TWO'), `${mode} ${kind}`)
      }
  },
)

verifies('trm:submit:modes', 'create, files and patch produce the same bytes for a new file', async (t) => {
  const contents: Readonly<Record<string, string>> = {
    lf: 'one\ntwo\n',
    crlf: 'one\r\ntwo\r\n',
    open: 'one\ntwo',
  }
  const candidates: Readonly<Record<string, (content: string) => object>> = {
    create: (content) => ({ mode: 'create', files: [{ path: 'b.txt', content }] }),
    files: (content) => ({ mode: 'files', files: [{ path: 'b.txt', content }] }),
    patch: (content) => {
      const end = content.endsWith('\n') ? '\n' : '\n\\ No newline at end of file\n'
      const lines = content
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => `+${line}`)
        .join('\n')
      return { mode: 'patch', patch: `--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1,2 @@\n${lines}${end}` }
    },
  }
  const trees = Object.keys(candidates).flatMap((mode) =>
    Object.keys(contents).map((kind) => `${mode}-${kind}`),
  )
  const { client, root } = await openTrm(t, {
    files: Object.fromEntries(trees.map((tree) => [`${tree}/a.txt`, ''])),
  })
  for (const [mode, candidate] of Object.entries(candidates))
    for (const [kind, content] of sample(Object.entries(contents), 2)) {
      const { ask } = client()
      await ask('start', { repo: `${mode}-${kind}`, preflight: false })
      await ask('submit', { candidate: candidate(content) })
      t.equal(readText(root, `${mode}-${kind}`, 'b.txt'), content, `${mode} ${kind}`)
    }
})

verifies(
  'trm:submit:modes',
  'a patch creates, deletes and renames files, and undo restores them',
  async (t) => {
    const { client, root } = await openTrm(t, {
      files: { 'p/old.txt': 'a\nb\n', 'p/gone.txt': 'x\n', 'p/empty': '' },
    })
    const { ask } = client()
    await ask('start', { repo: 'p', preflight: false })
    const patch = [
      'diff --git a/new.txt b/new.txt\nnew file mode 100755\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n',
      'diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n',
      'diff --git a/old.txt b/moved.txt\nsimilarity index 100%\nrename from old.txt\nrename to moved.txt\n',
    ].join('')
    const result = await ask('submit', { candidate: { mode: 'patch', patch } })
    t.same(result.filesChanged, ['gone.txt', 'moved.txt', 'new.txt', 'old.txt'])
    const at = (name: string) => join(root, 'p', name)
    t.same(
      ['new.txt', 'moved.txt', 'gone.txt', 'old.txt'].map((name) => existsSync(at(name))),
      [true, true, false, false],
    )
    t.equal(readText(at('new.txt')), 'a\nb\n')
    await ask('undo')
    t.same(
      ['new.txt', 'moved.txt', 'gone.txt', 'old.txt'].map((name) => existsSync(at(name))),
      [false, false, true, true],
    )
    t.equal(readText(at('old.txt')), 'a\nb\n')
  },
)

verifies('trm:submit:atomic', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  await ask('start', { repo: 'sums', test: unittest })
  const before = { text: readText(root, 'sums', 'sums.py'), state: await ask('state') }
  const edits = (...list: object[]) => ({ mode: 'modify', changes: [{ file: 'sums.py', edits: list }] })
  const refused: readonly (readonly [object, string, object?])[] = [
    [
      edits(
        { type: 'deleteRange', startLine: 1, endLine: 4 },
        { type: 'replaceLine', line: 3, content: 'x' },
      ),
      'EDIT_OVERLAP',
    ],
    [edits({ type: 'replace', oldText: 'values', newText: 'x' }), 'REPLACE_AMBIGUOUS', { lines: [4, 6] }],
    [edits({ type: 'replace', oldText: 'return total(valeus)', newText: 'x' }), 'REPLACE_NOT_FOUND'],
    [
      {
        mode: 'modify',
        changes: [
          { file: 'test_sums.py', edits: [{ type: 'deleteLine', line: 1 }] },
          { file: 'sums.py', edits: [{ type: 'replace', oldText: 'nowhere', newText: 'x' }] },
        ],
      },
      'REPLACE_NOT_FOUND',
    ],
    [{ mode: 'create', files: [{ path: 'sums.py', content: 'x' }] }, 'FILE_EXISTS'],
    [{ mode: 'guess' }, 'INVALID_ARGUMENTS'],
  ]
  for (const [candidate, code, data] of refused) {
    const error = await ask('submit', { candidate }).catch((cause) => cause)
    t.match(error, { code }, code)
    if (data !== undefined) t.ok(error.data.lines?.length > 1, 'names the lines')
  }
  t.equal(readText(root, 'sums', 'sums.py'), before.text)
  t.same({ ...(await ask('state')), running: null }, { ...before.state, running: null })
  const both = edits(
    { type: 'insertAfter', line: 1, content: '# new' },
    { type: 'replace', oldText: 'len(values) + 1', newText: 'len(values)' },
  )
  t.match(await ask('submit', { candidate: both }), { step: 1, score: 1 })
  t.match(readText(root, 'sums', 'sums.py'), /\n# new\n[\s\S]*len\(values\)\)/)
})

verifies('trm:submit:stale', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  await ask('start', { repo: 'sums', preflight: false })
  await ask('read', { paths: ['sums.py'] })
  writeFileSync(join(root, 'sums', 'sums.py'), `# mine\n${readText(root, 'sums', 'sums.py')}`)
  const error = await ask('submit', { candidate: repairSums }).catch((thrown) => thrown)
  t.match(error, { code: 'STALE_FILE', data: { path: 'sums.py' }, remedy: /data\.diff/ })
  t.match(error.data.diff, /^@@ -1,1 \+1,2 @@\n\+# mine\n """/)
  t.match(await ask('validate', { candidate: repairSums }), { errors: [{ code: 'STALE_FILE' }] })
  const withSha = { ...repairSums, changes: [{ ...repairSums.changes[0], sha: error.data.sha_now }] }
  t.match(await ask('validate', { candidate: withSha }), { valid: true }, 'written for what is there now')
  for (const path of ['./sums.py', 'absent.py']) {
    const stale = { mode: 'files', files: [{ path, content: '', sha: '0'.repeat(64) }] }
    t.match(await ask('validate', { candidate: stale }), { errors: [{ code: 'STALE_FILE' }] }, path)
  }
  await ask('lines', { file: 'sums.py', start: 1, end: 2 })
  t.match(await ask('submit', { candidate: repairSums }), { step: 1 })
  t.match(readText(root, 'sums', 'sums.py'), /^# mine\n/)
  const next = replacing('sums.py', '# mine', '# ours')
  t.match(
    await ask('submit', { candidate: next }),
    { step: 2 },
    'what the session wrote itself is known to it',
  )
})

verifies('trm:submit:improved', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const inPlace = { write: 'improved', isolate: false }
  await t.rejects(ask('start', { repo: 'sums', options: inPlace }), { code: 'INVALID_ARGUMENTS' })
  await ask('start', { repo: 'sums', test: unittest, options: { write: 'improved' } })
  const before = readText(root, 'sums', 'sums.py')
  t.match(await ask('submit', { candidate: replacing('sums.py', '+ 1', '+ 2') }), { landed: false })
  t.equal(readText(root, 'sums', 'sums.py'), before)
  t.match(await ask('submit', { candidate: repairSums }), { landed: true, score: 1 })
  t.not(readText(root, 'sums', 'sums.py'), before)
  t.match(await ask('undo'), { filesRestored: ['sums.py'] })
  t.equal(readText(root, 'sums', 'sums.py'), before)
})

verifies('trm:submit:end', async (t) => {
  const { client, root, dataDir } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const { config } = await ask('start', { repo: 'sums', test: unittest, options: { write: 'end' } })
  t.match(config, { repoPath: join(root, 'sums'), write: 'end' })
  t.notMatch(JSON.stringify(config), dataDir)
  const [path, before] = [join(root, 'sums', 'sums.py'), readText(root, 'sums', 'sums.py')]
  t.match(await ask('submit', { candidate: repairSums }), { score: 1, landed: false, rule: 'success' })
  t.equal(readText(path), before, 'nothing is in the project')
  const seen = await ask('lines', { file: 'sums.py', start: 11, end: 11 })
  t.match(seen.lines, [/\(len\(values\)\)/], 'the session reads its own copy')
  await ask('submit', { candidate: { mode: 'create', files: [{ path: 'late.txt', content: 'x' }] } })
  writeFileSync(path, `# mine\n${before}`)
  await t.rejects(ask('end', { apply: 'best' }), {
    code: 'USER_EDIT_CONFLICT',
    data: { conflicts: ['sums.py'] },
  })
  writeFileSync(path, before)
  t.match(await ask('end', { apply: 'best' }), { filesRestored: ['sums.py'] })
  t.match(readText(path), /\(len\(values\)\)/)
  t.notOk(existsSync(join(root, 'sums', 'late.txt')), 'it came after the best step')
  t.same(readdirSync(join(dataDir, 'trm', 'desks')), [], 'the copy is gone')
})

verifies(
  'trm:submit:end',
  'a restart removes workspaces without a session and retains the others',
  async (t) => {
    const { client, root, dataDir, app } = await openTrm(t, { files: judged })
    const { sessionId } = await client().ask('start', {
      repo: 'p',
      preflight: false,
      options: { write: 'end' },
    })
    const desks = join(dataDir, 'trm', 'desks')
    write(join(desks, 'orphan', 'a.txt'), 'a')
    await app.close()
    await reopenTrm(t, { root, dataDir })
    t.same(readdirSync(desks), [sessionId])
  },
)

verifies(
  'trm:submit:end',
  'end with `keep` does not change the project, and end with `last` writes all changes',
  async (t) => {
    const { client, root } = await openTrm(t, { files: judged })
    const { ask } = client()
    for (const [apply, text] of Object.entries({ keep: '1\n', last: '2\n' })) {
      await ask('start', { repo: 'p', test: judge, preflight: false, options: { write: 'end' } })
      await ask('submit', { candidate: scored(3) })
      await ask('submit', { candidate: scored(2) })
      const patch =
        'diff --git a/run b/run\nnew file mode 100755\n--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+run\n'
      await ask('submit', { candidate: { mode: 'patch', patch } })
      const executable = 'diff --git a/other.txt b/other.txt\nold mode 100644\nnew mode 100755\n'
      await ask('submit', { candidate: { mode: 'patch', patch: executable } })
      await ask('end', { apply })
      t.equal(readText(root, 'p', 'score'), text, apply)
    }
    for (const file of ['run', 'other.txt'])
      t.equal(statSync(join(root, 'p', file)).mode & 0o100, 0o100, file)
  },
)

verifies('trm:halt:limit', async (t) => {
  const { client } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  await ask('start', { repo: 'sums', lint: 'false', halt: { max: 1 }, preflight: false })
  t.match(await ask('submit', { candidate: repairSums }), { shouldHalt: true, rule: 'limit' })
  t.match(await ask('halt'), { shouldHalt: true, rule: 'limit' })
  const more = replacing('sums.py', '"""Sums', '"""Some sums')
  await t.rejects(ask('submit', { candidate: more }), { code: 'SESSION_HALTED' })
  t.match(await ask('submit', { candidate: more, force: true }), { step: 2 })
})

t.test('a session succeeds after a wrong candidate', async (t) => {
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
  t.match(readText(root, 'sums', 'sums.py'), /\+ 2/)
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
  t.match(readText(root, 'sums', 'sums.py'), /\+ 2/)
  t.match(await ask('undo'), { currentStep: 0 })
  await t.rejects(ask('undo'), { code: 'NOTHING_TO_UNDO' })
  t.match(readText(root, 'sums', 'sums.py'), /\+ 1/)
  t.match(await ask('end'), { ok: true })
  for (const tool of ['end', 'state'])
    await t.rejects(ask(tool, { sid: start.sessionId }), {
      code: 'SESSION_NOT_FOUND',
      message: /already ended/,
      data: { sid: start.sessionId, status: 'ended' },
      definition: { retryable: false },
    })
  const unknown = await ask('end', { sid: 'none' }).catch((error) => error)
  t.match(unknown, { code: 'SESSION_NOT_FOUND', definition: { retryable: false } })
  t.equal(unknown.data.status, undefined)
})

t.test(
  'validate returns the changes of a candidate, or why it is rejected, and changes nothing',
  async (t) => {
    const { client, root } = await openTrm(t, { copies: ['sums'] })
    const { ask } = client()
    await ask('start', { repo: 'sums', preflight: false })
    const good = await ask('validate', { candidate: repairSums })
    t.match(good, { valid: true, preview: { filesAffected: ['sums.py'], linesAdded: 1, linesRemoved: 1 } })
    t.ok(good.preview.filesPreviews[0].afterLines.includes('    return total(values) / (len(values))'))
    const bad = await ask('validate', { candidate: replacing('sums.py', 'not there', 'x') })
    t.match(bad, { valid: false, errors: [{ code: 'REPLACE_NOT_FOUND' }] })
    t.match(readText(root, 'sums', 'sums.py'), /\+ 1/)
    t.equal((await ask('state')).step, 0)
  },
)

t.test('the restore tool restores the files, step, scores and notes of a checkpoint', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  await ask('start', { repo: 'sums', test: unittest, notes: 'first' })
  await ask('submit', {
    candidate: replacing('sums.py', 'total(values) / ', 'sum(values) / '),
    reason: 'second',
  })
  const before = { text: readText(root, 'sums', 'sums.py'), state: await ask('state') }
  const { checkpointId } = await ask('save', { desc: 'here' })
  await ask('submit', { candidate: repairSums, reason: 'third' })
  await ask('submit', { candidate: { mode: 'create', files: [{ path: 'new.py', content: 'x = 1\n' }] } })
  t.match(await ask('restore', { cid: checkpointId }), {
    currentStep: 1,
    filesRestored: ['new.py', 'sums.py'],
  })
  t.equal(readText(root, 'sums', 'sums.py'), before.text)
  const { step, bestScore, emaScore, noImproveStreak, zNotes } = await ask('state')
  t.match(before.state, { step, bestScore, emaScore, noImproveStreak, zNotes })
  t.equal(zNotes, 'second')
  t.throws(() => readText(join(root, 'sums', 'new.py')))
  t.match(await ask('list'), { checkpoints: [{ id: checkpointId, step: 1, description: 'here' }] })
  t.match(await ask('reset'), { currentStep: 0 })
  t.match(readText(root, 'sums', 'sums.py'), /total\(values\) \/ \(len\(values\) \+ 1\)/)
})

verifies('trm:submit:protected', 'many long paths are compared with the patterns in a worker', async (t) => {
  const { client } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  await ask('start', { repo: 'sums', preflight: false, options: { protect: ['**/a*/b*/c'] } })
  const call = mock.method(WorkerPool.prototype, 'call')
  t.teardown(() => call.mock.restore())
  const files = Array.from({ length: 20 }, (_, index) => ({
    path: `${'a/'.repeat(100)}${index}`,
    content: '',
  }))
  t.match(await ask('validate', { candidate: { mode: 'files', files } }), { valid: true })
  t.ok(call.mock.calls.some(({ arguments: [method] }) => method === 'findProtected'))
})
