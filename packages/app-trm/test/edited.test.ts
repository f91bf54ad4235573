import { spawnSync } from 'node:child_process'
import { closeSync, cpSync, existsSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { judge, judged, openTrm, readText, reopenTrm, scored, unittest, write } from './trm-kit.ts'

t.setTimeout(300_000)

verifies('trm:submit:edited', async (t) => {
  const { client, root } = await openTrm(t, { files: judged })
  const { ask } = client()
  const edit = (path: string, text: string) => write(join(root, 'p', path), text)
  const read = (path: string) => readText(root, 'p', path)
  await ask('start', { repo: 'p', test: judge })
  edit('score', '3\n')
  edit('made.txt', 'made\n')
  t.match(await ask('submit', { reason: 'by hand' }), {
    step: 1,
    kind: 'submit',
    tests: { passed: 3 },
    filesChanged: ['made.txt', 'score'],
  })
  edit('score', '2\n')
  rmSync(join(root, 'p', 'made.txt'))
  t.match(await ask('submit'), { step: 2, score: 0.5, filesChanged: ['made.txt', 'score'] })
  t.match(await ask('submit'), { step: 3, kind: 'rerun', filesChanged: [] })
  t.same((await ask('undo')).filesRestored, [], 'a step without edits changes no file')
  t.same((await ask('undo')).filesRestored, ['made.txt', 'score'])
  t.equal(read('score'), '3\n')
  t.equal(read('made.txt'), 'made\n')
  edit('score', '1\n')
  await ask('submit')
  t.same((await ask('end', { apply: 'best' })).filesRestored, ['score'])
  t.equal(read('score'), '3\n')
  t.equal(read('made.txt'), 'made\n')
})

verifies('trm:submit:edited', 'edits of the user remain after candidates, undo and reset', async (t) => {
  const { client, root } = await openTrm(t, { files: judged })
  const { ask } = client()
  const edit = (path: string, text: string) => write(join(root, 'p', path), text)
  const read = (path: string) => readText(root, 'p', path)
  await ask('start', { repo: 'p', test: judge })
  edit('other.txt', 'mine\n')
  t.match(await ask('submit', { candidate: scored(3) }), { filesChanged: ['score'] })
  edit('notes.txt', 'later\n')
  t.same((await ask('undo')).filesRestored, ['score'])
  t.equal(read('other.txt'), 'mine\n')
  t.equal(read('notes.txt'), 'later\n')
  await ask('submit', { candidate: scored(2) })
  edit('score', '0\n')
  await t.rejects(ask('undo'), { code: 'USER_EDIT_CONFLICT', data: { conflicts: ['score'] } })
  edit('score', '2\n')
  t.same((await ask('reset')).filesRestored, ['score'])
  t.equal(read('score'), '1\n')
  t.equal(read('other.txt'), 'mine\n')
  t.equal(read('notes.txt'), 'later\n')
})

verifies(
  'trm:submit:edited',
  'undo restores the edit before a candidate, and edits remain after a cancellation',
  async (t) => {
    const { client, root, critic } = await openTrm(t, { files: judged })
    const { ask } = client()
    const edit = (text: string) => write(join(root, 'p', 'score'), text)
    const gate = `while [ -e ${critic.dir}/gate ]; do sleep 0.02; done; ${judge}`
    await ask('start', { repo: 'p', test: gate })
    edit('2\n')
    await ask('submit', { candidate: scored(3) })
    await ask('undo')
    t.equal(readText(root, 'p', 'score'), '2\n', 'the edit before the candidate')
    edit('3\n')
    write(`${critic.dir}/gate`, '')
    t.match(await ask('submit', { wait: 0 }), { status: 'running' })
    const { sessionId } = await ask('state')
    await critic.running.get(sessionId)?.cancel()
    rmSync(`${critic.dir}/gate`)
    t.equal(readText(root, 'p', 'score'), '3\n', 'a cancelled evaluation does not change the edit')
  },
)

verifies('trm:submit:edited', 'edits by another program are guarded like candidates', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const { baseline } = await ask('start', { repo: 'sums', test: unittest })
  const file = join(root, 'sums', 'test_sums.py')
  const original = readText(file)
  write(file, original.replace(/^ {8}.*$/gm, '        pass'))
  t.match(await ask('submit'), { rule: null, guard: { files: ['test_sums.py'], confirms: false } })
  t.match(await ask('state'), { bestStep: 0, bestScore: baseline.score })
  await ask('end', { apply: 'best' })
  t.equal(readText(file), original)
  t.notOk(existsSync(join(root, 'sums', '__pycache__')))
})

verifies('trm:submit:project', async (t) => {
  const { client, critic } = await openTrm(t, {
    files: { ...judged, 'p/inner/score': '1\n', 'q/score': '1\n' },
  })
  const [one, two] = [client(), client()]
  const gate = `while [ ! -e ${critic.dir}/gate ]; do sleep 0.02; done`
  await one.ask('start', { repo: 'p', test: gate, preflight: false })
  await two.ask('start', { repo: 'p', test: judge, preflight: false })
  t.match(await one.ask('submit', { candidate: scored(2), wait: 0 }), { status: 'running' })
  for (const tool of ['undo', 'reset', 'save']) await t.rejects(two.ask(tool), { code: 'PROJECT_BUSY' }, tool)
  await t.rejects(two.ask('submit', { candidate: scored(3) }), { code: 'PROJECT_BUSY' })
  await t.rejects(two.ask('start', { repo: 'p/inner', test: judge }), { code: 'PROJECT_BUSY' })
  t.match(await two.ask('start', { repo: 'q', test: judge }), { status: 'done' }, 'elsewhere nothing waits')
  write(`${critic.dir}/gate`, '')
  t.match(await one.ask('state', { wait: 20 }), { step: 1, running: null })
  t.match(await client().ask('start', { repo: 'p', test: judge }), { status: 'done' })
})

verifies('trm:submit:project', 'one of two simultaneous candidates is rejected', async (t) => {
  const { client, root } = await openTrm(t, { files: judged })
  const speakers = [client(), client()]
  for (const { ask } of speakers) await ask('start', { repo: 'p', test: judge, preflight: false })
  const both = await Promise.allSettled(
    speakers.map(({ ask }, index) => ask('submit', { candidate: scored(index + 2) })),
  )
  t.same(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  const refused = both.find((one) => one.status === 'rejected')
  t.equal(refused?.reason.code, 'PROJECT_BUSY')
  t.equal(readText(root, 'p', 'score'), both[0]?.status === 'fulfilled' ? '2\n' : '3\n')
})

verifies('trm:candidate:format', 'absolute paths below the project are accepted in four modes', async (t) => {
  const { client, root } = await openTrm(t, { files: judged })
  const { ask } = client()
  const path = join(root, 'p', 'score')
  await ask('start', { repo: 'p', test: judge, preflight: false })
  const hunk = (from: number, to: number) => `@@ -1 +1 @@\n-${from}\n+${to}\n`
  const candidates = [
    { mode: 'diff', changes: [{ path, diff: `--- a${path}\n+++ b${path}\n${hunk(1, 2)}` }] },
    { mode: 'patch', patch: `--- ${path}\n+++ ${path}\n${hunk(2, 3)}` },
    { mode: 'modify', changes: [{ file: path, edits: [{ type: 'replaceLine', line: 1, content: '4' }] }] },
    { mode: 'files', files: [{ path, content: '1\n' }] },
  ]
  for (const candidate of candidates)
    t.match(await ask('validate', { candidate }).then(() => ask('submit', { candidate })), {
      filesChanged: ['score'],
    })
  t.match(await ask('read', { paths: [path] }), { files: { [path]: { content: '1\n' } } })
  const outside = { mode: 'files', files: [{ path: join(root, 'q'), content: '' }] }
  await t.rejects(ask('submit', { candidate: outside }), { code: 'INVALID_PATH' })
})

const create = (path: string) => ({ mode: 'files', files: [{ path, content: 'a' }] })

verifies('trm:limits:names', 'a name of more than 255 bytes is rejected', async (t) => {
  const { client, root } = await openTrm(t, { files: judged })
  const { ask } = client()
  await ask('start', { repo: 'p', test: judge, preflight: false })
  for (const name of ['x'.repeat(256), '字'.repeat(86)]) {
    await t.rejects(ask('submit', { candidate: create(name) }), { code: 'INVALID_PATH' })
    await t.rejects(ask('lines', { file: name, start: 1, end: 1 }), { code: 'INVALID_PATH' })
    t.match(await ask('validate', { candidate: create(name) }), { errors: [{ code: 'INVALID_PATH' }] })
  }
  for (const name of ['x'.repeat(255), '字'.repeat(85)]) {
    t.match(await ask('submit', { candidate: create(name) }), { filesChanged: [name] })
    t.equal(readText(root, 'p', name), 'a')
  }
})

verifies('trm:limits:names', 'a command that is too long for the system is rejected', async (t) => {
  const { client } = await openTrm(t, { files: judged })
  const { ask } = client()
  const long = 'x'.repeat(200_000)
  await t.rejects(ask('start', { repo: 'p', test: `echo ${long}` }), { code: 'INVALID_ARGUMENTS' })
  const options = { env: { LONG: long } }
  await t.rejects(ask('start', { repo: 'p', test: judge, options }), { code: 'INVALID_ARGUMENTS' })
})

/** Mounts a file system of this size. Returns `undefined` if the user is not allowed to mount it. */
function mountDisk(t: Test, size: string): string | undefined {
  const dir = mkdtempSync(join(tmpdir(), 'causeway-disk-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', dir])
  t.teardown(() => {
    if (status === 0) spawnSync('umount', ['--lazy', dir])
    rmSync(dir, { recursive: true, force: true })
  })
  return status === 0 ? dir : undefined
}

/** Fills a disk. Returns a function that releases the space. */
function fillDisk(disk: string): () => void {
  const file = join(disk, 'filler')
  const filler = openSync(file, 'w')
  for (const size of [2 ** 20, 4096, 1])
    try {
      for (;;) writeSync(filler, Buffer.alloc(size))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  closeSync(filler)
  return () => rmSync(file)
}

const needsRoot = { skip: 'mounting a small file system requires root' }

verifies('trm:limits:disk', 'a full data folder is reported, and the session continues later', async (t) => {
  const disk = mountDisk(t, '4m')
  if (disk === undefined) return void t.pass('data folder', needsRoot)
  const { root } = await openTrm(t, { files: { ...judged, 'p/large.txt': 'x'.repeat(50_000) } })
  const { client } = await reopenTrm(t, { root, dataDir: disk })
  const { ask } = client()
  await ask('start', { repo: 'p', test: judge })
  const release = fillDisk(disk)
  // The server converts errors of SQLite to DATA_UNWRITABLE.
  await t.rejects(ask('submit', { candidate: scored(2) }), { code: 'SQLITE_FULL' })
  await t.rejects(ask('submit'), { code: 'SQLITE_FULL' })
  await t.rejects(ask('start', { repo: 'p', test: judge, options: { write: 'end' } }), {
    code: 'DATA_UNWRITABLE',
  })
  t.equal(readText(root, 'p', 'score'), '1\n')
  release()
  t.match(await ask('submit', { candidate: scored(2) }), { score: 0.5, step: 1 })
})

verifies(
  'trm:limits:disk',
  'a candidate for a project on a full disk fails without changing a file',
  async (t) => {
    const disk = mountDisk(t, '1m')
    if (disk === undefined) return void t.pass('project', needsRoot)
    const { root: source, dataDir } = await openTrm(t, { files: judged })
    cpSync(join(source, 'p'), join(disk, 'p'), { recursive: true })
    const { client } = await reopenTrm(t, { root: disk, dataDir })
    const { ask } = client()
    await ask('start', { repo: 'p', test: judge, preflight: false })
    const release = fillDisk(disk)
    await t.rejects(ask('submit', { candidate: scored(2) }), { code: 'DATA_UNWRITABLE' })
    t.equal(readText(disk, 'p', 'score'), '1\n')
    release()
    t.match(await ask('submit', { candidate: scored(2) }), { score: 0.5, step: 1 })
  },
)

t.test('a warning about Python syntax is confirmed by the interpreter', async (t) => {
  const { client } = await openTrm(t, { files: judged })
  const { ask } = client()
  await ask('start', { repo: 'p', test: judge, preflight: false })
  const warnings = async (content: string) => {
    const candidate = { mode: 'files', files: [{ path: 'a.py', content }] }
    return (await ask('validate', { candidate })).warnings
  }
  const valid = [
    'def f():\n    with (open("a")) as file:\n        value = yield\n    return value / 2.\n',
    'x = 1\n\x0cy = 1.\n',
    'match x:\n    case int() | str():\n        pass\n',
  ]
  for (const text of valid) t.same(await warnings(text), [], text)
  t.match(await warnings('x = 1\ndef f(:\n    pass\n'), [
    { code: 'SYNTAX', path: 'a.py', message: /^line 2 / },
  ])
})
