/** A workspace is a session's own copy of a project. With `write: end`, every tool reads and writes there. */
import { lstat, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type FileContent, isSameContent } from '../domain/candidate/types.ts'
import type { SessionConfig } from '../domain/session-config.ts'
import { TrmError, toDiskError } from '../errors.ts'
import type { Critic } from '../session/critic.ts'
import type { SessionRow } from '../store/rows.ts'
import { readFiles, writeFiles } from './project-files.ts'
import { workspaceFolder, workspacesFolder } from './workspace-folder.ts'

/** Copies a project and returns the workspace folder. Throws `SNAPSHOT_TOO_LARGE`, `DATA_UNWRITABLE`. */
export async function createWorkspace(
  { dir, snapshots }: Critic,
  project: string,
  sid: string,
): Promise<string> {
  const folder = workspaceFolder(dir, sid)
  await mkdir(workspacesFolder(dir), { recursive: true, mode: 0o700 })
  try {
    await snapshots.copy(project, folder)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw toDiskError(error)
  }
  return folder
}

/** Removes workspaces without a session, which remain if the server exits before the session is created. */
export async function removeUnusedWorkspaces({ dir, store }: Critic): Promise<void> {
  const known = new Set((await store.sessions()).map(({ id }) => id))
  const folder = workspacesFolder(dir)
  for (const name of await readdir(folder).catch((): string[] => []))
    if (!known.has(name)) await rm(join(folder, name), { recursive: true, force: true })
}

export async function removeWorkspace({ repo, project }: SessionConfig): Promise<void> {
  if (repo !== project) await rm(repo, { recursive: true, force: true, maxRetries: 3 })
}

/**
 * Writes a workspace's changes to the user's project, all or none, and returns their paths. Throws
 * `USER_EDIT_CONFLICT` for files edited since the start, unless they already have the new content.
 */
export async function landWorkspace(
  { store, snapshots }: Critic,
  { id, config }: SessionRow,
  force: boolean,
): Promise<readonly string[]> {
  const landings = await store.landings(id)
  if (config.repo === config.project || landings.length === 0) return []
  const start = await snapshots.combine(landings.map(({ before }) => before))
  const paths = start.entries.map(({ path }) => path)
  const [original, ours, theirs] = await Promise.all([
    snapshots.read(start, paths),
    readFiles(config.repo, paths),
    readFiles(config.project, paths),
  ])
  const changed = paths.filter(
    (path) =>
      !isSameContent(ours.get(path), theirs.get(path)) && !isSameContent(ours.get(path), original.get(path)),
  )
  const conflicts = changed.filter((path) => !isSameContent(theirs.get(path), original.get(path)))
  if (conflicts.length > 0 && !force)
    throw new TrmError('USER_EDIT_CONFLICT', `edited since the session started: ${conflicts.join(', ')}`, {
      data: { conflicts },
    })
  const changes = new Map<string, FileContent | null>(changed.map((path) => [path, ours.get(path) ?? null]))
  const executable = await readExecutableBits(config.repo, changed)
  await writeFiles(config.project, changes, { before: theirs, executable })
  return changed
}

async function readExecutableBits(
  root: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, boolean>> {
  const found = new Map<string, boolean>()
  for (const path of paths) {
    const stats = await lstat(join(root, path)).catch(() => undefined)
    if (stats !== undefined) found.set(path, (stats.mode & 0o100) !== 0)
  }
  return found
}
