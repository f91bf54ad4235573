import { rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CausewayError, isCausewayError } from '@causeway/protocol'
import { OpenFile, requireInitialized, toDataError } from '@causeway/store'
import type { OwnedPart } from '../backup/data-part.ts'
import type { AppInstance } from '../host/app-host.ts'

interface StorageReport {
  /** `unwritable`: writes fail although the disk is not full. */
  readonly status: 'ok' | 'full' | 'unwritable'
  /** `null` if unknown. */
  readonly free_bytes: number | null
  /** Code of a failed write, such as `ENOSPC`. */
  readonly reason?: string
}

const probeBytes = 2 ** 20

const probeName = 'storage-probe.tmp'

const fullCodes: ReadonlySet<string> = new Set(['SQLITE_FULL', 'ENOSPC', 'EDQUOT', 'EFBIG'])

/** Records failed writes until a write succeeds, and damage until a restart. */
export class StorageHealth {
  readonly #dataDir: string
  readonly #databases = new Map<string, string[]>()
  readonly #damage = new Map<string, CausewayError>()
  readonly #openFiles = new WeakMap<AppInstance, readonly OpenFile[]>()
  #hasFailed = false
  #runningProbe: Promise<string | undefined> | undefined

  constructor(dataDir: string, parts: readonly OwnedPart[]) {
    this.#dataDir = dataDir
    for (const { app, path, kind } of parts)
      if (kind === 'database' && !path.includes('*'))
        this.#databases.set(app, [...(this.#databases.get(app) ?? []), path])
  }

  /** Ignores errors that do not concern data files. */
  record(app: string, error: unknown): void {
    for (let cause = error; cause instanceof Error; cause = cause.cause) {
      const dataError = toDataError(cause, `data of ${app}`)
      if (!isCausewayError(dataError)) continue
      if (dataError.code === 'DATA_DAMAGED' || dataError.code === 'DATA_MISSING')
        this.#recordDamage(app, dataError)
      if (dataError.code === 'DATA_UNWRITABLE') this.#hasFailed = true
    }
  }

  findDamage(instance: AppInstance): CausewayError | undefined {
    try {
      for (const path of this.#findPaths(instance)) requireInitialized(path)
      this.requireFiles(instance)
    } catch (error) {
      if (isCausewayError(error)) return error
      throw error
    }
    return this.#damage.get(instance.app.name)
  }

  /** Throws `DATA_MISSING` if a database was removed or replaced since the first call. */
  requireFiles(instance: AppInstance): void {
    let files = this.#openFiles.get(instance)
    if (files === undefined) {
      files = this.#findPaths(instance).map((path) => new OpenFile(path))
      this.#openFiles.set(instance, files)
    }
    for (const file of files) file.requireInPlace()
  }

  #findPaths({ app }: AppInstance): readonly string[] {
    return (this.#databases.get(app.name) ?? []).map((file) => join(this.#dataDir, file))
  }

  /** Writes a test file if a write failed or space is short. `lastFailure`: an error that still occurs. */
  async report(lastFailure?: unknown): Promise<StorageReport> {
    const availableBytes = await measureFreeBytes(this.#dataDir)
    let reason = lastFailure === undefined ? undefined : readCode(lastFailure)
    if (this.#hasFailed || (availableBytes !== null && availableBytes < 2 * probeBytes)) {
      this.#runningProbe ??= this.#probe().finally(() => {
        this.#runningProbe = undefined
      })
      const failure = await this.#runningProbe
      this.#hasFailed = failure !== undefined
      reason = failure ?? reason
    }
    if (reason === undefined) return { status: 'ok', free_bytes: availableBytes }
    return { status: fullCodes.has(reason) ? 'full' : 'unwritable', free_bytes: availableBytes, reason }
  }

  /** Ignores damage to one of many files, such as a recording: only the calls that use it report the damage. */
  #recordDamage(app: string, error: CausewayError): void {
    const { file } = error.data
    if (file === `data of ${app}`) this.#damage.set(app, error)
    for (const [owner, files] of this.#databases)
      if (files.includes(String(file))) this.#damage.set(owner, error)
  }

  async #probe(): Promise<string | undefined> {
    const file = join(this.#dataDir, probeName)
    try {
      await writeFile(file, Buffer.alloc(probeBytes, 1), { mode: 0o600, flush: true })
      return undefined
    } catch (error) {
      return readCode(error)
    } finally {
      await rm(file, { force: true }).catch(() => undefined)
    }
  }
}

const readCode = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'EIO'

async function measureFreeBytes(folder: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  } catch {
    return null
  }
}
