import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { Snapshots, type SnapshotsOptions } from '../../src/snapshot/snapshots.ts'
import { TrmStore } from '../../src/store/store.ts'
import { changedPaths, fingerprint, git, userProject } from './project-kit.ts'

function setUp(
  t: Test,
  { isRepository = true, ...options }: { isRepository?: boolean } & Partial<SnapshotsOptions> = {},
) {
  const dir = t.testdir({ project: {}, data: {} })
  const root = join(dir, 'project')
  const { trap } = isRepository ? userProject(root) : { trap: '' }
  const store = new TrmStore(join(dir, 'data'), { now: Date.now })
  t.teardown(() => store.close())
  const snapshots = new Snapshots({ dir: join(dir, 'data'), db: store.db, ...options })
  const put = (path: string, content: string | Uint8Array) => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return { dir, root, trap, snapshots, put, store }
}

verifies(
  'trm:snapshot:exact',
  'a snapshot restores the bytes and modes of changed, created, deleted and empty files',
  async (t) => {
    const { root, snapshots, put } = setUp(t)
    const before = fingerprint(root, { times: false })
    const paths = ['src/app.py', 'tool.sh', 'data.bin', 'empty.txt', 'new/deep/file.txt', 'notes.log']
    const taken = await snapshots.take(root, paths)
    put('src/app.py', 'changed\n')
    put('tool.sh', 'changed\n')
    chmodSync(join(root, 'tool.sh'), 0o600)
    put('notes.log', 'changed, though ignored\n')
    rmSync(join(root, 'data.bin'))
    rmSync(join(root, 'empty.txt'))
    put('new/deep/file.txt', 'created\n')
    const report = await snapshots.restore(taken)
    t.same(changedPaths(before, fingerprint(root, { times: false })), [])
    t.notOk(existsSync(join(root, 'new')), 'folders that became empty are gone')
    t.same([...report.restored].sort(), ['data.bin', 'empty.txt', 'notes.log', 'src/app.py', 'tool.sh'])
    t.same(report.deleted, ['new/deep/file.txt'])
  },
)

verifies(
  'trm:snapshot:user',
  'a snapshot changes only restored files of a project, regardless of its configuration',
  async (t) => {
    const { dir, root, trap, snapshots, put } = setUp(t)
    const before = fingerprint(root)
    const [status, stash, refs] = [
      git(root, 'rev-parse', 'HEAD'),
      git(root, 'stash', 'list'),
      git(root, 'for-each-ref'),
    ]
    await snapshots.copy(root, join(dir, 'copy'))
    const taken = await snapshots.take(root, ['src/app.py', 'created.py'])
    put('src/app.py', 'changed\n')
    put('created.py', 'changed\n')
    const after = await snapshots.take(root, ['src/app.py', 'created.py'])
    await snapshots.restore(taken, { expected: after })
    await snapshots.drop(taken, after)
    await snapshots.collect()
    t.same(
      changedPaths(before, fingerprint(root)),
      ['src/app.py'],
      'the file was written again with its content',
    )
    t.equal(readFileSync(join(root, 'src/app.py'), 'utf8'), 'def one():\r\n    return 1\r\n')
    t.notOk(existsSync(trap), 'no program of the project ran')
    t.same(
      [git(root, 'rev-parse', 'HEAD'), git(root, 'stash', 'list'), git(root, 'for-each-ref')],
      [status, stash, refs],
    )
  },
)

verifies(
  'trm:snapshot:conflict',
  'files that another program edited are conflicts, and restore writes no file',
  async (t) => {
    const { root, snapshots, put } = setUp(t)
    const before = await snapshots.take(root, ['src/app.py', 'tool.sh'])
    put('src/app.py', 'by the session\n')
    put('tool.sh', 'by the session\n')
    const after = await snapshots.take(root, ['src/app.py', 'tool.sh'])
    put('tool.sh', 'by the user\n')
    t.same(await snapshots.findChanged(after), ['tool.sh'])
    await t.rejects(snapshots.restore(before, { expected: after }), {
      code: 'USER_EDIT_CONFLICT',
      data: { conflicts: ['tool.sh'] },
    })
    t.equal(readFileSync(join(root, 'src/app.py'), 'utf8'), 'by the session\n')
    await snapshots.restore(before, { expected: after, paths: ['src/app.py'] })
    t.equal(readFileSync(join(root, 'src/app.py'), 'utf8'), 'def one():\r\n    return 1\r\n')
    await snapshots.restore(before, { expected: after, force: true })
    t.equal(readFileSync(join(root, 'tool.sh'), 'utf8'), '#!/bin/sh\necho tool\n')
  },
)

t.test('a file that the user restored is not a conflict', async (t) => {
  const { root, snapshots, put } = setUp(t)
  const before = await snapshots.take(root, ['untracked.txt'])
  put('untracked.txt', 'by the session\n')
  const after = await snapshots.take(root, ['untracked.txt'])
  put('untracked.txt', 'untracked\n')
  t.same(await snapshots.restore(before, { expected: after }), { restored: [], deleted: [] })
})

t.test('a folder at the path of a file is never removed, even with force', async (t) => {
  const { root, snapshots, put } = setUp(t)
  const before = await snapshots.take(root, ['untracked.txt', 'absent.txt'])
  rmSync(join(root, 'untracked.txt'))
  put('untracked.txt/of-the-user.txt', 'work\n')
  put('absent.txt/of-the-user.txt', 'work\n')
  await t.rejects(snapshots.restore(before, { force: true }), {
    code: 'USER_EDIT_CONFLICT',
    data: { conflicts: ['absent.txt', 'untracked.txt'] },
  })
  t.equal(readFileSync(join(root, 'untracked.txt/of-the-user.txt'), 'utf8'), 'work\n')
})

t.test('combine merges snapshots into the state before the first step or after the last', async (t) => {
  const { root, snapshots, put } = setUp(t)
  const original = fingerprint(root, { times: false })
  const befores: string[] = []
  const afters: string[] = []
  const steps: [string, string][] = [
    ['src/app.py', 'step 1\n'],
    ['b.py', 'step 2\n'],
    ['src/app.py', 'step 3\n'],
  ]
  for (const [path, content] of steps) {
    befores.push(await snapshots.take(root, [path]))
    put(path, content)
    afters.push(await snapshots.take(root, [path]))
  }
  const expected = await snapshots.combine(afters.toReversed())
  t.same(await snapshots.findChanged(expected), [])
  await snapshots.restore(await snapshots.combine(befores), { expected })
  t.same(changedPaths(original, fingerprint(root, { times: false })), [])
  await t.rejects(snapshots.combine([]), { code: 'SNAPSHOT_NOT_FOUND' })
})

verifies(
  'trm:snapshot:exact',
  'a work copy contains exactly the files that are tracked or not ignored, with their times',
  async (t) => {
    const { dir, root, snapshots, put } = setUp(t)
    put('node_modules/left/out.js', 'out\n')
    put('nested/readme.txt', 'a repository of its own\n')
    git(join(root, 'nested'), 'init', '-q')
    symlinkSync('src/app.py', join(root, 'link.py'))
    put('build/forced.txt', 'tracked though ignored\n')
    git(root, 'add', '-f', 'build/forced.txt')
    chmodSync(join(root, 'untracked.txt'), 0o640)
    utimesSync(join(root, 'empty.txt'), 1e9, 1e9)
    const copy = join(dir, 'copy')
    await snapshots.copy(root, copy)
    const [ours, theirs] = [fingerprint(copy, { times: false }), fingerprint(root, { times: false })]
    t.same(
      [...ours.keys()],
      [
        '.gitattributes',
        '.gitignore',
        'build/forced.txt',
        'data.bin',
        'empty.txt',
        'fsmonitor.sh',
        'link.py',
      ].concat(['src/app.py', 'src/keep.id', 'staged.txt', 'tool.sh', 'untracked.txt']),
    )
    for (const [path, print] of ours) t.equal(print, theirs.get(path), path)
    t.equal(statSync(join(copy, 'empty.txt')).mtimeMs, 1e12)
    await t.rejects(snapshots.copy(root, copy), TypeError)
    await snapshots.copy(copy, join(dir, 'again'), { includeIgnored: true })
    t.same([...fingerprint(join(dir, 'again'), { times: false })], [...ours], 'and so has a copy of the copy')
  },
)

t.test('a snapshot restores links as links and files as files', async (t) => {
  const { root, snapshots, put } = setUp(t)
  symlinkSync('src/app.py', join(root, 'link.py'))
  const taken = await snapshots.take(root, ['link.py', 'staged.txt'])
  rmSync(join(root, 'link.py'))
  put('link.py', 'a file now')
  rmSync(join(root, 'staged.txt'))
  symlinkSync('/etc/hostname', join(root, 'staged.txt'))
  t.same(await snapshots.findChanged(taken), ['link.py', 'staged.txt'])
  await snapshots.restore(taken)
  t.equal(readlinkSync(join(root, 'link.py')), 'src/app.py')
  t.equal(readFileSync(join(root, 'staged.txt'), 'utf8'), 'staged, and edited\n')
  t.same(await snapshots.findChanged(taken), [])
})

t.test('a snapshot restores a file that is too large to read', async (t) => {
  const { root, snapshots, put } = setUp(t, { isRepository: false })
  const bytes = Buffer.alloc(12 * 2 ** 20, 'causeway\0')
  put('large.bin', bytes)
  const taken = await snapshots.take(root, ['large.bin'])
  put('large.bin', 'short')
  await t.rejects(snapshots.read(taken, ['large.bin']), { code: 'FILE_TOO_LARGE' })
  await snapshots.restore(taken)
  t.equal(Buffer.compare(readFileSync(join(root, 'large.bin')), bytes), 0)
})

t.test('a snapshot returns the earlier content of a path', async (t) => {
  const { root, snapshots, put } = setUp(t)
  const taken = await snapshots.take(root, ['src/app.py', 'data.bin', 'absent.txt'])
  put('src/app.py', 'changed\n')
  const then = await snapshots.read(taken, ['src/app.py', 'data.bin', 'absent.txt', 'tool.sh'])
  t.equal(then.get('src/app.py'), 'def one():\r\n    return 1\r\n')
  t.equal(then.get('data.bin')?.length, 2000)
  t.ok(then.has('absent.txt') && then.get('absent.txt') === undefined)
  t.notOk(then.has('tool.sh'))
})

verifies('trm:snapshot:anywhere', 'a snapshot works in a folder without a repository', async (t) => {
  const { dir, root, snapshots, put } = setUp(t, { isRepository: false })
  put('a.txt', 'a\n')
  put('.venv/lib/x.py', 'x\n')
  const before = await snapshots.take(root, ['a.txt'])
  put('a.txt', 'b\n')
  await snapshots.restore(before)
  t.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'a\n')
  t.same(readdirSync(root).sort(), ['.venv', 'a.txt'], 'nothing was left behind')
  await snapshots.copy(root, join(dir, 'copy'))
  t.same(readdirSync(join(dir, 'copy')), ['a.txt'])
})

t.test('a work copy of an empty folder is empty', async (t) => {
  const { dir, root, snapshots } = setUp(t, { isRepository: false })
  await snapshots.copy(root, join(dir, 'copy'))
  t.same(readdirSync(join(dir, 'copy')), [])
})

verifies(
  'trm:snapshot:limits',
  'a project over the limits is rejected with its largest folders',
  async (t) => {
    const { dir, root, snapshots, put } = setUp(t, { isRepository: false, limits: { files: 3, bytes: 100 } })
    put('a.txt', 'a')
    put('b.txt', 'x'.repeat(200))
    await t.rejects(snapshots.copy(root, join(dir, 'copy')), {
      code: 'SNAPSHOT_TOO_LARGE',
      data: { largest: [{ folder: '.', bytes: 201 }] },
    })
    for (let index = 0; index < 5; index++) put(`many/${index}.txt`, '')
    await t.rejects(snapshots.copy(root, join(dir, 'copy')), {
      code: 'SNAPSHOT_TOO_LARGE',
      data: {
        largest: [
          { folder: 'many', files: 5 },
          { folder: '.', files: 2 },
        ],
      },
    })
    t.notOk(existsSync(join(dir, 'copy')), 'nothing was copied')
    t.ok(await snapshots.take(root, ['b.txt']), 'single files are still taken')
  },
)

t.test('unknown and dropped snapshots are not found', async (t) => {
  const { root, snapshots } = setUp(t, { keepMs: 0 })
  const taken = await snapshots.take(root, ['src/app.py'])
  const kept = await snapshots.take(root, ['src/app.py'])
  await snapshots.drop(taken, 'never-was', '../../etc')
  await snapshots.collect()
  for (const id of [taken, 'never-was', '../../etc', '']) {
    await t.rejects(snapshots.entries(id), { code: 'SNAPSHOT_NOT_FOUND' })
  }
  t.equal((await snapshots.entries(kept)).length, 1)
})

t.test('snapshots reject paths out of the project, through links and in other repositories', async (t) => {
  const { dir, root, snapshots, put } = setUp(t)
  put('../outside.txt', 'outside\n')
  symlinkSync(dir, join(root, 'up'))
  put('nested/file.txt', '')
  git(join(root, 'nested'), 'init', '-q')
  for (const path of [
    '../outside.txt',
    '/etc/hostname',
    '.git/config',
    'up/outside.txt',
    'nested/file.txt',
  ]) {
    await t.rejects(snapshots.take(root, [path]), { code: 'INVALID_PATH' }, path)
  }
})

t.test('a snapshot of a removed project fails with DIRECTORY_NOT_FOUND', async (t) => {
  const { root, snapshots } = setUp(t)
  await t.rejects(snapshots.take(join(root, 'gone'), ['a.txt']), { code: 'DIRECTORY_NOT_FOUND' })
})

t.test('concurrent snapshots do not affect each other', async (t) => {
  const { root, snapshots } = setUp(t)
  const ids = await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      snapshots.take(root, index % 2 ? ['tool.sh'] : ['tool.sh', 'data.bin']),
    ),
  )
  t.equal(new Set(ids).size, 6)
  for (const id of ids) t.same(await snapshots.findChanged(id), [])
})

t.test('equal contents are stored once, regardless of the number of files and snapshots', async (t) => {
  const { root, snapshots, put, store } = setUp(t)
  const paths = Array.from({ length: 60 }, (_, index) => `many/file${index}`)
  for (const path of paths) put(path, 'same\n')
  const taken = await snapshots.take(root, paths)
  await snapshots.take(root, paths)
  t.same(store.db.prepare('SELECT count(*) AS count FROM content').get(), { count: 1 })
  for (const path of paths) rmSync(join(root, path))
  await snapshots.restore(taken)
  t.equal(readFileSync(join(root, 'many/file7'), 'utf8'), 'same\n')
})

t.test('a folder that cannot be read does not prevent a copy of the project', async (t) => {
  const { dir, root, snapshots, put } = setUp(t, { isRepository: false })
  put('a.txt', 'a\n')
  put('closed/b.txt', 'b\n')
  chmodSync(join(root, 'closed'), 0)
  t.teardown(() => chmodSync(join(root, 'closed'), 0o700))
  await snapshots.copy(root, join(dir, 'copy'))
  t.ok(existsSync(join(dir, 'copy/a.txt')))
})
