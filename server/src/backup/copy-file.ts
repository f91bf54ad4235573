/** Copying a plain file with its hash, safely onto the disk. */
import { createHash, type Hash } from 'node:crypto'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'

/** What was written. */
export interface Written {
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

/** How a copy is watched and stopped. */
export interface Watch {
  readonly signal?: AbortSignal | undefined
  /** Bytes more that are done. */
  readonly advance?: (bytes: number) => void
}

const chunkBytes = 2 ** 20

/** Copies a file that no database has open, readable by its user alone; throws as `fs` does, and what aborts the signal. */
export async function copyFile(from: string, to: string, watch: Watch = {}): Promise<Written> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const target = await open(to, 'w', 0o600)
  try {
    const written = await pass(from, watch, (chunk) => writeWhole(target, chunk))
    await target.sync()
    return written
  } finally {
    await target.close()
  }
}

/** Size and hash of a file that no database has open, and writes its bytes through to the disk. */
export async function hashFile(file: string, watch: Watch = {}): Promise<Written> {
  const handle = await open(file, 'r+')
  await handle.sync()
  await handle.close()
  return pass(file, watch, async () => {})
}

/** Writes the entries of a folder through to the disk. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows has no way to flush a folder.
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  await handle.sync().finally(() => handle.close())
}

async function pass(
  file: string,
  { signal, advance }: Watch,
  take: (chunk: Buffer) => Promise<void>,
): Promise<Written> {
  const source = await open(file, 'r')
  try {
    const hash: Hash = createHash('sha256')
    const buffer = Buffer.allocUnsafe(chunkBytes)
    let bytes = 0
    for (;;) {
      signal?.throwIfAborted()
      const { bytesRead } = await source.read(buffer, 0, chunkBytes)
      if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') }
      const chunk = buffer.subarray(0, bytesRead)
      hash.update(chunk)
      await take(chunk)
      bytes += bytesRead
      advance?.(bytesRead)
    }
  } finally {
    await source.close()
  }
}

async function writeWhole(target: FileHandle, chunk: Buffer): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    const { bytesWritten } = await target.write(chunk, done)
    done += bytesWritten
  }
}
