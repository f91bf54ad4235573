import { realpathSync } from 'node:fs'
import { isAbsolute, join, sep } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import Database from 'better-sqlite3'
import type { Test } from 'tap'
import { type LibraryLimits, openLibrary, type RecordingLibrary, type Roots } from '../src/index.ts'

/** Returns roots that, like those of a server, accept only real paths in these folders. */
export function createRoots(...folders: readonly string[]): Roots {
  const real = folders.map((folder) => realpathSync(folder))
  return {
    folders: () => real,
    async resolve(path) {
      for (const root of real) {
        const found = realPath(isAbsolute(path) ? path : join(root, path))
        if (found === undefined) continue
        if (real.some((folder) => found === folder || found.startsWith(folder + sep))) return found
        throw new CausewayError('OUTSIDE_ROOTS', `not below a root: ${path}`)
      }
      throw new CausewayError('FILE_NOT_FOUND', `there is no file ${path}`)
    },
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

/**
 * Creates empty folders for a test: `files` for recordings, `data` and `more` for libraries, `elsewhere` outside the
 * root.
 */
export function folders(t: Test): Record<'files' | 'data' | 'more' | 'elsewhere', string> {
  const root = t.testdir({ files: {}, data: {}, more: {}, elsewhere: {} })
  const below = (name: string) => join(root, name)
  return { files: below('files'), data: below('data'), more: below('more'), elsewhere: below('elsewhere') }
}

/** Opens a library with one root. It is closed after the test. */
export async function libraryOver(
  t: Test,
  root: string,
  more: { readonly dir: string; readonly limits?: Partial<LibraryLimits>; readonly now?: () => number },
): Promise<RecordingLibrary> {
  const library = await openLibrary({
    dir: more.dir,
    roots: createRoots(root),
    now: more.now ?? (() => 1_700_000_000_000),
    ...(more.limits ? { limits: more.limits } : {}),
  })
  t.teardown(() => library.close())
  return library
}

/** The range of a whole recording. */
export const whole = { start: null, end: null } as const

/** Waits until a condition is true. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 60_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the condition did not come true')
    await wait(5)
  }
}

/** Runs SQL on a database that is not open elsewhere. */
export function change(file: string, sql: string): void {
  const db = new Database(file)
  db.exec(sql)
  db.close()
}
