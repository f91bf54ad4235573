/** A copy of a project in which commands run, so that nothing that they do stays in the user's. */
import { existsSync } from 'node:fs'
import { constants, cp, mkdir, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Critic } from './critic.ts'
import type { SessionConfig } from './domain/session-config.ts'

/** A folder in which commands run. */
export interface WorkCopy {
  readonly cwd: string
  remove(): Promise<void>
}

/** Makes the copy, or gives the project itself where the session asked for that. */
export async function workCopy(
  { snapshots, workDir }: Pick<Critic, 'snapshots' | 'workDir'>,
  { repo, project, isolate, link, copy }: SessionConfig,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
): Promise<WorkCopy> {
  if (!isolate) return { cwd: repo, remove: async () => {} }
  // A level of its own: what a command does to `..` stays within.
  const folder = join(workDir, name)
  const cwd = join(folder, 'project')
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 })
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await snapshots.copy(repo, cwd, { signal, isWhole: repo !== project })
    for (const path of copy) await copyFolder(project, cwd, path)
    for (const path of link) await linkFolder(project, cwd, path)
    return { cwd, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** What the project ignores and commands write to: a copy for each evaluation. */
async function copyFolder(repo: string, cwd: string, path: string): Promise<void> {
  const [from, to] = [join(repo, path), join(cwd, path)]
  if (!existsSync(from) || existsSync(to)) return
  await mkdir(dirname(to), { recursive: true })
  await cp(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    mode: constants.COPYFILE_FICLONE,
  })
}

/** A folder that tools fill and that the project ignores: shared, because it is large and no candidate changes it. */
async function linkFolder(repo: string, cwd: string, path: string): Promise<void> {
  const [from, to] = [join(repo, path), join(cwd, path)]
  if (!existsSync(from) || existsSync(to)) return
  await mkdir(dirname(to), { recursive: true })
  await symlink(from, to)
}
