import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import type { openDatabase } from '@causeway/store'
import { TrmError } from '../errors.ts'
import type { Contents } from './contents.ts'
import { createBlobHash } from './snapshot-entry.ts'

const [compress, decompress] = [promisify(deflate), promisify(inflate)]

/** A large file passes through memory in parts of this size. */
const partBytes = 2 ** 20

export type ContentDatabase = ReturnType<typeof openDatabase>

interface RowOptions {
  readonly db: ContentDatabase
  readonly now: () => number
  /** Minimum age of a content that `collect` deletes, in milliseconds. */
  readonly keepMs: number
}

/** Contents in rows of `trm.db`, for machines without git. A content is stored in parts under a temporary name first. */
export class RowContents implements Contents {
  readonly #options: RowOptions

  constructor(options: RowOptions) {
    this.#options = options
  }

  addFiles(files: readonly string[]): Promise<readonly string[]> {
    return Promise.all(files.map((file) => this.#addFile(file)))
  }

  addTexts(texts: readonly string[]): Promise<readonly string[]> {
    return Promise.all(texts.map((text) => this.#addText(text)))
  }

  async #addText(text: string): Promise<string> {
    const bytes = Buffer.from(text)
    const blob = createBlobHash(bytes.length).update(bytes).digest('hex')
    const name = randomUUID()
    for (let part = 0; part === 0 || part * partBytes < bytes.length; part++)
      await this.#addPart(name, part, bytes.subarray(part * partBytes, (part + 1) * partBytes))
    this.#rename(name, blob)
    return blob
  }

  async read(blob: string): Promise<Buffer | undefined> {
    const parts: Buffer[] = []
    for await (const part of this.#parts(blob)) parts.push(part)
    return parts.length === 0 ? undefined : Buffer.concat(parts)
  }

  async copyTo(blob: string, file: FileHandle): Promise<boolean> {
    let isFound = false
    for await (const part of this.#parts(blob)) {
      isFound = true
      // Unlike `write`, `writeFile` writes the whole part.
      await file.writeFile(part)
    }
    return isFound
  }

  async addList(id: string, list: string, blobs: readonly string[]): Promise<void> {
    this.#transact(() => {
      this.#run('INSERT INTO snapshot (id, list) VALUES (?, ?)', id, list)
      for (const blob of new Set(blobs))
        this.#run('INSERT INTO snapshot_content (blob, snapshot_id) VALUES (?, ?)', blob, id)
    })
  }

  async readList(id: string): Promise<string | undefined> {
    const { db } = this.#options
    return db.prepare<[string], { list: string }>('SELECT list FROM snapshot WHERE id = ?').get(id)?.list
  }

  async drop(ids: readonly string[]): Promise<void> {
    this.#transact(() => {
      for (const id of ids) {
        this.#run('DELETE FROM snapshot WHERE id = ?', id)
        this.#run('DELETE FROM snapshot_content WHERE snapshot_id = ?', id)
      }
    })
  }

  async collect(): Promise<void> {
    const { now, keepMs } = this.#options
    const sql = 'DELETE FROM content WHERE kept_ms <= ? AND blob NOT IN (SELECT blob FROM snapshot_content)'
    this.#run(sql, now() - keepMs)
  }

  /** Throws `TREE_BUSY` if the file changes while it is read. */
  async #addFile(path: string): Promise<string> {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const { size } = await file.stat()
      const hash = createBlobHash(size)
      const name = randomUUID()
      let [part, read] = [0, 0]
      do {
        const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(partBytes), 0, partBytes, read)
        const bytes = buffer.subarray(0, bytesRead)
        hash.update(bytes)
        await this.#addPart(name, part++, bytes)
        read += bytesRead
        if (bytesRead === 0) break
      } while (read < size)
      if (read !== size) throw new TrmError('TREE_BUSY', `the file changed while it was read: ${path}`)
      const blob = hash.digest('hex')
      this.#rename(name, blob)
      return blob
    } finally {
      await file.close()
    }
  }

  async #addPart(name: string, part: number, bytes: Buffer): Promise<void> {
    const { now } = this.#options
    const sql = 'INSERT INTO content (blob, part, bytes, kept_ms) VALUES (?, ?, ?, ?)'
    this.#run(sql, name, part, await compress(bytes), now())
  }

  /** Gives the parts their id, or deletes them if the content is already stored. */
  #rename(name: string, blob: string): void {
    const { now } = this.#options
    this.#transact(() => {
      const { changes } = this.#run('UPDATE content SET kept_ms = ? WHERE blob = ?', now(), blob)
      if (changes > 0) this.#run('DELETE FROM content WHERE blob = ?', name)
      else this.#run('UPDATE content SET blob = ? WHERE blob = ?', blob, name)
    })
  }

  async *#parts(blob: string): AsyncGenerator<Buffer> {
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
