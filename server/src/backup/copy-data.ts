import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import { backupFile, canRenameOpenFolder, readMigrations, syncFolder, toDataError } from '@causeway/store'
import type { CallOptions } from '@causeway/worker'
import { ServerError } from '../errors.ts'
import { copyFile, hashFile } from './copy-file.ts'
import { type DataFile, findBackupRule, listFiles, type OwnedPart } from './data-part.ts'
import { dataFolder, type Manifest, type ManifestFile, writeManifest } from './manifest.ts'
import { isPartial, PartialBackup } from './partial-backup.ts'

export interface CopyJob {
  readonly dataDir: string
  readonly target: string
  readonly parts: readonly OwnedPart[]
  readonly version: string
  readonly madeAt: string
  readonly request: string | null
  readonly withSecrets: boolean
}

const maxPasses = 6

/** SQLite copies the databases. Other files are always complete, because servers replace them by renaming. */
export async function copyData(job: CopyJob, { signal, progress }: CallOptions = {}): Promise<Manifest> {
  const dataDir = resolve(job.dataDir)
  const target = resolve(job.target)
  await requireUsableTarget(dataDir, target, job.parts)
  let partialBackup: PartialBackup | undefined
  try {
    partialBackup = new PartialBackup(target)
    const { folder } = partialBackup
    await mkdir(join(folder, dataFolder), { mode: 0o700 })
    const files = await new DataCopy({ ...job, dataDir }, folder, { signal, progress }).run()
    const { version, madeAt: made_at, request, withSecrets: has_secrets } = job
    const origin = { version, made_at, request, data_dir: dataDir }
    const manifest: Manifest = { format: 1, product: 'causeway', ...origin, has_secrets, files }
    await writeManifest(folder, manifest)
    await syncFolder(folder)
    signal?.throwIfAborted()
    if (!canRenameOpenFolder()) await partialBackup.release()
    await rename(folder, target)
    await partialBackup.release(target)
    await syncFolder(dirname(target))
    return manifest
  } catch (error) {
    if (partialBackup !== undefined) {
      await partialBackup.release()
      await rm(partialBackup.folder, { recursive: true, force: true })
    }
    throw toDataError(error, target)
  }
}

async function requireUsableTarget(
  dataDir: string,
  target: string,
  parts: readonly OwnedPart[],
): Promise<void> {
  const data = { target }
  if (isPartial(target))
    throw new CausewayError('INVALID_ARGUMENTS', `this name is reserved for incomplete backups: ${target}`, {
      data,
      remedy: 'choose a name that does not end in .part',
    })
  if (isInsideData(dataDir, target, parts))
    throw new CausewayError('INVALID_ARGUMENTS', `a backup cannot be inside the data: ${target}`, {
      data,
      remedy: 'choose a folder outside of the data folder',
    })
  if (!existsSync(dataDir))
    throw new CausewayError('FILE_NOT_FOUND', `there is no data folder ${dataDir}`, { data: { dataDir } })
  if (existsSync(target) && (await readdir(target)).length > 0)
    throw new ServerError('DATA_EXISTS', `the folder for the backup is not empty: ${target}`, { data })
}

function isInsideData(dataDir: string, target: string, parts: readonly OwnedPart[]): boolean {
  const path = relative(dataDir, target).replaceAll('\\', '/')
  if (path.startsWith('..') || isAbsolute(path)) return false
  // A part without a final slash, such as `x.tmp`, excludes only files.
  return !parts.some(
    (part) => part.kind === 'passing' && part.path.endsWith('/') && path.startsWith(part.path),
  )
}

interface CopiedFile {
  readonly version: string
  /** `undefined` if the file was removed before the copy. */
  readonly entry: ManifestFile | undefined
}

class DataCopy {
  readonly #job: CopyJob
  readonly #folder: string
  readonly #options: CallOptions
  readonly #copiedFiles = new Map<string, CopiedFile>()
  #doneBytes = 0

  constructor(job: CopyJob, folder: string, options: CallOptions) {
    this.#job = job
    this.#folder = folder
    this.#options = options
  }

  /**
   * Copies in passes. The second pass copies new files to which a copied database may refer. If an app's files were
   * removed, its databases are copied again. Throws `BACKUP_UNSETTLED`.
   */
  async run(): Promise<ManifestFile[]> {
    const { dataDir, parts } = this.#job
    for (let pass = 1; pass <= maxPasses; pass += 1) {
      const files = await listFiles(dataDir, parts)
      const removedPaths = await this.#discardRemovedFiles(files)
      if (pass > 2 && removedPaths.length === 0)
        return [...this.#copiedFiles.values()].flatMap(({ entry }) => entry ?? [])
      const apps = new Set(removedPaths.map((path) => findBackupRule(path, parts).part?.app))
      await this.#copyFiles(files.filter((file) => this.#isOutdated(file, apps)))
    }
    throw new ServerError('BACKUP_UNSETTLED', `files changed during all ${maxPasses} passes`)
  }

  async #discardRemovedFiles(files: readonly DataFile[]): Promise<readonly string[]> {
    const paths = new Set(files.map(({ path }) => path))
    const removedPaths = [...this.#copiedFiles.keys()].filter((path) => !paths.has(path))
    for (const path of removedPaths) {
      this.#copiedFiles.delete(path)
      await rm(join(this.#folder, dataFolder, path), { force: true })
    }
    return removedPaths
  }

  #isOutdated(
    { path, kind, part, version }: DataFile,
    unsettledApps: ReadonlySet<string | undefined>,
  ): boolean {
    const copy = this.#copiedFiles.get(path)
    if (copy === undefined) return true
    if (kind === 'files') return copy.version !== version
    // Databases that match a pattern, such as recordings, do not refer to other files.
    return part?.path === path && unsettledApps.has(part.app)
  }

  async #copyFiles(files: readonly DataFile[]): Promise<void> {
    const { signal, progress } = this.#options
    const total = this.#doneBytes + files.reduce((sum, { bytes }) => sum + bytes, 0)
    for (const file of files) {
      const start = this.#doneBytes
      const advance = (bytes: number): void => {
        this.#doneBytes += bytes
        progress?.(Math.min(this.#doneBytes, total), total, file.path)
      }
      const entry = await this.#copyFile(file, { signal, advance })
      this.#doneBytes = start + file.bytes
      this.#copiedFiles.set(file.path, { version: file.version, entry })
    }
  }

  async #copyFile(
    { path, kind, part }: DataFile,
    options: Parameters<typeof copyFile>[2] & object,
  ): Promise<ManifestFile | undefined> {
    const from = join(this.#job.dataDir, path)
    const to = join(this.#folder, dataFolder, path)
    const file = { path, kind, app: part?.app ?? null }
    try {
      if (kind === 'files') return { ...file, ...(await copyFile(from, to, options)), schema: null }
      const sql = this.#job.withSecrets ? undefined : part?.withoutSecrets
      await backupFile(from, to, { sql, ...(options.signal && { signal: options.signal }) })
      return { ...file, ...(await hashFile(to, options)), schema: [...readMigrations(to)] }
    } catch (error) {
      const isRemoved =
        CausewayError.is(error, 'FILE_NOT_FOUND') || (error as { code?: unknown }).code === 'ENOENT'
      if (isRemoved) return undefined
      throw toDataError(error, from)
    }
  }
}
