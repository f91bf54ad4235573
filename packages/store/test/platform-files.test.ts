import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { canRenameOpenFolder, isReadableByOthers, syncFolder } from '../src/index.ts'
import { syncFolderSync } from '../src/platform-files.ts'

const platforms: readonly NodeJS.Platform[] = ['linux', 'darwin', 'win32']

t.test('modes show who can read a file, except on Windows', async (t) => {
  for (const mode of [0o640, 0o604, 0o755])
    t.same(
      platforms.map((platform) => isReadableByOthers(mode, platform)),
      [true, true, false],
    )
  for (const platform of platforms) t.equal(isReadableByOthers(0o100600, platform), false)
})

t.test('a folder with an open file can be renamed, except on Windows', async (t) => {
  t.same(platforms.map(canRenameOpenFolder), [true, true, false])
})

t.test('folders are flushed, except on Windows', async (t) => {
  const folder = join(t.testdir(), 'data')
  mkdirSync(folder)
  await syncFolder(folder)
  syncFolderSync(folder)
  const missing = join(folder, 'missing')
  for (const platform of ['linux', 'darwin'] as const) {
    await t.rejects(syncFolder(missing, platform), { code: 'ENOENT' })
    t.throws(() => syncFolderSync(missing, platform), { code: 'ENOENT' })
  }
  await syncFolder(missing, 'win32')
  syncFolderSync(missing, 'win32')
})
