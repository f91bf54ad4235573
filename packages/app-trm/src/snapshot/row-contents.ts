/** Contents in rows of the app's own data file, for machines without git. */
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { deflate, inflate } from 'node:zlib'
import { CausewayError } from '@causeway/protocol'
import type { Contents } from './contents.ts'
import { blobId } from './disk-entry.ts'
import type { SnapshotId } from './types.ts'

const [pack, unpack] = [promisify(deflate), promisify(inflate)]

/** Bytes of a part: a large file passes through memory in parts. */
const partBytes = 2 ** 20

/** The rows; every method is one transaction. */
export interface ContentRows {
  /** True where a content is kept whole; keeps it from being swept for the next hour. */
  renew(blob: string): Promise<boolean>
  addPart(name: string, part: number, bytes: Buffer): Promise<void>
  /** Gives parts that were kept under a passing name their id; drops them where the content is kept already. */
  name(passing: string, blob: string): Promise<void>
  /** One part, packed; undefined after the last. */
  part(blob: string, part: number): Promise<Buffer | undefined>
  keepList(id: SnapshotId, list: string, blobs: readonly string[]): Promise<void>
  list(id: SnapshotId): Promise<string | undefined>
  drop(ids: readonly SnapshotId[]): Promise<void>
  /** Removes contents that no list names and that were kept before this time, ms. */
  sweep(beforeMs: number): Promise<void>
}

/** Contents in rows. */
export function rowContents(
  rows: ContentRows,
  { keepMs, now }: { keepMs: number; now: () => number },
): Contents {
  async function keepBytes(bytes: Buffer): Promise<string> {
    const id = blobId(bytes.length).update(bytes).digest('hex')
    if (await rows.renew(id)) return id
    const passing = randomUUID()
    const count = Math.max(1, Math.ceil(bytes.length / partBytes))
    for (let part = 0; part < count; part++)
      await rows.addPart(passing, part, await pack(bytes.subarray(part * partBytes, (part + 1) * partBytes)))
    await rows.name(passing, id)
    return id
  }
  return {
    keepFiles: (files) => Promise.all(files.map((file) => keepFile(rows, file))),
    keepText: (text) => keepBytes(Buffer.from(text)),
    async read(blob) {
      const parts: Buffer[] = []
      for await (const part of partsOf(rows, blob)) parts.push(part)
      return parts.length === 0 ? undefined : Buffer.concat(parts)
    },
    async copyTo(blob, file) {
      let isThere = false
      for await (const part of partsOf(rows, blob)) {
        isThere = true
        // Unlike `write`, writes all of it.
        await file.writeFile(part)
      }
      return isThere
    },
    keepList: (id, list, blobs) => rows.keepList(id, list, [...new Set(blobs)]),
    list: rows.list,
    drop: rows.drop,
    collect: () => rows.sweep(now() - keepMs),
  }
}

async function* partsOf(rows: ContentRows, blob: string): AsyncGenerator<Buffer> {
  for (let part = 0; ; part++) {
    const packed = await rows.part(blob, part)
    if (packed === undefined) return
    yield await unpack(packed)
  }
}

/** Keeps one file part by part; throws `TREE_BUSY` where it changes meanwhile. */
async function keepFile(rows: ContentRows, path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { size } = await file.stat()
    const hash = blobId(size)
    const passing = randomUUID()
    let [part, read] = [0, 0]
    do {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(partBytes), 0, partBytes, read)
      const bytes = buffer.subarray(0, bytesRead)
      hash.update(bytes)
      await rows.addPart(passing, part++, await pack(bytes))
      read += bytesRead
      if (bytesRead === 0) break
    } while (read < size)
    if (read !== size) throw new CausewayError('TREE_BUSY', `the file changed while it was read: ${path}`)
    const id = hash.digest('hex')
    await rows.name(passing, id)
    return id
  } finally {
    await file.close()
  }
}
