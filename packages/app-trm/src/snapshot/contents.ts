import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import type { openDatabase } from '@causeway/store'
import { TrmError } from '../errors.ts'
import { forEachConcurrently } from '../workspace/for-each.ts'
import type { GitArchive } from './git-archive.ts'
import { createBlobHash, hashFile } from './snapshot-entry.ts'

const [compress, decompress] = [promisify(deflate), promisify(inflate)]

const partBytes = 2 ** 20

export type ContentDatabase = ReturnType<typeof openDatabase>

interface ContentOptions {
  readonly db: ContentDatabase
  readonly archive: GitArchive
  readonly now: () => number
  readonly keepMs: number
}

/**
 * File contents and lists of snapshots in `trm.db`. The content of each file is stored in compressed parts of 1 MiB,
 * with the id of its git blob.
 */
export class Contents {
  readonly #options: ContentOptions

  constructor(options: ContentOptions) {
    this.#options = options
  }

  /** Stores files and returns their ids in order. Throws `TREE_BUSY` if a file changes while it is being read. */
  async addFiles(files: readonly string[]): Promise<readonly string[]> {
    const ids: string[] = []
    await forEachConcurrently(files.entries(), async ([index, file]) => {
      ids[index] = await this.#addFile(file)
    })
    return ids
  }

  async addText(text: string): Promise<void> {
    const bytes = Buffer.from(text)
    const blob = createBlobHash(bytes.length).update(bytes).digest('hex')
    if (!this.#renew(blob)) await this.#addPart(blob, 0, bytes)
  }

  /** Returns `undefined` for an unknown id. */
  async read(blob: string): Promise<Buffer | undefined> {
    const parts: Buffer[] = []
    for await (const part of this.#readParts(blob)) parts.push(part)
    return parts.length === 0 ? this.#options.archive.read(blob) : Buffer.concat(parts)
  }

  /** Returns `false` for an unknown id. */
  async copyTo(blob: string, file: FileHandle): Promise<boolean> {
    let isFound = false
    for await (const part of this.#readParts(blob)) {
      isFound = true
      // Unlike `write`, `writeFile` writes the whole part.
      await file.writeFile(part)
    }
    return isFound || this.#options.archive.copyTo(blob, file)
  }

  /** Stores a list with references to contents, which must already be stored. */
  addList(id: string, list: string, blobs: readonly string[]): void {
    this.#transact(() => {
      this.#run('INSERT INTO snapshot (id, list) VALUES (?, ?)', id, list)
      for (const blob of new Set(blobs))
        this.#run('INSERT INTO snapshot_content (blob, snapshot_id) VALUES (?, ?)', blob, id)
    })
  }

  async readList(id: string): Promise<string | undefined> {
    return this.#findList(id) ?? this.#options.archive.readList(id)
  }

  drop(ids: readonly string[]): void {
    this.#transact(() => {
      for (const id of ids) {
        this.#run('DELETE FROM snapshot WHERE id = ?', id)
        this.#run('DELETE FROM snapshot_content WHERE snapshot_id = ?', id)
      }
    })
  }

  /** Deletes contents that no list references. */
  collect(): void {
    const { now, keepMs } = this.#options
    const sql = 'DELETE FROM content WHERE kept_ms <= ? AND blob NOT IN (SELECT blob FROM snapshot_content)'
    this.#run(sql, now() - keepMs)
  }

  /** Moves an earlier version's snapshots into rows and removes the repository. Throws if a snapshot is incomplete. */
  async importArchive(signal: AbortSignal): Promise<void> {
    const { archive } = this.#options
    const ids = archive.exists ? await archive.listIds() : []
    for (const id of ids.filter((archivedId) => this.#findList(archivedId) === undefined)) {
      const list = await archive.readList(id)
      if (list === undefined) throw new Error(`the list of a snapshot is missing: ${id}`)
      const { entries } = JSON.parse(list) as { readonly entries: readonly { readonly blob: string }[] }
      const blobs = [...new Set(entries.map(({ blob }) => blob))].filter((blob) => blob !== '')
      for (const blob of blobs) {
        signal.throwIfAborted()
        if (this.#renew(blob)) continue
        const storedBlob = await archive.withFile(blob, (path) => this.#addFile(path))
        if (storedBlob !== blob) throw new Error(`the content of a snapshot is missing: ${blob}`)
      }
      this.addList(id, list, blobs)
    }
    await archive.remove()
  }

  #findList(id: string): string | undefined {
    const { db } = this.#options
    return db.prepare<[string], string>('SELECT list FROM snapshot WHERE id = ?').pluck().get(id)
  }

  async #addFile(path: string): Promise<string> {
    const { blob, bytes } = await hashFile(path)
    if (this.#renew(blob)) return blob
    const hash = createBlobHash(bytes)
    // The parts get the id of the content when all of them are stored.
    const temporaryId = randomUUID()
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      for (let part = 0; part === 0 || part * partBytes < bytes; part++) {
        const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(partBytes), 0, partBytes, null)
        hash.update(buffer.subarray(0, bytesRead))
        await this.#addPart(temporaryId, part, buffer.subarray(0, bytesRead))
      }
    } finally {
      await file.close()
    }
    if (hash.digest('hex') !== blob)
      throw new TrmError('TREE_BUSY', `the file changed while it was read: ${path}`)
    this.#transact(() => {
      if (this.#renew(blob)) this.#run('DELETE FROM content WHERE blob = ?', temporaryId)
      else this.#run('UPDATE content SET blob = ? WHERE blob = ?', blob, temporaryId)
    })
    return blob
  }

  /** Protects a content from `collect` until its list is stored. Returns `false` for an unknown id. */
  #renew(blob: string): boolean {
    const { now } = this.#options
    return this.#run('UPDATE content SET kept_ms = ? WHERE blob = ?', now(), blob).changes > 0
  }

  async #addPart(id: string, part: number, bytes: Buffer): Promise<void> {
    const { now } = this.#options
    const compressed = await compress(bytes, { level: 1 })
    const sql = 'INSERT OR IGNORE INTO content (blob, part, bytes, kept_ms) VALUES (?, ?, ?, ?)'
    this.#run(sql, id, part, compressed, now())
  }

  async *#readParts(blob: string): AsyncGenerator<Buffer> {
    const { db } = this.#options
    const select = db.prepare<[string, number], { bytes: Buffer }>(
      'SELECT bytes FROM content WHERE blob = ? AND part = ?',
    )
    for (let part = 0; ; part++) {
      const row = select.get(blob, part)
      if (row === undefined) return
      yield await decompress(row.bytes)
    }
  }

  #run(sql: string, ...values: unknown[]) {
    return this.#options.db.prepare<unknown[]>(sql).run(...values)
  }

  #transact(work: () => void): void {
    this.#options.db.transaction(work).immediate()
  }
}
