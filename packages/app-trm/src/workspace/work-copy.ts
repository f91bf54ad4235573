import { existsSync } from 'node:fs'
import { constants, cp, mkdir, readdir, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { SessionConfig } from '../domain/session-config.ts'
import { toDiskError } from '../errors.ts'
import { killLeftoverProcesses } from '../runner/process-group.ts'
import type { Critic } from '../session/critic.ts'

const getWorkFolder = (dir: string): string => join(dir, 'trm', 'work')

/** Removes all copies and kills their processes. The name of a copy is the marker of its processes. */
export async function removeWorkCopies(dir: string): Promise<void> {
  const folder = getWorkFolder(dir)
  // Version 0.2 also wrote files that end in `.mark`.
  for (const name of await readdir(folder).catch((): string[] => []))
    await killLeftoverProcesses(null, name.replace(/\.mark$/, ''))
  await rm(folder, { recursive: true, force: true })
}

/**
 * Waits for a slot and calls `use` with the folder for commands: a copy of the project with linked and copied
 * folders, or the project itself if `isolate` is false. Removes the copy afterwards. Throws `DATA_UNWRITABLE`, and
 * the signal's reason or `CANCELLED`.
 */
export async function withWorkCopy<Result>(
  { snapshots, dir, queue }: Critic,
  { repo, project, isolate, link, copy }: SessionConfig,
  { marker, signal }: { readonly marker: string; readonly signal: AbortSignal },
  use: (cwd: string) => Promise<Result>,
): Promise<Result> {
  const folder = join(getWorkFolder(dir), marker)
  // The additional level contains what a command writes to `..`.
  const cwd = isolate ? join(folder, 'project') : repo
  const addPath = async (path: string, copyPath: (from: string, to: string) => Promise<void>) => {
    const [from, to] = [join(project, path), join(cwd, path)]
    if (!existsSync(from) || existsSync(to)) return
    await mkdir(dirname(to), { recursive: true })
    await copyPath(from, to)
  }
  const options = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true }
  const runInCopy = async (): Promise<Result> => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    if (isolate) {
      await snapshots.copy(repo, cwd, { signal, includeIgnored: repo !== project })
      for (const path of copy)
        await addPath(path, (from, to) => cp(from, to, { ...options, mode: constants.COPYFILE_FICLONE }))
      for (const path of link) await addPath(path, (from, to) => symlink(from, to))
    }
    return await use(cwd)
  }
  return queue.run(
    async () => {
      try {
        return await runInCopy()
      } catch (error) {
        throw toDiskError(error)
      } finally {
        await rm(folder, { recursive: true, force: true, maxRetries: 3 })
      }
    },
    { signal },
  )
}
