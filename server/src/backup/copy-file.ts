import { createHash } from 'node:crypto'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'

interface FileDigest {
  readonly bytes: number
  readonly sha256: string
}

interface FileWatch {
  readonly signal?: AbortSignal | undefined
  /** Receives the bytes since its previous call. */
  readonly advance?: (bytes: number) => void
}

const chunkBytes = 2 ** 20

/** Copies and flushes a file that is not an open database. Mode 0600. */
export async function copyFile(from: string, to: string, watch: FileWatch = {}): Promise<FileDigest> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const target = await open(to, 'w', 0o600)
  try {
    const digest = await readChunks(from, watch, async (chunk) => {
      for (let done = 0; done < chunk.length; ) done += (await target.write(chunk, done)).bytesWritten
    })
    await target.sync()
    return digest
  } finally {
    await target.close()
  }
}

export async function hashFile(file: string, watch: FileWatch = {}): Promise<FileDigest> {
  const handle = await open(file, 'r+')
  await handle.sync()
  await handle.close()
  return readChunks(file, watch, async () => {})
}

async function readChunks(
  file: string,
  { signal, advance }: FileWatch,
  use: (chunk: Buffer) => Promise<void>,
): Promise<FileDigest> {
  const source = await open(file, 'r')
  try {
    const hash = createHash('sha256')
    const buffer = Buffer.allocUnsafe(chunkBytes)
    let bytes = 0
    for (;;) {
      signal?.throwIfAborted()
      const { bytesRead } = await source.read(buffer, 0, chunkBytes)
      if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') }
      const chunk = buffer.subarray(0, bytesRead)
      hash.update(chunk)
      await use(chunk)
      bytes += bytesRead
      advance?.(bytesRead)
    }
  } finally {
    await source.close()
  }
}
