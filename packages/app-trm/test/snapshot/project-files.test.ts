import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import type { FileContent } from '../../src/domain/candidate/types.ts'
import { openProjectFiles } from '../../src/snapshot/project-files.ts'
import { changedPaths, fingerprint } from './project-kit.ts'

function setUp(t: Test) {
  const root = t.testdir({
    'a.txt': 'a\n',
    'b.txt': 'b\n',
    bin: { 'run.sh': '#!/bin/sh\n' },
    outside: { 'secret.txt': 'secret\n' },
    project: { 'inner.txt': 'inner\n' },
  })
  chmodSync(join(root, 'bin/run.sh'), 0o750)
  return { root, files: openProjectFiles(root) }
}

t.test('project files: text is read with its marks, everything else as bytes', async (t) => {
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

t.test('project files: changes are written all, modes stay, renamed files take theirs along', async (t) => {
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
  await files.write(changes, { before, moved: new Map([['tools/run.sh', 'bin/run.sh']]) })
  t.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'changed\n')
  t.equal(statSync(join(root, 'a.txt')).mode & 0o777, 0o604)
  t.equal(statSync(join(root, 'tools/run.sh')).mode & 0o777, 0o750)
  t.equal(statSync(join(root, 'new/deep.txt')).mode & 0o777, 0o666 & ~process.umask())
  t.same(readdirSync(root).sort(), ['a.txt', 'new', 'outside', 'project', 'tools'], 'nothing else is left')
})

t.test('project files: the x bit follows the patch', async (t) => {
  const { root, files } = setUp(t)
  const before = await files.read(['a.txt', 'bin/run.sh'])
  const executable = new Map([
    ['a.txt', true],
    ['bin/run.sh', false],
  ])
  await files.write(
    new Map([
      ['a.txt', 'a\n'],
      ['bin/run.sh', '#!/bin/sh\n'],
    ]),
    { before, executable },
  )
  t.equal(statSync(join(root, 'a.txt')).mode & 0o111, (statSync(join(root, 'a.txt')).mode & 0o444) >> 2)
  t.equal(statSync(join(root, 'bin/run.sh')).mode & 0o777, 0o640)
})

t.test('project files: a file that changed meanwhile stops all of it', async (t) => {
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

verifies(
  'trm:snapshot:exact',
  'project files: a write that fails half way puts every file back',
  async (t) => {
    const { root, files } = setUp(t)
    const before = await files.read(['a.txt', 'b.txt'])
    const print = fingerprint(root)
    // Bytes that are none: the second file cannot be filled.
    const broken = new Map<string, FileContent | null>([
      ['a.txt', 'x\n'],
      ['b.txt', {} as unknown as Uint8Array],
    ])
    await t.rejects(files.write(broken, { before }))
    t.same(changedPaths(print, fingerprint(root)), [])
  },
)

verifies(
  'trm:candidate:refused',
  'project files: links, folders, devices, other repositories and paths outside are refused',
  async (t) => {
    const { root, files } = setUp(t)
    symlinkSync(join(root, 'outside'), join(root, 'project/link'))
    symlinkSync('../a.txt', join(root, 'project/file-link'))
    symlinkSync('/nonexistent', join(root, 'project/dangling'))
    mkdirSync(join(root, 'outside/.git'))
    const inner = openProjectFiles(join(root, 'project'))
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

t.test('project files: one over ten megabytes is refused', async (t) => {
  const { root, files } = setUp(t)
  truncateSync(join(root, 'a.txt'), 10 * 2 ** 20 + 1)
  await t.rejects(files.read(['a.txt']), { code: 'FILE_TOO_LARGE', data: { path: 'a.txt' } })
})

t.test('project files: what a crash left beside a file is swept', async (t) => {
  const { root, files } = setUp(t)
  writeFileSync(join(root, '.a.txt.causeway-12345678'), 'half')
  writeFileSync(join(root, '.a.txt.other'), 'of the user')
  await files.sweep(['a.txt', 'absent/b.txt'])
  t.same(
    readdirSync(root).filter((name) => name.startsWith('.')),
    ['.a.txt.other'],
  )
})
