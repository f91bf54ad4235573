/** The data folder of a released version, to be opened, damaged and migrated. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import type { Test } from 'tap'
import { stores } from '../../fixtures/generate/released-stores.ts'
import { repository } from '../tree.ts'

/** Where the files of releases are kept, a folder for each version. */
export const releasedFolder = join(repository, 'fixtures/schemas')

/** Every released version that is kept, oldest first. */
export const releasedVersions = readdirSync(releasedFolder).sort()

/** The newest released version. */
export const latestVersion = releasedVersions.at(-1) ?? ''

/** Lays the data files of a version out in a folder; gives their paths below it. */
export function layOut(version: string, dir: string): readonly string[] {
  for (const path of Object.keys(stores)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), gunzipSync(readFileSync(join(releasedFolder, version, `${path}.gz`))))
  }
  return Object.keys(stores)
}

/** A call for each store that cannot succeed without its file, by the path of the file. The app is the part before `__`. */
export const storeCalls: Readonly<Record<string, readonly [tool: string, args: object]>> = {
  'recordings.db': ['Replay__list_recordings', {}],
  'recordings/living.db': ['Replay__get_frame', { recording: 'living', frame_id: 1 }],
  'replay.db': ['Replay__list_recordings', {}],
  'help.db': ['Help__find_help_topics', { text: 'lamps' }],
  'minds.db': ['Minds__list_minds', {}],
  'debrief.db': ['Debrief__list_plots', {}],
  'trm.db': ['Trm__start', { repo: 'none' }],
}

/** The app that fails without a file. A run of the recorder is needed for itself only: empty. */
export const findOwner = (path: string): string =>
  path.includes('/') ? '' : (storeCalls[path]?.[0].split('__')[0] ?? '')

/** A data folder of the latest version, with the absolute paths in it changed to that folder. */
export function copyRelease(t: Test): string {
  const dir = join(t.testdir({ data: {} }), 'data')
  layOut(latestVersion, dir)
  const db = new Database(join(dir, 'recordings.db'))
  db.prepare(`UPDATE recording SET path = ? WHERE path LIKE '%/data/recordings/living.db'`).run(
    join(dir, 'recordings/living.db'),
  )
  db.pragma('journal_mode = DELETE')
  db.close()
  return dir
}
