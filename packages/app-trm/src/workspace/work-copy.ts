import { existsSync } from 'node:fs'
import { constants, cp, mkdir, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { SessionConfig } from '../domain/session-config.ts'
import { toDiskError } from '../errors.ts'
import type { Snapshots } from '../snapshot/snapshots.ts'

/** A folder in which commands run. */
interface WorkCopy {
  readonly cwd: string
  remove(): Promise<void>
}

/**
 * Creates a copy of the project with linked and copied folders, or returns the project itself if `isolate` is false. Throws
 * `DATA_UNWRITABLE`.
 */
export async function createWorkCopy(
  { snapshots, workDir }: { readonly snapshots: Snapshots; readonly workDir: string },
  { repo, project, isolate, link, copy }: SessionConfig,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
): Promise<WorkCopy> {
  if (!isolate) return { cwd: repo, remove: async () => {} }
  // An extra level, so that a command's changes of `..` stay inside.
  const folder = join(workDir, name)
  const cwd = join(folder, 'project')
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 })
  const add = async (path: string, place: (from: string, to: string) => Promise<void>) => {
    const [from, to] = [join(project, path), join(cwd, path)]
    if (!existsSync(from) || existsSync(to)) return
    await mkdir(dirname(to), { recursive: true })
    await place(from, to)
  }
  const options = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true }
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await snapshots.copy(repo, cwd, { signal, isWhole: repo !== project })
    for (const path of copy)
      await add(path, (from, to) => cp(from, to, { ...options, mode: constants.COPYFILE_FICLONE }))
    for (const path of link) await add(path, (from, to) => symlink(from, to))
    return { cwd, remove }
  } catch (error) {
    await remove()
    throw toDiskError(error)
  }
}
