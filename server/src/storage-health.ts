/** Health of the data folder: whether it can be written, and which databases are damaged or missing. */
import { rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CausewayError, isCausewayError } from '@causeway/protocol'
import { dataFailure, requireInitialized } from '@causeway/store'
import type { OwnedPart } from './domain/data-part.ts'

/** State of the data folder, for `/health`. */
export interface StorageReport {
  /** `full` if there is no room, `unwritable` if the system refuses writes for another reason. */
  readonly status: 'ok' | 'full' | 'unwritable'
  /** Bytes that the server may still write; `null` if the system does not say. */
  readonly free_bytes: number | null
  /** Error code of a write that fails, such as `ENOSPC`; absent while writes succeed. */
  readonly reason?: string
}

/** The folder counts as full if so many bytes cannot be written: less is soon used by logs and the audit. */
const probeBytes = 2 ** 20

const probeName = 'storage-probe.tmp'

/** Codes of a disk without room, and of a file that may not grow. */
const fullCodes: ReadonlySet<string> = new Set(['SQLITE_FULL', 'ENOSPC', 'EDQUOT', 'EFBIG'])

/** Records failures of writes until a write succeeds, and damage until the server is restarted. */
export class StorageHealth {
  readonly #dataDir: string
  /** Databases that an app cannot work without, by app. */
  readonly #databases = new Map<string, string[]>()
  readonly #damage = new Map<string, CausewayError>()
  #hasFailed = false
  #probing: Promise<string | undefined> | undefined

  constructor(dataDir: string, parts: readonly OwnedPart[]) {
    this.#dataDir = dataDir
    for (const { app, path, kind } of parts)
      if (kind === 'database' && !path.includes('*'))
        this.#databases.set(app, [...(this.#databases.get(app) ?? []), path])
  }

  /** Records why a call or background work of an app failed. Errors that are not about data files are ignored. */
  record(app: string, error: unknown): void {
    for (let cause = error; cause instanceof Error; cause = cause.cause) {
      const coded = dataFailure(cause, `data of ${app}`)
      if (!isCausewayError(coded)) continue
      if (coded.code === 'DATA_DAMAGED' || coded.code === 'DATA_MISSING') this.#recordDamage(app, coded)
      if (coded.code === 'DATA_UNWRITABLE') this.#hasFailed = true
    }
  }

  /** Why an app's databases cannot be used; `undefined` if nothing is known against them. */
  findDamage(app: string): CausewayError | undefined {
    for (const file of this.#databases.get(app) ?? []) {
      try {
        requireInitialized(join(this.#dataDir, file))
      } catch (error) {
        if (isCausewayError(error)) return error
        throw error
      }
    }
    return this.#damage.get(app)
  }

  /**
   * Looks at the disk. If a write failed or space is short, it writes a file to see whether there is room. `lastFailure` is the
   * error of a write that still fails, such as those of the audit.
   */
  async report(lastFailure?: unknown): Promise<StorageReport> {
    const free = await freeBytes(this.#dataDir)
    let reason = lastFailure === undefined ? undefined : readCode(lastFailure)
    if (this.#hasFailed || (free !== null && free < 2 * probeBytes)) {
      this.#probing ??= this.#probe().finally(() => {
        this.#probing = undefined
      })
      const failure = await this.#probing
      this.#hasFailed = failure !== undefined
      reason = failure ?? reason
    }
    if (reason === undefined) return { status: 'ok', free_bytes: free }
    return { status: fullCodes.has(reason) ? 'full' : 'unwritable', free_bytes: free, reason }
  }

  /** The damage of a file among many, such as one recording, is reported by the calls that need it. */
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

async function freeBytes(folder: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  } catch {
    // Some file systems do not report it.
    return null
  }
}
