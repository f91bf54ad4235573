/** Puts a backup in the place of a data folder that no server uses: checked first, then all of it at once, or nothing. */
import { existsSync } from 'node:fs'
import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import { changeFile, dataFailure, type FolderLock, lockFolder, schemaOf } from '@causeway/store'
import { type OwnedPart, treatmentOf, unknownMigration } from '../domain/data-part.ts'
import type { Progress } from './copy-data.ts'
import { copyFile, syncFolder } from './copy-file.ts'
import { asideOf, giveUp, holdsData, removeEmpty, stagingOf } from './data-folder.ts'
import {
  damaged,
  dataFolder,
  type Manifest,
  type ManifestFile,
  manifestName,
  readManifest,
} from './manifest.ts'

/** What is restored where. */
export interface RestoreJob {
  readonly source: string
  readonly dataDir: string
  readonly parts: readonly OwnedPart[]
  /** Consent to move data that is there aside. */
  readonly replace: boolean
  readonly nowMs: number
}

/** What was restored. */
export interface Restored {
  readonly manifest: Manifest
  /** Where the data that was there before is now; undefined where there was none. */
  readonly movedTo: string | undefined
}

/**
 * Restores. Throws `BACKUP_NOT_FOUND`, `BACKUP_DAMAGED`, `NEWER_DATA`, `DATA_IN_USE`, `DATA_EXISTS`, `DATA_UNWRITABLE`,
 * `CANCELLED`; the data folder is then as it was. The folder is held all the while, also where there was none, and what
 * takes its place is held too: no server begins on either before it is done.
 */
export async function restoreData(
  job: RestoreJob,
  { signal, progress }: { signal?: AbortSignal | undefined; progress?: Progress | undefined } = {},
): Promise<Restored> {
  const [source, dataDir] = [resolve(job.source), resolve(job.dataDir)]
  const manifest = await readManifest(source)
  await refuseOthers(source, manifest)
  const refuseData = (): void => {
    if (job.replace || !holdsData(dataDir)) return
    throw new CausewayError('DATA_EXISTS', `the data folder is not empty: ${dataDir}`, { data: { dataDir } })
  }
  refuseData()
  const staging = stagingOf(dataDir)
  const wasThere = existsSync(dataDir)
  // Taken before anything is written: a server that runs keeps its folder.
  const lock = lockFolder(dataDir, { restoring: true })
  try {
    refuseData()
    await rm(staging, { recursive: true, force: true })
    await mkdir(staging, { recursive: true, mode: 0o700 })
    await copyAll({ source, staging, manifest, parts: job.parts }, { signal, progress })
    for (const file of manifest.files) settle(file, { staging, dataDir, manifest, parts: job.parts })
    await syncFolder(staging)
    signal?.throwIfAborted()
    return { manifest, movedTo: await swap(lock, { staging, dataDir, nowMs: job.nowMs }) }
  } catch (error) {
    await rm(staging, { recursive: true, force: true })
    if (!wasThere && existsSync(dataDir)) giveUp(lock, dataDir)
    throw dataFailure(error, dataDir)
  } finally {
    lock.release()
  }
}

interface Staged {
  readonly source: string
  readonly staging: string
  readonly manifest: Manifest
  readonly parts: readonly OwnedPart[]
}

/** Copies every file, and holds each against the manifest and against the schema that this program knows. */
async function copyAll(
  { source, staging, manifest, parts }: Staged,
  { signal, progress }: { signal: AbortSignal | undefined; progress: Progress | undefined },
): Promise<void> {
  const total = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0)
  let done = 0
  for (const { path, kind, bytes, sha256 } of manifest.files) {
    const to = join(staging, path)
    const advance = (more: number): void => {
      done += more
      progress?.(done, total, path)
    }
    const written = await copyFile(join(source, dataFolder, path), to, { signal, advance })
    if (written.bytes !== bytes || written.sha256 !== sha256)
      throw damaged(source, 'a file is not as it was saved', path)
    if (kind === 'database') refuseNewer(to, path, treatmentOf(path, parts).part?.schema)
  }
}

function refuseNewer(file: string, path: string, schema: readonly string[] | undefined): void {
  if (schema === undefined) return
  const migration = unknownMigration(schemaOf(file), schema)
  if (migration === undefined) return
  throw new CausewayError('NEWER_DATA', `the backup has a file of a newer version: ${path}`, {
    data: { path, migration },
    remedy: 'restore it with the version that made it, or a later one',
  })
}

/** Brings a database to its new place: paths below the data folder follow it, and what was left behind is forgotten. */
function settle(
  { path, kind }: ManifestFile,
  { staging, dataDir, manifest, parts }: Omit<Staged, 'source'> & { readonly dataDir: string },
): void {
  if (kind !== 'database') return
  const { paths = [], restored } = treatmentOf(path, parts).part ?? {}
  const before = manifest.data_dir
  const moved = before === dataDir ? [] : paths.map((column) => column.split('.'))
  const statements = moved.map(([table, column]) => ({
    sql: `UPDATE ${table} SET ${column} = ? || substr(${column}, ?) WHERE substr(${column}, 1, ?) = ? AND substr(${column}, ?, 1) IN ('/', '\\')`,
    values: [dataDir, before.length + 1, before.length, before, before.length + 1],
  }))
  if (restored !== undefined) changeFile(join(staging, path), [...statements, { sql: restored }])
  else if (statements.length > 0) changeFile(join(staging, path), statements)
}

/** Every file of the manifest and no other is there, and none is a link out of the folder. */
async function refuseOthers(source: string, { files }: Manifest): Promise<void> {
  const wanted = new Set(files.map(({ path }) => path))
  const look = async (below: string): Promise<void> => {
    for (const name of await readdir(join(source, dataFolder, below))) {
      const path = `${below}${name}`
      const facts = await lstat(join(source, dataFolder, path))
      if (facts.isDirectory()) await look(`${path}/`)
      else if (!facts.isFile() || !wanted.delete(path))
        throw damaged(source, 'a file does not belong to the backup', path)
    }
  }
  await look('').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT'
      ? damaged(source, `there is no ${dataFolder} beside ${manifestName}`)
      : error
  })
  const [missing] = wanted
  if (missing !== undefined) throw damaged(source, 'a file is missing', missing)
}

interface Swap {
  readonly staging: string
  readonly dataDir: string
  readonly nowMs: number
}

/**
 * Puts the new folder in place; what was there goes aside, or comes back where that fails. Tells where it is. Each folder is
 * held until it has its name, but where a folder with an open file cannot be renamed.
 */
async function swap(old: FolderLock, { staging, dataDir, nowMs }: Swap): Promise<string | undefined> {
  const isEmpty = !holdsData(dataDir)
  const aside = asideOf(dataDir, nowMs)
  const fresh = lockFolder(staging, { restoring: true })
  try {
    if (process.platform === 'win32') for (const lock of [old, fresh]) lock.release()
    await rename(dataDir, aside)
    old.release(aside)
    try {
      await renameOnto(staging, dataDir)
    } catch (error) {
      await renameOnto(aside, dataDir)
      throw error
    }
    await syncFolder(dirname(dataDir))
    if (isEmpty) removeEmpty(aside)
  } finally {
    fresh.release(existsSync(staging) ? staging : dataDir)
  }
  return isEmpty ? undefined : aside
}

/** Waits for a server that made the folder a moment ago, and takes it away as it sees what stands beside it. */
async function renameOnto(from: string, to: string): Promise<void> {
  for (let left = 50; ; left -= 1) {
    try {
      return await rename(from, to)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (left === 0 || !['ENOTEMPTY', 'EEXIST'].includes(code)) throw error
      await delay(20)
    }
  }
}
