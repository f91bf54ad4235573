import { createHash, type Hash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'

interface FileDigest {
  readonly bytes: number
  readonly sha256: string
}

interface CopyFileOptions {
  readonly signal?: AbortSignal | undefined
  /** Receives the number of bytes read since its previous call. */
  readonly advance?: (bytes: number) => void
}

const chunkBytes = 2 ** 20

/** Copies a file that is not an open database. Flushes the copy, whose mode is 0600. */
export async function copyFile(from: string, to: string, options: CopyFileOptions = {}): Promise<FileDigest> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const hash = createHash('sha256')
  const target = createWriteStream(to, { mode: 0o600, flush: true })
  await pipeline(readChunks(from, hash, options), target)
  return { bytes: target.bytesWritten, sha256: hash.digest('hex') }
}

export async function hashFile(file: string, options: CopyFileOptions = {}): Promise<FileDigest> {
  const handle = await open(file, 'r+')
  await handle.sync()
  const { size: bytes } = await handle.stat()
  await handle.close()
  const hash = createHash('sha256')
  for await (const _ of readChunks(file, hash, options));
  return { bytes, sha256: hash.digest('hex') }
}

async function* readChunks(
  file: string,
  hash: Hash,
  { signal, advance }: CopyFileOptions,
): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(file, { highWaterMark: chunkBytes, signal })) {
    hash.update(chunk)
    yield chunk
    advance?.(chunk.length)
  }
}
