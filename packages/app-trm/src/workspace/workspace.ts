/** A workspace is a session's own copy of a project. With `write: end`, every tool reads and writes there. */
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionConfig } from '../domain/session-config.ts'
import { toDiskError } from '../errors.ts'
import type { Critic } from '../session/critic.ts'
import type { SessionRow } from '../store/rows.ts'
import { getWorkspaceFolder, getWorkspacesFolder } from './workspace-folder.ts'

/** Throws `SNAPSHOT_TOO_LARGE`, `DATA_UNWRITABLE`. */
export async function createWorkspace(
  { dir, snapshots }: Critic,
  project: string,
  sid: string,
): Promise<string> {
  const folder = getWorkspaceFolder(dir, sid)
  await mkdir(getWorkspacesFolder(dir), { recursive: true, mode: 0o700 })
  try {
    await snapshots.copy(project, folder)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw toDiskError(error)
  }
  return folder
}

/** Removes workspaces that remain because the server exited before their session was created. */
export async function removeUnusedWorkspaces({ dir, store }: Critic): Promise<void> {
  const sessionIds = new Set((await store.listSessions()).map(({ id }) => id))
  const folder = getWorkspacesFolder(dir)
  for (const name of await readdir(folder).catch((): string[] => []))
    if (!sessionIds.has(name)) await rm(join(folder, name), { recursive: true, force: true })
}

export async function removeWorkspace({ repo, project }: SessionConfig): Promise<void> {
  if (repo !== project) await rm(repo, { recursive: true, force: true, maxRetries: 3 })
}

/**
 * Writes a workspace's changes to the user's project, all or none, and returns their paths. Throws
 * `USER_EDIT_CONFLICT` for files edited since the start, unless they already have the new content and mode.
 */
export async function landWorkspace(
  { store, snapshots }: Critic,
  { id, config }: SessionRow,
  force: boolean,
): Promise<readonly string[]> {
  const landings = await store.listLandings(id)
  if (config.repo === config.project || landings.length === 0) return []
  const start = await snapshots.combine(landings.map(({ before }) => before))
  const changedSnapshot = await snapshots.take(config.repo, await snapshots.findChanged(start))
  try {
    return await snapshots.restoreTo(config.project, changedSnapshot, { expected: start, force })
  } finally {
    snapshots.drop(changedSnapshot)
  }
}
