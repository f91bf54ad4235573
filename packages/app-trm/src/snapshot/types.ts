/** Snapshots of a project's files, kept in a git repository of our own outside of the project. */
import type { Changes, FilesBefore } from '../domain/candidate/types.ts'

/** Names a snapshot; plain text that may be stored in a row. */
export type SnapshotId = string

/** What stands at a path; `other` is a folder or a device. */
export type EntryKind = 'file' | 'link' | 'absent' | 'other'

/** One path of a snapshot. */
export interface SnapshotEntry {
  readonly path: string
  readonly kind: EntryKind
  /** Id of the content in the shadow repository; empty where absent. */
  readonly blob: string
  /** Permission bits, 0o7777; 0 where absent. */
  readonly mode: number
  readonly bytes: number
}

/** What a restore did. */
export interface RestoreReport {
  /** Paths whose content or mode was changed, sorted. */
  readonly restored: readonly string[]
  readonly deleted: readonly string[]
}

/** How to restore. */
export interface RestoreOptions {
  /** Restores these paths of the snapshot only. */
  readonly paths?: readonly string[] | undefined
  /** What the session believes to be on disk; a path that differs from it is a conflict. */
  readonly expected?: SnapshotId | undefined
  /** Overwrites conflicting files. */
  readonly force?: boolean | undefined
}

/** How to copy a project. */
export interface CopyOptions {
  readonly signal?: AbortSignal | undefined
  /** Copies all that is there: the folder is a copy already, and rules may name what somebody keeps in spite of them. */
  readonly isWhole?: boolean | undefined
}

/**
 * Snapshots of projects, git or not. Nothing is ever written into the project but by `restore`, and by that only the
 * paths of the snapshot; the user's `.git` is never opened for writing.
 *
 * Undo of a step: `restore(before, { expected: after })`. Reset and return to a checkpoint: the same with
 * `combine` of the steps since, oldest first for what was before, newest first for what is expected.
 */
export interface Snapshots {
  /** Records the paths, present or absent, ignored or not. Throws `INVALID_PATH`, `SNAPSHOT_UNAVAILABLE`. */
  take(root: string, paths: readonly string[]): Promise<SnapshotId>
  /**
   * Lays every file that the project's ignore rules keep out in an empty or absent folder: a work copy. Throws
   * `SNAPSHOT_TOO_LARGE`, `SNAPSHOT_UNAVAILABLE`.
   */
  copy(root: string, folder: string, options?: CopyOptions): Promise<void>
  /**
   * Writes the files back as they were, and removes those that were absent. Throws `USER_EDIT_CONFLICT` with
   * `data.conflicts`, and has touched nothing then.
   */
  restore(id: SnapshotId, options?: RestoreOptions): Promise<RestoreReport>
  /** Paths of the snapshot whose content on disk is no longer that of the snapshot, sorted. */
  conflicts(id: SnapshotId): Promise<readonly string[]>
  /**
   * For each path the entry of the first of these snapshots that has it, as a snapshot of its own: for this process, and
   * for as long as those that it is made of.
   */
  combine(ids: readonly SnapshotId[]): Promise<SnapshotId>
  /** The paths of a snapshot, sorted. */
  entries(id: SnapshotId): Promise<readonly SnapshotEntry[]>
  /** What stood at the paths then; throws `FILE_TOO_LARGE`. A path that the snapshot does not have is left out. */
  read(id: SnapshotId, paths: readonly string[]): Promise<FilesBefore>
  /** Forgets snapshots; unknown ids are passed over. The space is given back by `collect`. */
  drop(...ids: readonly SnapshotId[]): Promise<void>
  /** Gives the space of dropped snapshots back. */
  collect(): Promise<void>
  /** The lists of snapshots that are kept in memory, bytes about; those that can be read again are given back. */
  readonly memory: { bytes(): number; shrink(bytes: number): number }
}

/** Reads and writes a project below its real root. No link is followed, `.git` is never entered. */
export interface ProjectFiles {
  /** Reads files for a candidate; throws `INVALID_PATH`, `FILE_TOO_LARGE`. */
  read(paths: readonly string[]): Promise<FilesBefore>
  /**
   * Writes all changes or none: every file is staged beside its place first, then renamed into it; mode bits stay. A
   * failure puts back what was replaced. `before` is what the changes were computed from: a file that differs from
   * it now is `STALE_FILE`. `moved` gives the path before of renamed files.
   */
  write(changes: Changes, options: WriteOptions): Promise<void>
  /** Removes what a crash in the middle of `write` or of a restore left beside these paths. */
  sweep(paths: readonly string[]): Promise<void>
}

/** How to write changes. */
export interface WriteOptions {
  readonly before: FilesBefore
  /** new path -> path before */
  readonly moved?: ReadonlyMap<string, string> | undefined
  /** Paths whose x bit is set or cleared. */
  readonly executable?: ReadonlyMap<string, boolean> | undefined
}
