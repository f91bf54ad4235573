/**
 * A desk: a session's own copy of a project, on which it works until it ends, so that nothing of it is in the user's
 * project before. Under `write: end` every tool reads and writes there.
 */
import { lstat, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import { deskOf, desksOf } from './desk-place.ts'
import { isSameContent } from './domain/candidate/same-content.ts'
import type { FileContent } from './domain/candidate/types.ts'
import type { SessionConfig } from './domain/session-config.ts'
import type { SessionRow } from './rows.ts'
import type { ProjectFiles, Snapshots } from './snapshot/types.ts'
import type { TrmStore } from './store.ts'

/** What it takes. */
export interface DeskParts {
  /** the data folder of the server */
  readonly dir: string
  readonly store: TrmStore
  readonly snapshots: Snapshots
  files(root: string): ProjectFiles
}

/** Copies a project to a desk of the session's own; gives the folder. Throws `SNAPSHOT_TOO_LARGE`. */
export async function layDesk({ dir, snapshots }: DeskParts, project: string, sid: string): Promise<string> {
  const desk = deskOf(dir, sid)
  await mkdir(desksOf(dir), { recursive: true, mode: 0o700 })
  await snapshots.copy(project, desk)
  return desk
}

/** Removes desks of sessions that never came to be: the server ended between the copy and the session. */
export async function sweepDesks({ dir, store }: Pick<DeskParts, 'dir' | 'store'>): Promise<void> {
  const known = new Set((await store.sessions()).map(({ id }) => id))
  for (const name of await readdir(desksOf(dir)).catch((): string[] => []))
    if (!known.has(name)) await rm(join(desksOf(dir), name), { recursive: true, force: true })
}

/** Removes the desk of a session, if it has one. */
export async function clearDesk({ repo, project }: SessionConfig): Promise<void> {
  if (repo !== project) await rm(repo, { recursive: true, force: true, maxRetries: 3 })
}

/**
 * Brings what the session has changed on its desk into the user's project, all of it or nothing; gives the paths. A file
 * that somebody else has edited since the start is `USER_EDIT_CONFLICT`, unless it already is what it would become.
 */
export async function landDesk(
  { store, snapshots, files }: DeskParts,
  { id, config }: SessionRow,
  force: boolean,
): Promise<readonly string[]> {
  const landings = await store.landings(id)
  if (config.repo === config.project || landings.length === 0) return []
  const start = await snapshots.combine(landings.map(({ before }) => before))
  try {
    const paths = (await snapshots.entries(start)).map(({ path }) => path)
    const [then, ours, theirs] = await Promise.all([
      snapshots.read(start, paths),
      files(config.repo).read(paths),
      files(config.project).read(paths),
    ])
    const changed = paths.filter((path) => !isSameContent(ours.get(path), theirs.get(path)))
    const wanted = changed.filter((path) => !isSameContent(ours.get(path), then.get(path)))
    const conflicts = wanted.filter((path) => !isSameContent(theirs.get(path), then.get(path)))
    if (conflicts.length > 0 && !force)
      throw new CausewayError(
        'USER_EDIT_CONFLICT',
        `edited since the session began: ${conflicts.join(', ')}`,
        {
          data: { conflicts },
        },
      )
    const changes = new Map<string, FileContent | null>(wanted.map((path) => [path, ours.get(path) ?? null]))
    await files(config.project).write(changes, {
      before: theirs,
      executable: await executables(config.repo, wanted),
    })
    return wanted
  } finally {
    await snapshots.drop(start)
  }
}

/** The x bits of files that are there. */
async function executables(root: string, paths: readonly string[]): Promise<ReadonlyMap<string, boolean>> {
  const found = new Map<string, boolean>()
  for (const path of paths) {
    const stats = await lstat(join(root, path)).catch(() => undefined)
    if (stats !== undefined) found.set(path, (stats.mode & 0o100) !== 0)
  }
  return found
}
