/** Reading a file of frame lines that somebody else wrote. */
import type { FileHandle } from 'node:fs/promises'
import { CausewayError } from '@causeway/protocol'
import type { CallOptions } from '@causeway/worker'
import { openForeign } from './file-state.ts'

/** Bytes of a part: what a connection gives at once. */
const partBytes = 64 * 1024

/** True for the name of a file of frame lines. */
export const isLineFile = (path: string): boolean => /\.(jsonl|ndjson)$/i.test(path)

/**
 * Gives the bytes of a file to `work`, and closes it whatever becomes of that. They are read only when they are asked
 * for, so nothing fails while nobody listens. Throws `RECORDING_NOT_FOUND` where the file is gone or cannot be read,
 * `NOT_A_RECORDING` where it is a folder, a pipe or a device, and `CANCELLED` on abort.
 */
export async function withLineFile<Result>(
  path: string,
  call: CallOptions,
  work: (body: AsyncIterable<Uint8Array>) => Promise<Result>,
): Promise<Result> {
  const file = await openForeign(path)
  if (file === null)
    throw new CausewayError('RECORDING_NOT_FOUND', `there is no file ${path}`, { data: { path } })
  try {
    const stats = await file.stat()
    if (!stats.isFile())
      throw new CausewayError('NOT_A_RECORDING', `the path is no regular file: ${path}`, {
        remedy: 'give a file of frame lines',
        data: { path },
      })
    return await work(partsOf(file, { path, size: stats.size, ...call }))
  } finally {
    await file.close()
  }
}

interface LineFile extends CallOptions {
  readonly path: string
  /** bytes when it was opened */
  readonly size: number
}

/** The parts of a file, each in memory of its own, which may be moved to a worker. */
async function* partsOf(
  file: FileHandle,
  { path, size, signal, progress }: LineFile,
): AsyncGenerator<Uint8Array> {
  for (let done = 0; ; ) {
    if (signal?.aborted) throw new CausewayError('CANCELLED', 'the call was cancelled')
    const part = new Uint8Array(partBytes)
    const bytesRead = await readPart(file, part, path)
    if (bytesRead === 0) return
    done += bytesRead
    progress?.(done, Math.max(size, done))
    yield bytesRead < partBytes ? part.slice(0, bytesRead) : part
  }
}

async function readPart(file: FileHandle, part: Uint8Array, path: string): Promise<number> {
  try {
    return (await file.read(part)).bytesRead
  } catch (cause) {
    throw new CausewayError('RECORDING_NOT_FOUND', `the file cannot be read: ${path}`, {
      data: { path },
      remedy: 'copy it to a disk that can be read',
      cause,
    })
  }
}
