import type { FileHandle } from 'node:fs/promises'
import { TrmError } from '../errors.ts'

/** Stores the contents and lists of snapshots. Contents have the ids of git blobs. */
export interface Contents {
  /** Stores files and returns their ids in the same order. */
  addFiles(files: readonly string[]): Promise<readonly string[]>
  /** Stores texts and returns their ids in the same order. */
  addTexts(texts: readonly string[]): Promise<readonly string[]>
  /** Returns `undefined` for an unknown id. */
  read(blob: string): Promise<Buffer | undefined>
  /** Writes a content to an open file. Returns false for an unknown id. */
  copyTo(blob: string, file: FileHandle): Promise<boolean>
  /** Stores a list together with references to its contents, which are already stored. */
  addList(id: string, list: string, blobs: readonly string[]): Promise<void>
  readList(id: string): Promise<string | undefined>
  /** Removes lists; ignores unknown ids. */
  drop(ids: readonly string[]): Promise<void>
  /** Deletes contents that no list references. */
  collect(): Promise<void>
}

interface Parts {
  readonly git: Contents
  readonly rows: Contents
  hasGit(): Promise<boolean>
  /** Whether the git repository exists. */
  hasRepository(): boolean
}

/** Stores with git if it is installed, else in rows, and reads from both. */
export class FallbackContents implements Contents {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async addFiles(files: readonly string[]): Promise<readonly string[]> {
    return (await this.#target()).addFiles(files)
  }

  async addTexts(texts: readonly string[]): Promise<readonly string[]> {
    return (await this.#target()).addTexts(texts)
  }

  async addList(id: string, list: string, blobs: readonly string[]): Promise<void> {
    return (await this.#target()).addList(id, list, blobs)
  }

  async read(blob: string): Promise<Buffer | undefined> {
    return (await this.#parts.rows.read(blob)) ?? (await this.#git())?.read(blob)
  }

  async copyTo(blob: string, file: FileHandle): Promise<boolean> {
    return (
      (await this.#parts.rows.copyTo(blob, file)) || (await (await this.#git())?.copyTo(blob, file)) === true
    )
  }

  async readList(id: string): Promise<string | undefined> {
    return (await this.#parts.rows.readList(id)) ?? (await this.#git())?.readList(id)
  }

  async drop(ids: readonly string[]): Promise<void> {
    const { git, rows, hasGit, hasRepository } = this.#parts
    await rows.drop(ids)
    if (hasRepository() && (await hasGit())) await git.drop(ids)
  }

  async collect(): Promise<void> {
    const { git, rows, hasGit, hasRepository } = this.#parts
    await rows.collect()
    if (hasRepository() && (await hasGit())) await git.collect()
  }

  async #target(): Promise<Contents> {
    const { git, rows, hasGit } = this.#parts
    return (await hasGit()) ? git : rows
  }

  /** Throws `SNAPSHOT_UNAVAILABLE` if the repository exists and git is not installed. */
  async #git(): Promise<Contents | undefined> {
    const { git, hasGit, hasRepository } = this.#parts
    if (!hasRepository()) return undefined
    if (await hasGit()) return git
    throw new TrmError(
      'SNAPSHOT_UNAVAILABLE',
      'the snapshot is stored with git, and git was not found in PATH',
    )
  }
}
