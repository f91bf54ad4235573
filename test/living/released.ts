/** The data folder of a released version, to be opened, damaged and migrated. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { stores } from '../../fixtures/generate/released-stores.ts'
import { repository } from '../tree.ts'

/** Where the files of releases are kept, a folder for each version. */
export const releasedFolder = join(repository, 'fixtures/schemas')

/** Every released version that is kept, oldest first. */
export const releasedVersions = readdirSync(releasedFolder).sort()

/** Lays the data files of a version out in a folder; gives their paths below it. */
export function layOut(version: string, dir: string): readonly string[] {
  for (const path of Object.keys(stores)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), gunzipSync(readFileSync(join(releasedFolder, version, `${path}.gz`))))
  }
  return Object.keys(stores)
}
