/** Where the contents and the lists of snapshots are kept: in a repository of git, or in rows where there is no git. */
import type { FileHandle } from 'node:fs/promises'
import type { SnapshotId } from './types.ts'

/** Contents go by the ids that git gives blobs, wherever they are kept. */
export interface Contents {
  /** Keeps files; gives their ids in the same order. */
  keepFiles(files: readonly string[]): Promise<readonly string[]>
  keepText(text: string): Promise<string>
  /** The bytes of an id; undefined where they are not kept here. */
  read(blob: string): Promise<Buffer | undefined>
  /** Writes the bytes of an id into an open file; false where they are not kept here. */
  copyTo(blob: string, file: FileHandle): Promise<boolean>
  /** Keeps a list together with the contents that it names, which are kept already. */
  keepList(id: SnapshotId, list: string, blobs: readonly string[]): Promise<void>
  list(id: SnapshotId): Promise<string | undefined>
  /** Forgets lists; unknown ids are passed over. */
  drop(ids: readonly SnapshotId[]): Promise<void>
  /** Gives the space of what no list names back. */
  collect(): Promise<void>
}
