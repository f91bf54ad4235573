/** Names and commands that the system rejects, and full disks. */
import { spawnSync } from 'node:child_process'
import { closeSync, cpSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { judge, judged, openTrm, readText, reopenTrm, scored } from './trm-kit.ts'

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
  await t.rejects(ask('submit', { candidate: scored(2) }), { code: 'DATA_UNWRITABLE' })
  await t.rejects(ask('submit'), { code: 'DATA_UNWRITABLE' })
  await t.rejects(ask('start', { repo: 'p', test: judge, options: { write: 'end' } }), {
    code: 'DATA_UNWRITABLE',
  })
  t.equal(readText(root, 'p', 'score'), '1\n')
  release()
  t.match(await ask('submit', { candidate: scored(2) }), { score: 0.5, step: 1 })
})

verifies('trm:limits:disk', 'a candidate for a full project is reported, and no file changes', async (t) => {
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
})

t.test('a warning about the syntax of Python is confirmed by Python', async (t) => {
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
