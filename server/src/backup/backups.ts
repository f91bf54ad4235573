/** The backups of a running server: a folder of them, made one at a time. */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import type { Logger } from 'pino'
import type { OwnedPart } from '../domain/data-part.ts'
import { backup } from './backup.ts'
import type { Backups, BackupWatch, NamedBackup } from './backup-types.ts'
import { readManifest } from './manifest.ts'
import { isPart, sweepParts } from './part.ts'

/** The same request again after this time, ms, is another one: what runs every night may name it alike. */
const repeatMs = 600_000

/** Backups of a data folder in a folder that need not be there yet. */
export function openBackups(options: {
  readonly dataDir: string
  readonly folder: string
  readonly parts: () => readonly OwnedPart[]
  readonly now: () => number
  readonly log: Pick<Logger, 'info' | 'warn'>
}): Backups {
  const { dataDir, folder, parts, now, log } = options
  const swept = sweep(folder, log)
  let making: { readonly request: string; readonly done: Promise<NamedBackup> } | undefined

  const list = async (): Promise<NamedBackup[]> => {
    const found: NamedBackup[] = []
    for (const name of await names(folder)) {
      const place = join(folder, name)
      if (isPart(name) || !(await stat(place)).isDirectory()) continue
      try {
        found.push({ name, folder: place, manifest: await readManifest(place) })
      } catch (error) {
        // A folder that is no backup, or cannot be restored, is not offered.
        if (!isCausewayError(error)) throw error
      }
    }
    return found.sort((a, b) => (a.manifest.made_at < b.manifest.made_at ? 1 : -1))
  }

  const begin = async (name: string, request: string, watch: BackupWatch): Promise<NamedBackup> => {
    await swept
    const isRepeated = ({ manifest: { request: of, made_at } }: NamedBackup): boolean =>
      of === request && Math.abs(now() - Date.parse(made_at)) < repeatMs
    const before = (await list()).find(isRepeated)
    if (before !== undefined) return before
    const place = join(folder, name)
    return {
      name,
      folder: place,
      manifest: await backup(dataDir, place, parts(), { request, nowMs: now(), ...watch }),
    }
  }

  return {
    list,
    async make(name, request, watch) {
      if (making?.request === request) return making.done
      if (making !== undefined)
        throw new CausewayError('OVERLOADED', 'another backup is being made', {
          data: { retry_after_ms: 1000 },
        })
      const done = begin(name ?? new Date(now()).toISOString().replaceAll(/[:.]/g, '-'), request, watch)
      making = { request, done }
      return done.finally(() => {
        making = undefined
      })
    },
  }
}

/** Takes away what was being made when a server before this one was killed. */
async function sweep(folder: string, log: Pick<Logger, 'info' | 'warn'>): Promise<void> {
  try {
    const gone = await sweepParts(folder)
    if (gone.length > 0) log.info({ folder, gone }, 'backups that were never complete were removed')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    log.warn({ err: error, folder }, 'backups that were never complete could not be removed')
  }
}

/** What is in a folder; nothing where there is none. */
async function names(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
