import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FileContent, OriginalFiles } from '../domain/candidate/types.ts'
import { TrmError } from '../errors.ts'
import { type FileLocation, locate, resolveRoot } from '../workspace/file-location.ts'
import { forEachConcurrently } from '../workspace/for-each.ts'
import { createTooLargeError, decodeContent, maxFileBytes } from '../workspace/project-files.ts'
import { copyTree, listAll, listTree, type TreeFile, type TreeLimits } from '../workspace/tree-list.ts'
import { findWorkspaceId, getWorkspaceFolder } from '../workspace/workspace-folder.ts'
import { type ContentDatabase, Contents } from './contents.ts'
import { GitArchive } from './git-archive.ts'
import { type RestoreReport, readBlob, restore } from './restore.ts'
import {
  createAbsentEntry,
  createManifest,
  isSameEntry,
  type Manifest,
  readEntry,
  type SnapshotEntry,
} from './snapshot-entry.ts'

export interface SnapshotsOptions {
  /** Folder of Trm's data. */
  readonly dir: string
  readonly db: ContentDatabase
  readonly limits?: TreeLimits | undefined
  /** Minimum age of unused contents before `collect` deletes them, in milliseconds. */
  readonly keepMs?: number | undefined
  readonly now?: (() => number) | undefined
}

interface RestoreRequest {
  readonly expected?: Snapshot
  readonly paths?: readonly string[]
  readonly force?: boolean
}

/** The id of a stored snapshot, or a combination of snapshots. */
export type Snapshot = string | Manifest

const defaultLimits: TreeLimits = { files: 20_000, bytes: 2 ** 30 }

/**
 * Snapshots of project files, stored outside the project. Only `restore` writes to the project.
 *
 * To undo several steps, `combine` their snapshots: oldest first for the target, newest first for `expected`.
 */
export class Snapshots {
  readonly #options: SnapshotsOptions
  readonly #contents: Contents

  constructor(options: SnapshotsOptions) {
    const { dir, db, keepMs = 3_600_000, now = Date.now } = options
    this.#options = options
    const archive = new GitArchive(join(dir, 'shadow.git'))
    this.#contents = new Contents({ db, archive, now, keepMs })
  }

  /** Records present and absent files. Throws `INVALID_PATH`. */
  async take(folder: string, paths: readonly string[]): Promise<string> {
    const root = await resolveRoot(folder)
    return this.#storeManifest(createManifest(root, await this.#recordEntries(root, paths)))
  }

  /**
   * Copies a project to an empty or absent folder. With `includeIgnored`, also copies ignored files, for a folder that is
   * already a copy. Throws `SNAPSHOT_TOO_LARGE`.
   */
  async copy(
    folder: string,
    target: string,
    {
      signal,
      includeIgnored = false,
    }: { readonly signal?: AbortSignal; readonly includeIgnored?: boolean } = {},
  ): Promise<void> {
    const root = await resolveRoot(folder)
    const files = await (includeIgnored ? listAll(root) : this.#listFiles(root))
    await copyTree(files, target, signal)
  }

  /** Throws `SNAPSHOT_TOO_LARGE`. */
  async takeAll(folder: string): Promise<string> {
    const root = await resolveRoot(folder)
    const files = await this.#listFiles(root)
    return this.take(
      root,
      files.map(({ path }) => path),
    )
  }

  /** Stores a snapshot of some paths of another snapshot. Paths missing there become absent. */
  async select(snapshot: Snapshot, paths: readonly string[]): Promise<string> {
    return this.#storeManifest(selectEntries(await this.#readManifest(snapshot), paths))
  }

  /** Returns the sorted project files that differ from a complete snapshot. Throws `SNAPSHOT_TOO_LARGE`. */
  async compare(folder: string, snapshot: Snapshot): Promise<readonly string[]> {
    const root = await resolveRoot(folder)
    const knownEntries = new Map((await this.entries(snapshot)).map((entry) => [entry.path, entry]))
    const listedPaths = (await this.#listFiles(root)).map(({ path }) => path)
    const changedPaths: string[] = []
    await forEachConcurrently(new Set([...listedPaths, ...knownEntries.keys()]), async (path) => {
      const { absolutePath, stats } = await locate(root, path)
      const entry = await readEntry(path, absolutePath, stats)
      if (!isSameEntry(knownEntries.get(path) ?? createAbsentEntry(path), entry)) changedPaths.push(path)
    })
    return changedPaths.sort()
  }

  /**
   * Restores `paths` in a folder, by default all paths of the snapshot. Deletes `paths` that the snapshot does not
   * contain. Returns the changed paths. Throws `USER_EDIT_CONFLICT`.
   */
  async restoreTo(
    folder: string,
    snapshot: Snapshot,
    { paths, ...options }: RestoreRequest = {},
  ): Promise<readonly string[]> {
    const manifest = await this.#readManifest(snapshot)
    const selected = paths === undefined ? manifest : selectEntries(manifest, paths)
    const target = { ...selected, root: await resolveRoot(folder) }
    const { restored, deleted } = await this.restore(target, options)
    return [...restored, ...deleted].sort()
  }

  /**
   * Restores the paths of a snapshot and deletes those that were absent. If files differ from `expected`, throws
   * `USER_EDIT_CONFLICT` with `data.conflicts` and changes no file.
   */
  async restore(snapshot: Snapshot, { expected, ...options }: RestoreRequest = {}): Promise<RestoreReport> {
    const manifest = expected === undefined ? undefined : await this.#readManifest(expected)
    return restore(this.#contents, await this.#readManifest(snapshot), { ...options, expected: manifest })
  }

  /** Returns the sorted paths whose content or mode on disk differs from the snapshot. */
  async findChanged(snapshot: Snapshot): Promise<readonly string[]> {
    const { root, entries } = await this.#readManifest(snapshot)
    const changedPaths: string[] = []
    for (const entry of entries) {
      const { absolutePath, stats } = await locate(root, entry.path)
      if (!isSameEntry(entry, await readEntry(entry.path, absolutePath, stats))) changedPaths.push(entry.path)
    }
    return changedPaths
  }

  /** Combines snapshots. For each path, the first entry counts. Throws `SNAPSHOT_NOT_FOUND`. */
  async combine(ids: readonly string[]): Promise<Manifest> {
    const manifests = await Promise.all(ids.map((id) => this.#readManifest(id)))
    const root = manifests[0]?.root
    if (root === undefined || manifests.some((manifest) => manifest.root !== root))
      throw new TrmError('SNAPSHOT_NOT_FOUND', 'the snapshots do not exist or belong to different projects')
    const entries = new Map<string, SnapshotEntry>()
    for (const entry of manifests.flatMap((manifest) => manifest.entries))
      if (!entries.has(entry.path)) entries.set(entry.path, entry)
    return createManifest(root, [...entries.values()])
  }

  async entries(snapshot: Snapshot): Promise<readonly SnapshotEntry[]> {
    return (await this.#readManifest(snapshot)).entries
  }

  /** Omits paths that the snapshot does not contain. Throws `FILE_TOO_LARGE`. */
  async read(snapshot: Snapshot, paths: readonly string[]): Promise<OriginalFiles> {
    const entries = new Map((await this.entries(snapshot)).map((entry) => [entry.path, entry]))
    const files = new Map<string, FileContent | undefined>()
    for (const path of paths) {
      const entry = entries.get(path)
      if (entry === undefined) continue
      if (entry.kind === 'file' && entry.bytes > maxFileBytes) throw createTooLargeError(path, entry.bytes)
      const isFile = entry.kind === 'file'
      files.set(path, isFile ? decodeContent(await readBlob(this.#contents, entry.blob)) : undefined)
    }
    return files
  }

  /** Ignores unknown ids. `collect` releases the space later. */
  drop(...ids: readonly string[]): void {
    this.#contents.drop(ids)
  }

  collect(): void {
    this.#contents.collect()
  }

  /** Throws `SNAPSHOT_UNAVAILABLE` or the signal's reason. */
  importArchive(signal: AbortSignal): Promise<void> {
    return this.#contents.importArchive(signal)
  }

  #listFiles(root: string): Promise<readonly TreeFile[]> {
    return listTree(root, this.#options.limits ?? defaultLimits)
  }

  #storeManifest(manifest: Manifest): string {
    const id = randomUUID()
    const blobs = manifest.entries.map(({ blob }) => blob).filter((blob) => blob !== '')
    this.#contents.addList(id, JSON.stringify(manifest), blobs)
    return id
  }

  /** Throws `SNAPSHOT_NOT_FOUND`. */
  async #readManifest(snapshot: Snapshot): Promise<Manifest> {
    if (typeof snapshot !== 'string') return snapshot
    const isId = /^[A-Za-z0-9][A-Za-z0-9-]{0,99}$/.test(snapshot)
    const list = isId ? await this.#contents.readList(snapshot) : undefined
    if (list !== undefined) return this.#relocate(JSON.parse(list))
    throw new TrmError('SNAPSHOT_NOT_FOUND', `no snapshot has the id ${snapshot.slice(0, 100)}`)
  }

  /**
   * Changes the root of a workspace's snapshot to the workspace in this data folder, which may have been moved or
   * copied.
   */
  async #relocate(manifest: Manifest): Promise<Manifest> {
    const sid = findWorkspaceId(manifest.root)
    const folder = sid === undefined ? undefined : getWorkspaceFolder(dirname(this.#options.dir), sid)
    return folder !== undefined && existsSync(folder)
      ? { ...manifest, root: await resolveRoot(folder) }
      : manifest
  }

  async #recordEntries(root: string, paths: readonly string[]): Promise<readonly SnapshotEntry[]> {
    const locations = await Promise.all([...new Set(paths)].map((path) => locate(root, path)))
    const files = locations.filter(({ stats }) => stats?.isFile())
    const blobs = await this.#contents.addFiles(files.map(({ absolutePath }) => absolutePath))
    const blobByLocation = new Map(files.map((location, index) => [location, blobs[index] ?? '']))
    const links = locations.filter(({ stats }) => stats?.isSymbolicLink())
    for (const { absolutePath } of links) await this.#contents.addText(await readlink(absolutePath))
    return Promise.all(
      locations.map(async (location: FileLocation): Promise<SnapshotEntry> => {
        const { path, absolutePath, stats } = location
        const blob = blobByLocation.get(location)
        if (blob !== undefined && stats)
          return { path, kind: 'file', blob, mode: stats.mode & 0o7777, bytes: stats.size }
        return readEntry(path, absolutePath, stats)
      }),
    )
  }
}

function selectEntries({ root, entries }: Manifest, paths: readonly string[]): Manifest {
  const knownEntries = new Map(entries.map((entry) => [entry.path, entry]))
  return createManifest(
    root,
    [...new Set(paths)].map((path) => knownEntries.get(path) ?? createAbsentEntry(path)),
  )
}
