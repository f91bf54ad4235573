/** Data folders of released versions, for tests that open, damage and migrate them. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import type { Test } from 'tap'
import { stores } from '../../fixtures/generate/released-stores.ts'
import { repository } from '../tree.ts'

/** Contains a folder with the data files of each released version. */
export const releasedFolder = join(repository, 'fixtures/schemas')

/** Released versions, oldest first. */
export const releasedVersions = readdirSync(releasedFolder).sort()

/** The newest released version. */
export const latestVersion = releasedVersions.at(-1) ?? ''

/** Copies the data files of a version to a folder and returns their relative paths. */
export function copyReleasedFiles(version: string, dir: string): readonly string[] {
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

/** Returns the app that fails without a file, or an empty string for the file of a single run. */
export const findOwner = (path: string): string =>
  path.includes('/') ? '' : (storeCalls[path]?.[0].split('__')[0] ?? '')

/** Creates a data folder of the latest version and adapts the absolute paths in its data. */
export function copyRelease(t: Test): string {
  const dir = join(t.testdir({ data: {} }), 'data')
  copyReleasedFiles(latestVersion, dir)
  const db = new Database(join(dir, 'recordings.db'))
  db.prepare(`UPDATE recording SET path = ? WHERE path LIKE '%/data/recordings/living.db'`).run(
    join(dir, 'recordings/living.db'),
  )
  db.pragma('journal_mode = DELETE')
  db.close()
  return dir
}
