import type { FileHandle } from 'node:fs/promises'
import { CausewayError } from '@causeway/protocol'
import type { CallOptions } from '@causeway/worker'
import { RecordingError } from '../errors.ts'
import { openForeign } from './file-state.ts'

/** Size of a chunk, that of a network read. */
const partBytes = 64 * 1024

export const isFrameFile = (path: string): boolean => /\.(jsonl|ndjson|mcap)$/i.test(path)

/** Throws `RECORDING_NOT_FOUND`, `NOT_A_RECORDING` and `CANCELLED`. */
export async function withFrameFile<Result>(
  path: string,
  call: CallOptions,
  work: (body: AsyncIterable<Uint8Array>, size: number) => Promise<Result>,
): Promise<Result> {
  const file = await openForeign(path)
  if (file === null)
    throw new RecordingError('RECORDING_NOT_FOUND', `file not found: ${path}`, { data: { path } })
  try {
    const stats = await file.stat()
    if (!stats.isFile())
      throw new RecordingError('NOT_A_RECORDING', `the path is not a regular file: ${path}`, {
        remedy: 'give a file of frame lines or an MCAP file',
        data: { path },
      })
    return await work(readChunks(file, { path, size: stats.size, ...call }), stats.size)
  } finally {
    await file.close()
  }
}

interface FrameFile extends CallOptions {
  readonly path: string
  readonly size: number
}

async function* readChunks(
  file: FileHandle,
  { path, size, signal, progress }: FrameFile,
): AsyncGenerator<Uint8Array> {
  for (let done = 0; ; ) {
    if (signal?.aborted) throw new CausewayError('CANCELLED', 'the call was cancelled')
    const buffer = new Uint8Array(partBytes)
    const bytesRead = await readChunk(file, buffer, path)
    if (bytesRead === 0) return
    done += bytesRead
    progress?.(done, Math.max(size, done))
    yield bytesRead < partBytes ? buffer.slice(0, bytesRead) : buffer
  }
}

async function readChunk(file: FileHandle, buffer: Uint8Array, path: string): Promise<number> {
  try {
    return (await file.read(buffer)).bytesRead
  } catch (cause) {
    throw new RecordingError('RECORDING_NOT_FOUND', `the file cannot be read: ${path}`, {
      data: { path },
      remedy: 'copy it to a disk that can be read',
      cause,
    })
  }
}
