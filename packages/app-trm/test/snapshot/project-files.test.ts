import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { until } from '../../../../test/e2e/condition.ts'
import { randomFrom } from '../../../../test/random.ts'
import { verifies } from '../../../../test/verifies.ts'
import type { Changes, FileContent } from '../../src/domain/candidate/types.ts'
import type { Manifest } from '../../src/snapshot/snapshot-entry.ts'
import { Snapshots } from '../../src/snapshot/snapshots.ts'
import { TrmStore } from '../../src/store/store.ts'
import { readFiles, type WriteOptions, writeFiles } from '../../src/workspace/project-files.ts'
import { removeTemporaryFiles } from '../../src/workspace/replace-files.ts'
import { walkTree } from '../../src/workspace/tree-list.ts'
import { openTrm, readText, reopenTrm, repairSums, unittest } from '../trm-kit.ts'
import { changedPaths, fingerprint, git, userProject } from './project-kit.ts'

t.setTimeout(300_000)

const open = (folder: string) => ({
  read: (paths: readonly string[]) => readFiles(folder, paths),
  write: (changes: Changes, options: WriteOptions) => writeFiles(folder, changes, options),
})

function setUp(t: Test) {
  const root = t.testdir({
    'a.txt': 'a\n',
    'b.txt': 'b\n',
    bin: { 'run.sh': '#!/bin/sh\n' },
    outside: { 'secret.txt': 'secret\n' },
    project: { 'inner.txt': 'inner\n' },
  })
  chmodSync(join(root, 'bin/run.sh'), 0o750)
  return { root, files: open(root) }
}

t.test('text is read with its byte order mark, and other content as bytes', async (t) => {
  const { root, files } = setUp(t)
  writeFileSync(join(root, 'marked.txt'), '\ufeffé\r\n')
  writeFileSync(join(root, 'latin.txt'), Uint8Array.from([0xe9, 0x0a]))
  writeFileSync(join(root, 'nul.bin'), Uint8Array.from([65, 0, 66]))
  const read = await files.read(['marked.txt', 'latin.txt', 'nul.bin', 'absent.txt', './a.txt'])
  t.equal(read.get('marked.txt'), '\ufeffé\r\n')
  t.same([...(read.get('latin.txt') ?? [])], [0xe9, 0x0a])
  t.ok(read.get('nul.bin') instanceof Uint8Array)
  t.ok(read.has('absent.txt') && read.get('absent.txt') === undefined)
  t.equal(read.get('a.txt'), 'a\n')
})

t.test('all changes are written, and changed and renamed files retain their modes', async (t) => {
  const { root, files } = setUp(t)
  const before = await files.read(['a.txt', 'b.txt', 'bin/run.sh', 'tools/run.sh', 'new/deep.txt'])
  const changes = new Map<string, FileContent | null>([
    ['a.txt', 'changed\n'],
    ['b.txt', null],
    ['bin/run.sh', null],
    ['tools/run.sh', '#!/bin/sh\necho\n'],
    ['new/deep.txt', Uint8Array.from([1, 0, 2])],
  ])
  chmodSync(join(root, 'a.txt'), 0o604)
  await files.write(changes, { before, previousPaths: new Map([['tools/run.sh', 'bin/run.sh']]) })
  t.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'changed\n')
  t.equal(statSync(join(root, 'a.txt')).mode & 0o777, 0o604)
  t.equal(statSync(join(root, 'tools/run.sh')).mode & 0o777, 0o750)
  t.equal(statSync(join(root, 'new/deep.txt')).mode & 0o777, 0o666 & ~process.umask())
  t.same(readdirSync(root).sort(), ['a.txt', 'new', 'outside', 'project', 'tools'], 'nothing else is left')
})

t.test('writeFiles sets and clears executable bits', async (t) => {
  const { root, files } = setUp(t)
  const before = await files.read(['a.txt', 'bin/run.sh'])
  const executableBits = new Map([
    ['a.txt', true],
    ['bin/run.sh', false],
  ])
  await files.write(
    new Map([
      ['a.txt', 'a\n'],
      ['bin/run.sh', '#!/bin/sh\n'],
    ]),
    { before, executableBits },
  )
  t.equal(statSync(join(root, 'a.txt')).mode & 0o111, (statSync(join(root, 'a.txt')).mode & 0o444) >> 2)
  t.equal(statSync(join(root, 'bin/run.sh')).mode & 0o777, 0o640)
})

t.test('a file that changed in the meantime prevents the whole write', async (t) => {
  const { root, files } = setUp(t)
  const before = await files.read(['a.txt', 'b.txt', 'new/c.txt'])
  writeFileSync(join(root, 'b.txt'), 'by the user\n')
  const print = fingerprint(root)
  const changes = new Map([
    ['a.txt', 'x\n'],
    ['b.txt', 'x\n'],
    ['new/c.txt', 'x\n'],
  ])
  await t.rejects(files.write(changes, { before }), { code: 'STALE_FILE', data: { path: 'b.txt' } })
  t.same(changedPaths(print, fingerprint(root)), [])
  t.notOk(readdirSync(root).includes('new'))
})

verifies('trm:snapshot:exact', 'a failed write restores every file', async (t) => {
  const { root, files } = setUp(t)
  const before = await files.read(['a.txt', 'b.txt'])
  const print = fingerprint(root)
  // `{}` cannot be written, so the second file fails.
  const broken = new Map<string, FileContent | null>([
    ['a.txt', 'x\n'],
    ['b.txt', {} as unknown as Uint8Array],
  ])
  await t.rejects(files.write(broken, { before }))
  t.same(changedPaths(print, fingerprint(root)), [])
})

verifies(
  'trm:candidate:refused',
  'links, folders, other repositories and paths out of the project are rejected',
  async (t) => {
    const { root, files } = setUp(t)
    symlinkSync(join(root, 'outside'), join(root, 'project/link'))
    symlinkSync('../a.txt', join(root, 'project/file-link'))
    symlinkSync('/nonexistent', join(root, 'project/dangling'))
    mkdirSync(join(root, 'outside/.git'))
    const inner = open(join(root, 'project'))
    for (const path of [
      'link/secret.txt',
      'file-link',
      'dangling',
      '../a.txt',
      '.git/hooks/x',
      'inner.txt/x',
    ]) {
      await t.rejects(inner.read([path]), { code: 'INVALID_PATH' }, path)
      await t.rejects(
        inner.write(new Map([[path, 'x']]), { before: new Map() }),
        { code: 'INVALID_PATH' },
        path,
      )
    }
    for (const path of ['bin', 'outside/secret.txt'])
      await t.rejects(files.read([path]), { code: 'INVALID_PATH' }, path)
    t.equal(readFileSync(join(root, 'outside/secret.txt'), 'utf8'), 'secret\n')
  },
)

t.test('a file of more than ten megabytes is rejected', async (t) => {
  const { root, files } = setUp(t)
  truncateSync(join(root, 'a.txt'), 10 * 2 ** 20 + 1)
  await t.rejects(files.read(['a.txt']), { code: 'FILE_TOO_LARGE', data: { path: 'a.txt' } })
})

t.test('temporary files of an interrupted write are removed', async (t) => {
  const { root } = setUp(t)
  writeFileSync(join(root, '.a.txt.causeway-12345678'), 'half')
  writeFileSync(join(root, '.a.txt.other'), 'of the user')
  for (const path of ['a.txt', 'absent/b.txt']) await removeTemporaryFiles(join(root, path))
  t.same(
    readdirSync(root).filter((name) => name.startsWith('.')),
    ['.a.txt.other'],
  )
})

/** Hides git until the test ends or the returned function is called. */
function withoutGit(t: Test): () => void {
  const path = process.env.PATH
  const giveBack = () => {
    process.env.PATH = path
  }
  t.teardown(giveBack)
  process.env.PATH = '/nonexistent'
  return giveBack
}

function setUpWithoutGit(t: Test) {
  const dir = t.testdir({ project: {}, data: {} })
  const root = join(dir, 'project')
  userProject(root)
  const store = new TrmStore(join(dir, 'data'), { now: Date.now })
  t.teardown(() => store.close())
  const options = { dir: join(dir, 'data'), db: store.db, keepMs: 0, now: () => Date.now() + 1000 }
  const reopen = () => new Snapshots(options)
  const snapshots = reopen()
  const put = (path: string, content: string | Uint8Array) => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return { dir, root, snapshots, reopen, put, store }
}

verifies(
  'trm:snapshot:without-git',
  'files, links, modes and large files are restored, and dropped snapshots are removed',
  async (t) => {
    const { root, snapshots, put, dir } = setUpWithoutGit(t)
    const bytes = Buffer.alloc(5 * 2 ** 20 + 7, 'causeway\0')
    put('large.bin', bytes)
    symlinkSync('src/app.py', join(root, 'link.py'))
    const before = fingerprint(root, { times: false })
    withoutGit(t)
    const paths = ['src/app.py', 'tool.sh', 'data.bin', 'empty.txt', 'new/file.txt', 'link.py', 'large.bin']
    const taken = await snapshots.take(root, paths)
    put('src/app.py', 'changed\n')
    chmodSync(join(root, 'tool.sh'), 0o600)
    put('large.bin', 'short')
    put('new/file.txt', 'created\n')
    for (const path of ['data.bin', 'empty.txt', 'link.py']) rmSync(join(root, path))
    const after = await snapshots.take(root, paths)
    put('tool.sh', 'by the user\n')
    t.same(await snapshots.findChanged(after), ['tool.sh'])
    await t.rejects(snapshots.restore(taken, { expected: after }), { code: 'USER_EDIT_CONFLICT' })
    await snapshots.restore(taken, { expected: after, force: true })
    t.same(changedPaths(before, fingerprint(root, { times: false })), [])
    t.equal((await snapshots.read(taken, ['src/app.py'])).get('src/app.py'), readText(root, 'src/app.py'))
    await snapshots.drop(after)
    await snapshots.collect()
    await t.rejects(snapshots.entries(after), { code: 'SNAPSHOT_NOT_FOUND' })
    t.same(await snapshots.findChanged(taken), [], 'what another snapshot holds is still there')
    await snapshots.restore(taken, { force: true })
    t.notOk(existsSync(join(dir, 'data', 'shadow.git')))
  },
)

/** Moves a snapshot from the database to a git repository, as version 0.2 stored it. */
function moveToGit(dir: string, { db }: TrmStore, id: string): void {
  const folder = join(dir, 'shadow.git')
  mkdirSync(dir, { recursive: true })
  const run = (input: string, ...args: string[]): string =>
    execFileSync('git', [`--git-dir=${folder}`, ...args], { input, encoding: 'utf8' }).trim()
  run('', 'init', '-q', '--bare')
  const { list } = db.prepare('SELECT list FROM snapshot').get() as { list: string }
  const { root, entries } = JSON.parse(list) as Manifest
  const files = entries.filter(({ blob }) => blob !== '')
  const blobs = files.map(({ path }) => run(readText(root, path), 'hash-object', '-w', '--stdin'))
  const tree = [`100644 blob ${run(list, 'hash-object', '-w', '--stdin')}\tentries`]
    .concat(blobs.map((blob) => `100644 blob ${blob}\t${blob}`))
    .join('\n')
  run('', 'update-ref', `refs/snapshots/${id}`, run(tree, 'mktree'))
  db.exec('DELETE FROM snapshot_content; DELETE FROM snapshot; DELETE FROM content;')
}

verifies(
  'trm:snapshot:without-git',
  'a snapshot of version 0.2 is restored with git and unavailable without it',
  async (t) => {
    const { dir, root, snapshots, reopen, put, store } = setUpWithoutGit(t)
    const taken = await snapshots.take(root, ['src/app.py', 'tool.sh'])
    moveToGit(join(dir, 'data'), store, taken)
    const opened = reopen()
    const original = readText(root, 'src/app.py')
    put('src/app.py', 'changed\n')
    rmSync(join(root, 'tool.sh'))
    const giveBack = withoutGit(t)
    await opened.drop('never-was')
    await t.rejects(opened.restore(taken), { code: 'SNAPSHOT_UNAVAILABLE' })
    const later = await opened.take(root, ['src/app.py'])
    giveBack()
    t.same((await opened.restore(taken)).restored, ['src/app.py', 'tool.sh'])
    t.equal(readText(root, 'src/app.py'), original)
    t.equal((await opened.read(taken, ['src/app.py'])).get('src/app.py'), original)
    t.equal(statSync(join(root, 'tool.sh')).mode & 0o111, 0o111)
    await t.rejects(opened.entries('never-was'), { code: 'SNAPSHOT_NOT_FOUND' })
    await opened.restore(later)
    t.equal(readText(root, 'src/app.py'), 'changed\n')
  },
)

verifies(
  'trm:snapshot:without-git',
  'snapshots of version 0.2 are removed only after they were moved into the database',
  async (t) => {
    const { dir, root, snapshots, reopen, put, store } = setUpWithoutGit(t)
    const taken = await snapshots.take(root, ['src/app.py', 'tool.sh', 'absent.txt'])
    const archive = join(dir, 'data', 'shadow.git')
    moveToGit(join(dir, 'data'), store, taken)
    const signal = new AbortController().signal
    const giveBack = withoutGit(t)
    await t.rejects(reopen().importArchive(signal), { code: 'SNAPSHOT_UNAVAILABLE' })
    giveBack()
    await t.rejects(reopen().importArchive(AbortSignal.abort(new Error('stop'))), { message: 'stop' })
    const { blob } = (await reopen().entries(taken)).find(({ path }) => path === 'tool.sh') as {
      blob: string
    }
    const object = join(archive, 'objects', blob.slice(0, 2), blob.slice(2))
    renameSync(object, `${object}.lost`)
    await t.rejects(reopen().importArchive(signal), { message: /the content of a snapshot is missing/ })
    renameSync(`${object}.lost`, object)
    t.ok(existsSync(archive))
    await reopen().importArchive(signal)
    t.same(
      readdirSync(join(dir, 'data')).filter((name) => name.startsWith('shadow')),
      [],
    )
    reopen().collect()
    const original = readText(root, 'src/app.py')
    put('src/app.py', 'changed\n')
    put('absent.txt', 'created\n')
    withoutGit(t)
    t.same(await reopen().restore(taken), { restored: ['src/app.py'], deleted: ['absent.txt'] })
    t.equal(readText(root, 'src/app.py'), original)
    await reopen().importArchive(signal)
  },
)

verifies('trm:snapshot:without-git', 'starting the server moves snapshots of version 0.2', async (t) => {
  const { app, critic, root, dataDir } = await openTrm(t, { files: { 'p/a.txt': 'a' } })
  const taken = await critic.snapshots.take(join(root, 'p'), ['a.txt'])
  moveToGit(join(dataDir, 'trm'), critic.store, taken)
  await app.close()
  const reopened = await reopenTrm(t, { root, dataDir })
  await until(
    async () => existsSync(join(dataDir, 'trm', 'shadow.git')),
    (exists) => !exists,
  )
  withoutGit(t)
  t.match(await reopened.critic.snapshots.entries(taken), [{ path: 'a.txt' }])
})

verifies(
  'trm:snapshot:without-git',
  'walkTree includes the same files as git for random ignore rules',
  async (t) => {
    const names = ['a', 'b', 'c.log', 'd.py', 'build', 'out', '[x]', 'e f']
    const rules = ['*.log', '!c.log', 'build/', '/a', 'out', 'a/b', '**/d.py', 'a/**', '!d.py', '\\[x\\]']
      .concat(['[!a-c]*', '[a-c].log', 'b**', 'a/**/b', '/a/', 'e?f', '\\!a', 'c.log ', '**/', 'out/**'])
      .concat(['# out', '', 'e f', '*/c.log', '!build/', 'b/*', '!/b/a', '?', '/*', '!*/'])
    for (let seed = 1; seed <= 25; seed++) {
      const { pick } = randomFrom(seed)
      const root = join(t.testdir({ [`p${seed}`]: {} }), `p${seed}`)
      git(root, 'init', '-q')
      const folders = ['']
      for (let index = 0; index < 8; index++) {
        const folder = join(pick(folders), pick(names))
        if (!existsSync(join(root, folder))) {
          mkdirSync(join(root, folder), { recursive: true })
          folders.push(folder)
        }
      }
      for (const folder of folders)
        for (const name of names)
          if (!existsSync(join(root, folder, name))) writeFileSync(join(root, folder, name), '')
      const written = () => Array.from({ length: 3 }, () => pick(rules)).join('\n')
      writeFileSync(join(root, '.gitignore'), written())
      for (const folder of folders.slice(1, 4)) writeFileSync(join(root, folder, '.gitignore'), written())
      writeFileSync(join(root, '.git', 'info', 'exclude'), pick(rules))
      const theirs = git(root, 'ls-files', '-z', '--others', '--exclude-standard').split('\0').filter(Boolean)
      const rulesByFolder = folders
        .slice(0, 4)
        .map(
          (folder) =>
            `${folder}: ${existsSync(join(root, folder, '.gitignore')) ? readFileSync(join(root, folder, '.gitignore'), 'utf8') : ''}`,
        )
      t.same(
        [...(await walkTree(root)).included].sort(),
        theirs.sort(),
        `seed ${seed}: ${JSON.stringify(rulesByFolder)}`,
      )
    }
  },
)

verifies('trm:snapshot:without-git', 'a session without git can undo its candidates', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  withoutGit(t)
  const before = readText(root, 'sums', 'sums.py')
  await ask('start', { repo: 'sums', test: unittest })
  t.match(await ask('submit', { candidate: repairSums }), { rule: 'success' })
  await ask('undo')
  t.equal(readText(root, 'sums', 'sums.py'), before)
})
