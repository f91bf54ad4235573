import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeRoots } from '../src/roots.ts'

t.test('roots: a file below a root is found, absolute or relative, under any root', async (t) => {
  const dir = t.testdir({ one: { 'a.db': '' }, two: { sub: { 'b.db': '' } }, 'c.db': '' })
  const roots = makeRoots(() => [join(dir, 'one'), join(dir, 'two')], 'CAUSEWAY_ROOTS')
  t.equal(await roots.resolve(join(dir, 'one/a.db')), join(dir, 'one/a.db'))
  t.equal(await roots.resolve('sub/b.db'), join(dir, 'two/sub/b.db'))
  t.equal(await roots.resolve(join(dir, 'two')), join(dir, 'two'), 'a root itself')
})

t.test('roots: outside is refused with the setting, whether the file exists or not', async (t) => {
  const dir = t.testdir({ one: {}, 'one-more': { 'a.db': '' }, 'c.db': '' })
  const roots = makeRoots(() => [join(dir, 'one')], 'CAUSEWAY_RECORDING_ROOTS')
  for (const path of [
    join(dir, 'c.db'),
    join(dir, 'gone.db'),
    '../c.db',
    '../gone.db',
    join(dir, 'one-more/a.db'),
    '/',
  ])
    await t.rejects(
      roots.resolve(path),
      {
        code: 'OUTSIDE_ROOTS',
        data: { path, setting: 'CAUSEWAY_RECORDING_ROOTS' },
        remedy: /CAUSEWAY_RECORDING_ROOTS/,
      },
      path,
    )
})

t.test('roots: a name that no file can have is a missing file, and outside it is outside', async (t) => {
  const dir = t.testdir({ one: {} })
  const roots = makeRoots(() => [join(dir, 'one')], 'CAUSEWAY_ROOTS')
  for (const name of ['x'.repeat(5000), 'é'.repeat(300), 'a\u0000b', `${'d/'.repeat(3000)}a`]) {
    await t.rejects(roots.resolve(name), { code: 'FILE_NOT_FOUND' })
    await t.rejects(roots.resolve(`../${name}`), { code: 'OUTSIDE_ROOTS' })
  }
})

t.test('roots: a missing file says where it was looked for', async (t) => {
  const dir = t.testdir({ one: {}, two: {} })
  const roots = makeRoots(() => [join(dir, 'one'), join(dir, 'two')], 'CAUSEWAY_ROOTS')
  await t.rejects(roots.resolve('a.db'), {
    code: 'FILE_NOT_FOUND',
    data: { searched: [join(dir, 'one/a.db'), join(dir, 'two/a.db')] },
  })
})

t.test('roots: a link that leads out is refused, one that stays inside is followed', async (t) => {
  const dir = t.testdir({ root: { 'a.db': '' }, 'secret.db': '' })
  symlinkSync(join(dir, 'secret.db'), join(dir, 'root/out.db'))
  symlinkSync(join(dir, 'root/a.db'), join(dir, 'root/in.db'))
  symlinkSync(join(dir, 'root'), join(dir, 'link'))
  const roots = makeRoots(() => [join(dir, 'root')], 'CAUSEWAY_ROOTS')
  await t.rejects(roots.resolve('out.db'), { code: 'OUTSIDE_ROOTS' })
  t.equal(await roots.resolve('in.db'), join(dir, 'root/a.db'))
  const linked = makeRoots(() => [join(dir, 'link')], 'CAUSEWAY_ROOTS')
  t.equal(await linked.resolve('a.db'), join(dir, 'root/a.db'), 'a root may be a link')
  await t.rejects(linked.resolve('gone.db'), { code: 'FILE_NOT_FOUND' })
})

t.test('roots: a folder added later counts at once', async (t) => {
  const dir = t.testdir({ one: {}, two: { 'a.db': '' } })
  const folders = [join(dir, 'one')]
  const roots = makeRoots(() => folders, 'CAUSEWAY_ROOTS')
  await t.rejects(roots.resolve(join(dir, 'two/a.db')), { code: 'OUTSIDE_ROOTS' })
  folders.push(join(dir, 'two'))
  t.equal(await roots.resolve(join(dir, 'two/a.db')), join(dir, 'two/a.db'))
})
