import { findRefusal, headBytes, maxLineBytes } from '../domain/upload.ts'
import { type Server, ServerError } from './server.ts'

/** Size of the parts of a file that are sent, in bytes. */
const sliceBytes = 4 * 1024 ** 2

const lineFeed = 10

/** The state of a recording that the server has recorded. */
interface RunState {
  readonly recording: string
  readonly total_frames: number
}

interface UploadOptions {
  readonly name: string
  /** Folders that the server searches. */
  readonly folders: readonly string[]
  /** The slice that is being sent is completed before the upload ends. */
  readonly signal: AbortSignal
  readonly onProgress: (sentBytes: number) => void
}

/**
 * Creates a recording from a file of JSON lines. Removes the recording if the upload fails or is cancelled. Throws `ServerError`, and the
 * reason of the signal.
 */
export async function uploadRecording(
  server: Server,
  file: Blob,
  { name, folders, signal, onProgress }: UploadOptions,
): Promise<RunState> {
  const path = `/api/apps/replay/recordings/${encodeURIComponent(name)}`
  const refusal = findRefusal(new Uint8Array(await readBytes(file, 0, headBytes)), folders)
  if (refusal !== undefined) throw new ServerError(refusal)
  let sent = 0
  try {
    for await (const slice of readSlices(file)) {
      await server.send(`${path}/frames`, {
        body: slice,
        headers: {
          'content-type': 'application/x-ndjson',
          ...(sent === 0 && { 'if-none-match': '*' }),
        },
      })
      sent += slice.size
      onProgress(sent)
      signal.throwIfAborted()
    }
    return await server.send<RunState>(`${path}/finish`)
  } catch (error) {
    const line = findLine(error)
    // An invalid line in the first slice leaves the recording that the slice created.
    if (sent > 0 || line !== undefined) await server.delete(path).catch(() => {})
    if (line === undefined || !(error instanceof ServerError)) throw error
    const { code, message, remedy, data } = error
    const inFile = line + (await countLines(file, sent))
    throw new ServerError({ code, remedy, data, message: message.replace(/^line \d+/, `line ${inFile}`) })
  }
}

/** Returns the line of the sent slice that the server did not accept. */
function findLine(error: unknown): number | undefined {
  const { line } = (error instanceof ServerError && (error.data as { line?: unknown })) || {}
  return typeof line === 'number' ? line : undefined
}

/** Counts the lines of a file that end before a byte. */
async function countLines(file: Blob, end: number): Promise<number> {
  let count = 0
  for (let from = 0; from < end; from += sliceBytes)
    for (const byte of new Uint8Array(await readBytes(file, from, Math.min(end, from + sliceBytes))))
      if (byte === lineFeed) count++
  return count
}

/** Yields parts of a file that consist of whole lines. Only one part is in memory. Throws `ServerError` for a line that is too long. */
export async function* readSlices(file: Blob, bytes = sliceBytes): AsyncGenerator<Blob> {
  for (let start = 0; start < file.size; ) {
    const end = await findSliceEnd(file, start, bytes)
    yield file.slice(start, end)
    start = end
  }
}

/** Returns the end of the last line within the bytes, or that of the first line if it is longer. */
async function findSliceEnd(file: Blob, start: number, bytes: number): Promise<number> {
  if (start + bytes >= file.size) return file.size
  const last = new Uint8Array(await readBytes(file, start, start + bytes)).lastIndexOf(lineFeed)
  if (last !== -1) return start + last + 1
  for (let from = start + bytes; from < file.size; from += bytes) {
    if (from - start > maxLineBytes)
      throw new ServerError({
        code: 'NOT_A_RECORDING',
        message: `a line is longer than ${maxLineBytes} bytes`,
        remedy: 'end each frame with a line feed',
      })
    const next = new Uint8Array(await readBytes(file, from, from + bytes)).indexOf(lineFeed)
    if (next !== -1) return from + next + 1
  }
  return file.size
}

const readBytes = (file: Blob, start: number, end: number): Promise<ArrayBuffer> =>
  file
    .slice(start, end)
    .arrayBuffer()
    .catch(() => {
      throw new ServerError({
        code: 'FILE_UNREADABLE',
        message: 'the browser cannot read the file',
        remedy: 'choose a file, not a folder, that does not change during the upload',
      })
    })
