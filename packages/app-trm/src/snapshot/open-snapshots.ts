import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Log } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { deskOf, sidOfDesk } from '../desk-place.ts'
import type { FileContent } from '../domain/candidate/types.ts'
import type { Contents } from './contents.ts'
import { copyTree } from './copy-tree.ts'
import { diskEntry, hasSameContent } from './disk-entry.ts'
import { eitherContents } from './either-contents.ts'
import { gitContents } from './git-contents.ts'
import { type Manifest, readManifest, sorted, storeManifest } from './manifest.ts'
import { manifestMemory } from './manifest-memory.ts'
import { placed, realRoot } from './place.ts'
import { asContent, largestFile, tooLarge } from './project-files.ts'
import { recordPaths } from './record.ts'
import { lost, restore } from './restore.ts'
import { type ContentRows, rowContents } from './row-contents.ts'
import { hasGit, shadowGit } from './shadow-git.ts'
import { allFiles, type TreeLimits, treeFiles } from './tree-list.ts'
import type { SnapshotEntry, SnapshotId, Snapshots } from './types.ts'

/** What snapshots need. */
export interface SnapshotsOptions {
  /** The shadow repository is made in it when the first snapshot is taken. */
  readonly dir: string
  readonly log: Pick<Log, 'debug'>
  /** Keeps contents where there is no git. */
  readonly rows: ContentRows
  readonly newId?: (() => string) | undefined
  readonly limits?: TreeLimits | undefined
  /** How old what no snapshot holds must be for `collect` to remove it, ms. */
  readonly keepMs?: number | undefined
  readonly now?: (() => number) | undefined
}

const defaultLimits: TreeLimits = { files: 20_000, bytes: 2 ** 30 }

/** Opens the snapshots of a folder. Git keeps them where it is found when it is needed, else rows of the data file. */
export function openSnapshots(options: SnapshotsOptions): Snapshots {
  const { dir, log, newId = randomUUID, limits = defaultLimits } = options
  const { rows, keepMs = 3_600_000, now = Date.now } = options
  const folder = join(dir, 'shadow.git')
  const git = shadowGit(folder, log)
  const contents = eitherContents({
    git: gitContents(git, keepMs),
    rows: rowContents(rows, { keepMs, now }),
    hasGit,
    wasGit: () => existsSync(join(folder, 'HEAD')),
  })
  // A snapshot never changes, so what was read or written once need not be read again.
  const known = manifestMemory()
  const combined = new Map<SnapshotId, Manifest>()
  /** A snapshot of a desk belongs to the desk where it is now, in a folder that may have been moved or copied. */
  const placedNow = async (one: Manifest): Promise<Manifest> => {
    const sid = sidOfDesk(one.root)
    const desk = sid === undefined ? undefined : deskOf(dirname(dir), sid)
    return desk !== undefined && existsSync(desk) ? { ...one, root: await realRoot(desk) } : one
  }
  const manifest = async (id: SnapshotId): Promise<Manifest> =>
    combined.get(id) ?? known.get(id) ?? known.keep(id, await placedNow(await readManifest(contents, id)))
  return {
    async take(folder, paths) {
      const root = await realRoot(folder)
      const id = newId()
      known.keep(
        id,
        await storeManifest(contents, id, { root, entries: await recordPaths(contents, root, paths) }),
      )
      return id
    },
    async copy(folder, target, { signal, isWhole = false } = {}) {
      const root = await realRoot(folder)
      const files = await (isWhole
        ? allFiles(root)
        : treeFiles((await hasGit()) ? git : undefined, root, limits))
      await copyTree(files, target, signal)
    },
    async restore(id, restoreOptions = {}) {
      const { expected } = restoreOptions
      const believed = expected === undefined ? undefined : await manifest(expected)
      return restore(contents, await manifest(id), believed, restoreOptions)
    },
    conflicts: async (id) => conflicts(await manifest(id)),
    async combine(ids) {
      const manifests = await Promise.all(ids.map(manifest))
      const root = manifests[0]?.root
      if (root === undefined || manifests.some((other) => other.root !== root)) {
        throw new CausewayError(
          'SNAPSHOT_NOT_FOUND',
          'the snapshots to combine are none, or not of one project',
        )
      }
      const entries = new Map<string, SnapshotEntry>()
      for (const entry of manifests.flatMap((one) => one.entries)) {
        if (!entries.has(entry.path)) entries.set(entry.path, entry)
      }
      const id = newId()
      combined.set(id, sorted({ root, entries: [...entries.values()] }))
      return id
    },
    entries: async (id) => (await manifest(id)).entries,
    async read(id, paths) {
      const entries = new Map((await manifest(id)).entries.map((entry) => [entry.path, entry]))
      const files = new Map<string, FileContent | undefined>()
      for (const path of paths) {
        const entry = entries.get(path)
        if (entry !== undefined) files.set(path, await contentOf(contents, entry))
      }
      return files
    },
    async drop(...ids) {
      const stored = ids.filter((id) => !combined.delete(id))
      if (stored.length === 0) return
      for (const id of stored) known.delete(id)
      await contents.drop(stored)
    },
    memory: known,
    collect: () => contents.collect(),
  }
}

async function conflicts({ root, entries }: Manifest): Promise<readonly string[]> {
  const found: string[] = []
  for (const entry of entries) {
    const { absolute, stats } = await placed(root, entry.path)
    if (!hasSameContent(entry, await diskEntry(entry.path, absolute, stats))) found.push(entry.path)
  }
  return found
}

async function contentOf(
  contents: Contents,
  { path, kind, blob, bytes }: SnapshotEntry,
): Promise<FileContent | undefined> {
  if (kind !== 'file') return undefined
  if (bytes > largestFile) throw tooLarge(path, bytes)
  const found = await contents.read(blob)
  if (found === undefined) throw lost(blob)
  return asContent(found)
}
