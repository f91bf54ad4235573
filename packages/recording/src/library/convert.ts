import { open, stat } from 'node:fs/promises'
import { isCausewayError, reviseError } from '@causeway/protocol'
import type { Call } from '@causeway/worker'
import { RecordingError } from '../errors.ts'
import { createSource } from '../formats/create-source.ts'
import type { FrameSource } from '../formats/frame-source.ts'
import { openRunWriter, type RunWriter } from '../recorder/run-writer.ts'

const chunkBytes = 1024 * 1024

/** Converts a frame file to a run. Progress is in bytes. Throws `NOT_A_RECORDING` for a file without frames. */
export async function convertFrameFile(source: string, target: string, call: Call): Promise<void> {
  const { size } = await stat(source)
  const writer = openRunWriter(target, Date.now(), { expectedBytes: size })
  try {
    const isTruncated = await readFrames(source, writer, { ...call, size })
    if (writer.flush(Date.now()).total_frames === 0)
      throw new RecordingError('NOT_A_RECORDING', `the file has no frames: ${source}`, {
        remedy: 'record at least one frame',
        data: { path: source },
      })
    writer.setStatus(isTruncated ? 'interrupted' : 'finished', Date.now())
  } finally {
    writer.close()
  }
}

/** Returns whether the file is incomplete. */
async function readFrames(
  path: string,
  writer: RunWriter,
  { signal, progress, size }: Call & { readonly size: number },
): Promise<boolean> {
  const file = await open(path, 'r')
  let source: FrameSource | undefined
  try {
    const buffer = Buffer.allocUnsafe(chunkBytes)
    for (let done = 0; ; ) {
      signal.throwIfAborted()
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) break
      const bytes = buffer.subarray(0, bytesRead)
      source ??= await createSource(bytes, writer.context)
      for (const line of source.push(bytes)) writer.add(line, Date.now())
      done += bytesRead
      progress(done, Math.max(size, done), 'converting')
    }
    for (const line of source?.end() ?? []) writer.add(line, Date.now())
    return source?.isTruncated ?? false
  } catch (error) {
    throw source === undefined ? error : addPosition(error, source)
  } finally {
    await file.close()
  }
}

function addPosition(error: unknown, { unit, count }: FrameSource): unknown {
  if (!isCausewayError(error)) return error
  return reviseError(error, {
    message: `${unit} ${count}: ${error.message}`,
    data: { ...error.data, line: count },
    ...(RecordingError.is(error, 'INVALID_FRAME')
      ? { remedy: 'correct the line or message named in data.line, and load the file again' }
      : {}),
  })
}
