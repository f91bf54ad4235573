import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { canonical } from './canonical.ts'
import type { Log } from './debug-log.ts'
import { parsed } from './parsed.ts'

/** A good answer as it was when it last came. */
export interface Remembered {
  readonly result: Readonly<Record<string, unknown>>
  /** When it came, ISO 8601. */
  readonly at: string
}

/** The last good answers of one server, in a file that outlives the bridge. */
export interface OfflineStore {
  get(key: string): Remembered | undefined
  /** Keeps an answer; true where it differs from the one before. */
  put(key: string, result: unknown): boolean
}

/** Opens the file; one that is missing or damaged is an empty one, and one that cannot be written is not. */
export function openOfflineStore(path: string, { now, log }: { now: () => Date; log: Log }): OfflineStore {
  const kept = new Map(Object.entries(read(path)))
  const save = (): void => {
    const unfinished = `${path}.${process.pid}`
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      writeFileSync(unfinished, JSON.stringify(Object.fromEntries(kept)), { mode: 0o600 })
      // Bridges of one server share the file: whoever reads it finds a whole one.
      renameSync(unfinished, path)
    } catch (error) {
      rmSync(unfinished, { force: true })
      log(`the offline list was not kept: ${error}`)
    }
  }
  return {
    get: (key) => kept.get(key),
    put(key, result) {
      if (typeof result !== 'object' || result === null) return false
      if (canonical(kept.get(key)?.result) === canonical(result)) return false
      kept.set(key, { result: result as Remembered['result'], at: now().toISOString() })
      save()
      return true
    },
  }
}

function read(path: string): Readonly<Record<string, Remembered>> {
  try {
    const value = parsed(readFileSync(path))
    return typeof value === 'object' && value !== null ? (value as Record<string, Remembered>) : {}
  } catch {
    // No such file: nothing was kept yet.
    return {}
  }
}

/** The file of one server, in the user's folder for what can be made anew. */
export function offlineStorePath(url: URL, env: NodeJS.ProcessEnv): string {
  const folders: Readonly<Record<string, string | undefined>> = {
    darwin: join(homedir(), 'Library', 'Caches'),
    win32: env.LOCALAPPDATA,
  }
  const folder = env.XDG_CACHE_HOME || folders[process.platform] || join(homedir(), '.cache')
  const name = createHash('sha256').update(String(url)).digest('hex').slice(0, 16)
  return join(folder, 'causeway', `offline-${name}.json`)
}
