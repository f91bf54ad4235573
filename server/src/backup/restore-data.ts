import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  canRenameOpenFolder,
  FolderLock,
  readMigrations,
  StoreError,
  syncFolder,
  toDataError,
  updateFile,
} from '@causeway/store'
import type { CallOptions } from '@causeway/worker'
import { ServerError } from '../errors.ts'
import { copyFile } from './copy-file.ts'
import { discardFolder, hasData, removeEmpty, toPreviousFolder, toStagingFolder } from './data-folder.ts'
import { findBackupRule, type OwnedPart } from './data-part.ts'
import {
  createDamagedError,
  dataFolder,
  type Manifest,
  type ManifestFile,
  manifestName,
  readManifest,
} from './manifest.ts'

export interface RestoreJob {
  readonly source: string
  readonly dataDir: string
  readonly parts: readonly OwnedPart[]
  readonly replace: boolean
  readonly nowMs: number
}

export interface RestoreResult {
  readonly manifest: Manifest
  /** Folder of the previous data, if any. */
  readonly movedTo: string | undefined
}

interface StagedJob extends RestoreJob {
  readonly staging: string
  readonly manifest: Manifest
}

/** Restores a backup. Meanwhile, servers cannot start on the previous or the restored folder. */
export async function restoreData(
  job: RestoreJob,
  { signal, progress }: CallOptions = {},
): Promise<RestoreResult> {
  const [source, dataDir] = [resolve(job.source), resolve(job.dataDir)]
  const manifest = await readManifest(source)
  await requireManifestFiles(source, manifest)
  const requireConsent = (): void => {
    if (job.replace || !hasData(dataDir)) return
    throw new ServerError('DATA_EXISTS', `the data folder is not empty: ${dataDir}`, { data: { dataDir } })
  }
  requireConsent()
  const staging = toStagingFolder(dataDir)
  const dataFolderExisted = existsSync(dataDir)
  const lock = new FolderLock(dataDir, { restoring: true })
  try {
    requireConsent()
    await rm(staging, { recursive: true, force: true })
    await mkdir(staging, { mode: 0o700 })
    const stagedJob: StagedJob = { ...job, source, dataDir, manifest, staging }
    await copyFiles(stagedJob, { signal, progress })
    for (const file of manifest.files) adaptDatabase(file, stagedJob)
    await syncFolder(staging)
    signal?.throwIfAborted()
    return { manifest, movedTo: await swapFolders(lock, stagedJob) }
  } catch (error) {
    await rm(staging, { recursive: true, force: true })
    if (!dataFolderExisted && existsSync(dataDir)) discardFolder(lock, dataDir)
    throw toDataError(error, dataDir)
  } finally {
    lock.release()
  }
}

/** Rejects missing files, links and files that the manifest does not list. */
async function requireManifestFiles(source: string, { files }: Manifest): Promise<void> {
  const expectedPaths = new Set(files.map(({ path }) => path))
  const folder = join(source, dataFolder)
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      throw createDamagedError(source, `there is no ${dataFolder} next to ${manifestName}`)
    },
  )
  for (const entry of entries) {
    if (entry.isDirectory()) continue
    const path = relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/')
    if (!entry.isFile() || !expectedPaths.delete(path))
      throw createDamagedError(source, 'a file does not belong to the backup', path)
  }
  const [missingPath] = expectedPaths
  if (missingPath !== undefined) throw createDamagedError(source, 'a file is missing', missingPath)
}

async function copyFiles(
  { source, staging, manifest, parts }: StagedJob,
  { signal, progress }: CallOptions,
): Promise<void> {
  const total = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0)
  let copiedBytes = 0
  for (const { path, kind, bytes, sha256 } of manifest.files) {
    const to = join(staging, path)
    const advance = (chunkBytes: number): void => {
      copiedBytes += chunkBytes
      progress?.(copiedBytes, total, path)
    }
    const digest = await copyFile(join(source, dataFolder, path), to, { signal, advance })
    if (digest.bytes !== bytes || digest.sha256 !== sha256)
      throw createDamagedError(source, 'a file was changed after the backup', path)
    if (kind === 'database') requireKnownSchema(to, path, findBackupRule(path, parts).part?.schema)
  }
}

function requireKnownSchema(file: string, path: string, schema: readonly string[] | undefined): void {
  const migration = schema && readMigrations(file).find((name, i) => schema[i] !== name)
  if (migration === undefined) return
  throw new StoreError('NEWER_DATA', `the backup has a file of a newer version: ${path}`, {
    data: { path, migration },
    remedy: 'restore it with the version that made it, or a later one',
  })
}

function adaptDatabase({ path, kind }: ManifestFile, { staging, dataDir, manifest, parts }: StagedJob): void {
  if (kind !== 'database') return
  const { paths = [], restored: restoreSql } = findBackupRule(path, parts).part ?? {}
  const { data_dir: originalDataDir } = manifest
  const columns = originalDataDir === dataDir ? [] : paths.map((column) => column.split('.'))
  const statements: { sql: string; values?: unknown[] }[] = columns.map(([table, column]) => ({
    sql: `UPDATE ${table} SET ${column} = ? || substr(${column}, ?) WHERE substr(${column}, 1, ?) = ? AND substr(${column}, ?, 1) IN ('/', '\\')`,
    values: [
      dataDir,
      originalDataDir.length + 1,
      originalDataDir.length,
      originalDataDir,
      originalDataDir.length + 1,
    ],
  }))
  if (restoreSql !== undefined) statements.push({ sql: restoreSql })
  if (statements.length > 0) updateFile(join(staging, path), statements)
}

/** Replaces the data folder. Returns the previous folder's new path, if it had data. Moves it back on failure. */
async function swapFolders(
  lock: FolderLock,
  { staging, dataDir, nowMs }: StagedJob,
): Promise<string | undefined> {
  const isEmpty = !hasData(dataDir)
  const previous = toPreviousFolder(dataDir, nowMs)
  const stagingLock = new FolderLock(staging, { restoring: true })
  try {
    if (!canRenameOpenFolder()) for (const heldLock of [lock, stagingLock]) heldLock.release()
    await rename(dataDir, previous)
    lock.release(previous)
    try {
      await renameWithRetry(staging, dataDir)
    } catch (error) {
      await renameWithRetry(previous, dataDir)
      throw error
    }
    await syncFolder(dirname(dataDir))
    if (isEmpty) removeEmpty(previous)
  } finally {
    stagingLock.release(existsSync(staging) ? staging : dataDir)
  }
  return isEmpty ? undefined : previous
}

/** Retries while `to` exists: a starting server may have created the folder, and then removes it. */
async function renameWithRetry(from: string, to: string): Promise<void> {
  for (let retries = 50; ; retries -= 1) {
    try {
      return await rename(from, to)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (retries === 0 || !['ENOTEMPTY', 'EEXIST'].includes(code)) throw error
      await delay(20)
    }
  }
}
