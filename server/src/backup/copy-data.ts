/**
 * Copies a data folder while servers work on it. Databases are copied by SQLite, each as it is at one moment; other files
 * are replaced by rename and so never seen half.
 */
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { backupFile, dataFailure, schemaOf } from '@causeway/store'
import { type OwnedPart, treatmentOf } from '../domain/data-part.ts'
import { copyFile, hashFile, syncFolder, type Watch } from './copy-file.ts'
import { dataFolder, type Manifest, type ManifestFile, writeManifest } from './manifest.ts'
import { holdPart, isPart, type PartHold, partOf } from './part.ts'
import { type FoundFile, survey } from './survey.ts'

/** What is copied where. */
export interface CopyJob {
  readonly dataDir: string
  /** A folder that is not there yet, or is empty. */
  readonly target: string
  readonly parts: readonly OwnedPart[]
  readonly version: string
  readonly madeAt: string
  readonly request: string | null
  readonly withSecrets: boolean
}

/** Bytes that are done and to do. */
export type Progress = (done: number, total: number, file: string) => void

/** Looks at a folder again this often before it is called unsettled. */
const mostRounds = 6

/**
 * Makes a backup, whole or not at all: `target` appears when it is complete. Throws `DATA_EXISTS`, `DATA_DAMAGED`,
 * `DATA_UNWRITABLE`, `BACKUP_UNSETTLED`, `CANCELLED`, `INVALID_ARGUMENTS` for a target among the data or with the name of
 * one that is not complete, `OVERLOADED` while another one is made under its name.
 */
export async function copyData(
  job: CopyJob,
  { signal, progress }: { signal?: AbortSignal | undefined; progress?: Progress | undefined } = {},
): Promise<Manifest> {
  const dataDir = resolve(job.dataDir)
  const target = resolve(job.target)
  if (isPart(target))
    throw new CausewayError('INVALID_ARGUMENTS', `backups that are not complete are named so: ${target}`, {
      data: { target },
      remedy: 'choose a name that does not end in .part',
    })
  refuseInside(dataDir, target, job.parts)
  if (!existsSync(dataDir))
    throw new CausewayError('FILE_NOT_FOUND', `there is no data folder ${dataDir}`, { data: { dataDir } })
  if (existsSync(target) && (await readdir(target)).length > 0)
    throw new CausewayError('DATA_EXISTS', `the folder for the backup is not empty: ${target}`, {
      data: { target },
    })
  const part = partOf(target)
  const holding = hold(target)
  try {
    await mkdir(join(part, dataFolder), { mode: 0o700 })
    const files = await passes({ ...job, dataDir, part }, { signal, progress })
    const { version, madeAt: made_at, request, withSecrets: has_secrets } = job
    const facts = { format: 1, product: 'causeway', version, made_at, request } as const
    const manifest: Manifest = { ...facts, data_dir: dataDir, has_secrets, files }
    await writeManifest(part, manifest)
    await syncFolder(part)
    signal?.throwIfAborted()
    // Held until it has its name, but where a folder with an open file cannot be renamed.
    if (process.platform === 'win32') await holding.release(part)
    await rename(part, target)
    await holding.release(target)
    await syncFolder(dirname(target))
    return manifest
  } catch (error) {
    await holding.release(part)
    await rm(part, { recursive: true, force: true })
    throw dataFailure(error, target)
  }
}

function hold(target: string): PartHold {
  try {
    return holdPart(target)
  } catch (error) {
    throw dataFailure(error, target)
  }
}

interface Passes extends CopyJob {
  readonly part: string
}

/**
 * Passes over the folder: the first copies everything, the second what came meanwhile, which a database that was copied
 * in the first may name. Where a file went, the databases of its app are copied once more, for they may name it.
 */
async function passes(
  { dataDir, part, parts, withSecrets }: Passes,
  { signal, progress }: { signal: AbortSignal | undefined; progress: Progress | undefined },
): Promise<ManifestFile[]> {
  const copied = new Map<string, { readonly mark: string; readonly file: ManifestFile }>()
  let done = 0
  for (let round = 1; round <= mostRounds; round += 1) {
    const found = await survey(dataDir, parts)
    const names = new Set(found.map(({ path }) => path))
    const lost = [...copied.keys()].filter((path) => !names.has(path))
    if (round > 2 && lost.length === 0) return [...copied.values()].map(({ file }) => file)
    const unsettled = new Set(lost.map((path) => treatmentOf(path, parts).part?.app))
    for (const path of lost) {
      copied.delete(path)
      await rm(join(part, dataFolder, path), { force: true })
    }
    const todo = found.filter((file) => {
      const before = copied.get(file.path)
      if (before === undefined) return true
      return file.kind === 'files'
        ? before.mark !== file.mark
        : isNaming(file) && unsettled.has(file.part?.app)
    })
    const total = done + todo.reduce((sum, { bytes }) => sum + bytes, 0)
    for (const file of todo) {
      const start = done
      const advance = (bytes: number): void => {
        done += bytes
        progress?.(Math.min(done, total), total, file.path)
      }
      const entry = await copyOne(file, { dataDir, part, withSecrets }, { signal, advance })
      done = start + file.bytes
      // One that went before it was copied is told like one that went after: it is missing in the next pass.
      copied.set(file.path, { mark: file.mark, file: entry ?? notThere(file.path) })
    }
  }
  throw new CausewayError('BACKUP_UNSETTLED', `files came and went during ${mostRounds} passes`)
}

/** A database that stands alone names files of its app; one of many is named itself. */
const isNaming = ({ part, path }: FoundFile): boolean => part?.path === path

/** Stands for a file that went; no manifest has it. */
const notThere = (path: string): ManifestFile => ({
  path,
  kind: 'files',
  app: null,
  bytes: 0,
  sha256: '',
  schema: null,
})

/** Copies one file; undefined where it is gone, which the next pass settles. */
async function copyOne(
  { path, kind, part: owned }: FoundFile,
  { dataDir, part, withSecrets }: Pick<Passes, 'dataDir' | 'part' | 'withSecrets'>,
  watch: Watch,
): Promise<ManifestFile | undefined> {
  const from = join(dataDir, path)
  const to = join(part, dataFolder, path)
  const about = { path, kind, app: owned?.app ?? null }
  try {
    if (kind === 'files') return { ...about, ...(await copyFile(from, to, watch)), schema: null }
    const change = withSecrets ? undefined : owned?.withoutSecrets
    await backupFile(from, to, { change, ...(watch.signal === undefined ? {} : { signal: watch.signal }) })
    return { ...about, ...(await hashFile(to, watch)), schema: [...schemaOf(to)] }
  } catch (error) {
    if (isGone(error)) return undefined
    throw dataFailure(error, from)
  }
}

const isGone = (error: unknown): boolean =>
  isCausewayError(error)
    ? error.code === 'FILE_NOT_FOUND'
    : (error as NodeJS.ErrnoException).code === 'ENOENT'

/** A backup among the data would be part of the next one. */
function refuseInside(dataDir: string, target: string, parts: readonly OwnedPart[]): void {
  const path = relative(dataDir, target).replaceAll('\\', '/')
  if (path.startsWith('..') || isAbsolute(path)) return
  if (path !== '' && treatmentOf(path, parts).kind === 'passing') return
  throw new CausewayError('INVALID_ARGUMENTS', `a backup cannot stand among the data: ${target}`, {
    data: { target },
    remedy: 'choose a folder outside of the data folder',
  })
}
