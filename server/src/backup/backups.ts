import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import type { CallOptions } from '@causeway/worker'
import type { Logger } from 'pino'
import { backup } from './backup.ts'
import type { OwnedPart } from './data-part.ts'
import { type Manifest, readManifest } from './manifest.ts'
import { isPartial, removeAbandoned } from './partial-backup.ts'

interface BackupsOptions {
  readonly dataDir: string
  readonly folder: string
  readonly parts: () => readonly OwnedPart[]
  /** Unix milliseconds. */
  readonly now: () => number
  readonly log: Pick<Logger, 'info' | 'warn'>
}

export interface NamedBackup {
  readonly name: string
  readonly folder: string
  readonly manifest: Manifest
}

/** After this time, the same id is a new request: a nightly job may reuse its id. */
const repeatWindowMs = 600_000

export class Backups {
  readonly #options: BackupsOptions
  readonly #cleanup: Promise<void>
  #runningBackup: { readonly request: string; readonly result: Promise<NamedBackup> } | undefined

  constructor(options: BackupsOptions) {
    this.#options = options
    this.#cleanup = this.#removeAbandoned()
  }

  /**
   * Makes a backup, by default named after the time. A repeated request returns the same backup. Throws the
   * errors of `backup`, and `OVERLOADED` during another backup.
   */
  async make(name: string | undefined, request: string, options: CallOptions): Promise<NamedBackup> {
    if (this.#runningBackup?.request === request) return this.#runningBackup.result
    if (this.#runningBackup !== undefined)
      throw new CausewayError('OVERLOADED', 'another backup is being made', {
        data: { retry_after_ms: 1000 },
      })
    const now = new Date(this.#options.now()).toISOString()
    const result = this.#make(name ?? now.replaceAll(/[:.]/g, '-'), request, options)
    this.#runningBackup = { request, result }
    return result.finally(() => {
      this.#runningBackup = undefined
    })
  }

  /** Returns complete backups, newest first. */
  async list(): Promise<readonly NamedBackup[]> {
    const { folder: parentFolder } = this.#options
    const backups: NamedBackup[] = []
    if (!existsSync(parentFolder)) return backups
    for (const name of await readdir(parentFolder)) {
      const folder = join(parentFolder, name)
      if (isPartial(name) || !(await stat(folder)).isDirectory()) continue
      try {
        backups.push({ name, folder, manifest: await readManifest(folder) })
      } catch (error) {
        if (!isCausewayError(error)) throw error
      }
    }
    return backups.sort((a, b) => (a.manifest.made_at < b.manifest.made_at ? 1 : -1))
  }

  async #make(name: string, request: string, options: CallOptions): Promise<NamedBackup> {
    await this.#cleanup
    const { dataDir, folder: parentFolder, parts, now } = this.#options
    const isRepeated = ({ manifest }: NamedBackup): boolean =>
      manifest.request === request && Math.abs(now() - Date.parse(manifest.made_at)) < repeatWindowMs
    const previous = (await this.list()).find(isRepeated)
    if (previous !== undefined) return previous
    const folder = join(parentFolder, name)
    const manifest = await backup(dataDir, folder, parts(), { request, nowMs: now(), ...options })
    return { name, folder, manifest }
  }

  async #removeAbandoned(): Promise<void> {
    const { folder, log } = this.#options
    if (!existsSync(folder)) return
    try {
      const removedNames = await removeAbandoned(folder)
      if (removedNames.length > 0)
        log.info({ folder, removed: removedNames }, 'incomplete backups were removed')
    } catch (error) {
      log.warn({ err: error, folder }, 'incomplete backups could not be removed')
    }
  }
}
