import { findUploadType, headBytes, toPercent } from '../domain/upload.ts'
import { type Server, ServerError } from './server.ts'

interface RunState {
  readonly recording: string
  readonly total_frames: number
  /** `interrupted` if the file does not have the end that its format requires. */
  readonly status: string
}

interface UploadOptions {
  readonly name: string
  readonly folders: readonly string[]
  readonly signal: AbortSignal
  readonly onProgress: (sentBytes: number) => void
}

/**
 * If the request fails or is cancelled, the server stores nothing. Throws `ServerError`, and the reason of the
 * signal.
 */
export async function uploadRecording(
  server: Server,
  file: Blob,
  { name, folders, signal, onProgress }: UploadOptions,
): Promise<RunState> {
  const type = findUploadType(new Uint8Array(await readHead(file)), folders)
  if (typeof type !== 'string') throw new ServerError(type)
  signal.throwIfAborted()
  let sentBytes = 0
  try {
    return await server.upload<RunState>(`/api/apps/replay/recordings/${encodeURIComponent(name)}`, file, {
      type,
      signal,
      onProgress(bytes) {
        sentBytes = bytes
        onProgress(bytes)
      },
    })
  } catch (error) {
    if (!(error instanceof ServerError) || error.code !== 'UNREACHABLE') throw error
    // Throws if the file changed during the upload, which looks like a lost connection.
    await readHead(file)
    throw sentBytes === 0 ? error : createLostError(sentBytes, file.size)
  }
}

function createLostError(sentBytes: number, total: number): ServerError {
  const percent = toPercent(sentBytes, total)
  return new ServerError({
    code: 'CONNECTION_LOST',
    message: `the connection to the server was lost after ${percent} % of the file`,
    remedy:
      percent === 100
        ? 'the recording may have been stored: when the server is reachable, reload the page and look for it in the list'
        : 'nothing was stored: when the server is reachable, choose the file again',
  })
}

const readHead = (file: Blob): Promise<ArrayBuffer> =>
  file
    .slice(0, headBytes)
    .arrayBuffer()
    .catch(() => {
      throw new ServerError({
        code: 'FILE_UNREADABLE',
        message: 'the browser cannot read the file',
        remedy: 'choose a file, not a folder, that does not change during the upload',
      })
    })
