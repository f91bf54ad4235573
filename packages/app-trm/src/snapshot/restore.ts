import { CausewayError } from '@causeway/protocol'
import type { Contents } from './contents.ts'
import { absent, diskEntry, hasSameContent, isSameEntry } from './disk-entry.ts'
import type { Manifest } from './manifest.ts'
import { type Placed, placed } from './place.ts'
import { type Replacement, replaceFiles, sweepBeside } from './replace-files.ts'
import type { RestoreOptions, RestoreReport, SnapshotEntry } from './types.ts'

/** A path that is to change, and what it is now. */
interface Due {
  readonly entry: SnapshotEntry
  readonly now: SnapshotEntry
  readonly place: Placed
}

/** Makes the paths of a snapshot what they were. */
export async function restore(
  contents: Contents,
  { root, entries }: Manifest,
  expected: Manifest | undefined,
  { paths, force = false }: RestoreOptions,
): Promise<RestoreReport> {
  const wanted = paths && new Set(paths)
  const selected = entries.filter(({ path, kind }) => kind !== 'other' && (wanted?.has(path) ?? true))
  const due = await dueOf(root, selected)
  refuseConflicts(due, expected, force)
  for (const { place } of due) await sweepBeside(place.absolute)
  await replaceFiles(
    root,
    due.map(({ entry, place }) => ({ place, by: replacement(contents, entry) })),
    async () =>
      refuseMoved(
        due,
        await dueOf(
          root,
          due.map(({ entry }) => entry),
        ),
      ),
  )
  const pathsOf = (isDeleted: boolean) =>
    due.filter(({ entry }) => (entry.kind === 'absent') === isDeleted).map(({ entry }) => entry.path)
  return { restored: pathsOf(false), deleted: pathsOf(true) }
}

/** The entries that differ from the disk. */
async function dueOf(root: string, entries: readonly SnapshotEntry[]): Promise<readonly Due[]> {
  const found = await Promise.all(
    entries.map(async (entry): Promise<Due> => {
      const place = await placed(root, entry.path)
      return { entry, place, now: await diskEntry(entry.path, place.absolute, place.stats) }
    }),
  )
  return found.filter(({ entry, now }) => !isSameEntry(entry, now))
}

/** A folder in the place of a file is never removed, whatever is forced. */
function refuseConflicts(due: readonly Due[], expected: Manifest | undefined, force: boolean): void {
  const believed = expected && new Map(expected.entries.map((entry) => [entry.path, entry]))
  const conflicts = due
    .filter(({ entry, now }) => {
      if (now.kind === 'other') return true
      if (force || believed === undefined) return false
      return !hasSameContent(believed.get(entry.path) ?? absent(entry.path), now)
    })
    .map(({ entry }) => entry.path)
  if (conflicts.length > 0) throw conflict(conflicts)
}

function refuseMoved(due: readonly Due[], again: readonly Due[]): void {
  const now = new Map(again.map((one) => [one.entry.path, one.now]))
  const moved = due.filter((one) => !hasSameContent(one.now, now.get(one.entry.path) ?? one.entry))
  if (moved.length > 0) throw conflict(moved.map(({ entry }) => entry.path))
}

function conflict(conflicts: readonly string[]): CausewayError {
  const shown = conflicts.slice(0, 5).join(', ')
  const message = `${conflicts.length} files are not as the session left them: ${shown}`
  return new CausewayError('USER_EDIT_CONFLICT', message, { data: { conflicts } })
}

function replacement(contents: Contents, { kind, blob, mode }: SnapshotEntry): Replacement {
  if (kind === 'absent' || kind === 'other') return { kind: 'absent' }
  if (kind === 'file') {
    return {
      kind,
      mode,
      fill: async (file) => {
        if (!(await contents.copyTo(blob, file))) throw lost(blob)
      },
    }
  }
  return {
    kind,
    async target() {
      const target = await contents.read(blob)
      if (target === undefined) throw lost(blob)
      return target.toString()
    },
  }
}

/** What a list names is kept with it: that it is gone is a damage of the data folder. */
export const lost = (blob: string): Error => new Error(`the content of a snapshot is gone: ${blob}`)
