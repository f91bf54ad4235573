/**
 * Keeps the data files of a release for the tests of migrations: `node scripts/schemas.ts [--hashes-only]`. It runs a
 * server with a little work for every store, and packs what it left. Once a version is released, its files never change.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { startServer } from '../test/e2e/server-process.ts'
import { everyWork, settingsOf } from '../test/living/lives.ts'
import { releasedOf, stores } from './schema/stores.ts'

const repository = fileURLToPath(new URL('..', import.meta.url))
const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
const folder = join(repository, 'fixtures/schemas', version)
mkdirSync(folder, { recursive: true })
const hashes = Object.fromEntries(Object.entries(stores).map(([path, list]) => [path, releasedOf(list)]))
writeFileSync(join(folder, 'migrations.json'), `${JSON.stringify(hashes, null, 2)}\n`)

if (!process.argv.includes('--hashes-only')) {
  const root = mkdtempSync(join(tmpdir(), 'causeway-schemas-'))
  try {
    const dir = await living(root)
    for (const path of Object.keys(stores)) {
      const db = new Database(join(dir, path))
      db.pragma('journal_mode = DELETE')
      db.exec('VACUUM')
      db.close()
      const file = join(folder, `${path}.gz`)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, gzipSync(readFileSync(join(dir, path)), { level: 9 }))
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** A data folder after a little work on every store. */
async function living(root: string): Promise<string> {
  const dir = join(root, 'data')
  for (const name of ['data', 'plots', 'projects']) mkdirSync(join(root, name))
  const ends: (() => unknown)[] = []
  // All that a server needs of a test: somebody who ends it.
  const owner = { teardown: (end: () => unknown) => void ends.push(end) } as unknown as Parameters<
    typeof startServer
  >[0]
  try {
    const works = everyWork(root)
    for (const work of works) work.before?.()
    const { url, server } = await startServer(owner, { dir, env: settingsOf(works) })
    for (const work of works) await work.begin({ url, dir })
    for (let step = 0; step < 3; step++) for (const work of works) await work.step({ url, dir })
    await server.stop()
  } finally {
    for (const end of ends) await end()
  }
  return dir
}
