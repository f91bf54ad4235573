/** Plot files on disk: read whole or not at all, replaced at once or left as they are. */
import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, type FileHandle, lstat, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CausewayError } from '@causeway/protocol'

/** Largest plot file that is read, bytes: V8 cannot hold a longer text with certainty. */
const mostPlotBytes = 384 * 2 ** 20

/** A plot file as it was read. */
export interface ReadFile {
  readonly text: string
  readonly sha256: string
  /** what `signatureOf` said of these very bytes */
  readonly signature: string
  readonly bytes: number
}

/** A new version of a file that waits beside it. */
export interface Staged {
  readonly temp: string
  readonly sha256: string
  readonly bytes: number
}

/** Changes when a file is written, replaced or made anew; null where none is there. */
export async function signatureOf(path: string): Promise<string | null> {
  try {
    const found = await lstat(path, { bigint: true })
    return found.isFile() ? `${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}` : null
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Bytes of a file; null where none is there. */
export async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** How reading is watched. */
export interface ReadWatch {
  readonly signal?: AbortSignal | undefined
  /** Hears how many bytes are read, and how many there are. */
  readonly read?: ((bytes: number, of: number) => void) | undefined
}

/**
 * Reads a file that nobody writes meanwhile. Throws `PLOT_NOT_FOUND`, `PLOT_TOO_LARGE`, `INVALID_PLOT`, and the reason of
 * the signal.
 */
export async function readPlotFile(path: string, watch: ReadWatch = {}): Promise<ReadFile> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await signatureOf(path)
    if (before === null) throw notThere(path)
    const { bytes, sha256 } = await readBytes(path, watch)
    if ((await signatureOf(path)) === before)
      return { text: decoded(bytes), sha256, signature: before, bytes: bytes.length }
    if (attempt === attempts)
      throw new CausewayError('INVALID_PLOT', 'the file is being written by another program', {
        remedy: 'call again when it is complete',
        data: { filename: basename(path) },
      })
  }
}

/** SHA-256 of a file, hexadecimal; null where none is there. */
export async function hashOf(path: string): Promise<string | null> {
  try {
    return await withFile(path, async (handle) => {
      const hash = createHash('sha256')
      const chunks = handle.createReadStream({ autoClose: false, start: 0, highWaterMark: chunkBytes })
      for await (const chunk of chunks as AsyncIterable<Uint8Array>) hash.update(chunk)
      return hash.digest('hex')
    })
  } catch (error) {
    if (error instanceof CausewayError && error.code === 'PLOT_NOT_FOUND') return null
    throw error
  }
}

/**
 * Writes a new version, given in pieces, beside the file, with the mode of the file, safe on the disk. Throws
 * `PLOT_READONLY`, `SAVE_FAILED`; the file is then as it was, and nothing stays beside it.
 */
export async function stagePlot(path: string, pieces: Iterable<string>): Promise<Staged> {
  const temp = join(dirname(path), tempName(path))
  const hash = createHash('sha256')
  let bytes = 0
  let handle: FileHandle | undefined
  try {
    const mode = await writableMode(path)
    handle = await open(temp, 'wx', mode)
    await handle.chmod(mode)
    for (const text of chunked(pieces)) {
      const chunk = Buffer.from(text)
      hash.update(chunk)
      bytes += chunk.length
      // Where the last chunk ended.
      await handle.writeFile(chunk)
    }
    await handle.sync()
    await handle.close()
    return { temp, sha256: hash.digest('hex'), bytes }
  } catch (error) {
    await handle?.close().catch(() => {})
    await discardStaged(temp)
    throw saveFailure(error, path)
  }
}

/** Puts a staged version in the place of the file, at once. Throws as `stagePlot` does. */
export async function commitStaged(temp: string, path: string): Promise<void> {
  try {
    await rename(temp, path)
    await syncFolder(dirname(path))
  } catch (error) {
    await discardStaged(temp)
    throw saveFailure(error, path)
  }
}

/** Removes a version that is not wanted after all. */
export const discardStaged = (temp: string): Promise<void> => rm(temp, { force: true }).catch(() => {})

/** Removes what processes that ended in the middle of a save left beside a file. */
export async function removeStale(path: string): Promise<void> {
  const folder = dirname(path)
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const [, of, pid] = /^\.causeway-([0-9a-f]{12})-(\d+)-[0-9a-f]{12}\.tmp$/.exec(name) ?? []
    if (of === markOf(path) && !isRunning(Number(pid))) await discardStaged(join(folder, name))
  }
}

const attempts = 3

/** Short whatever the plot is called, so that the longest name can be saved too. */
const tempName = (path: string): string =>
  `.causeway-${markOf(path)}-${process.pid}-${randomBytes(6).toString('hex')}.tmp`

/** What tells the waiting versions of one plot from those of another. */
const markOf = (path: string): string =>
  createHash('sha256').update(basename(path)).digest('hex').slice(0, 12)

/** Bytes that are read, hashed or written at once: little enough to hold nobody up. */
const chunkBytes = 2 ** 20

/** Pieces of a text joined to chunks of some size. */
function* chunked(pieces: Iterable<string>): Generator<string> {
  let waiting: string[] = []
  let letters = 0
  for (const piece of pieces) {
    waiting.push(piece)
    letters += piece.length
    if (letters < chunkBytes) continue
    yield waiting.join('')
    waiting = []
    letters = 0
  }
  yield waiting.join('')
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new CausewayError('INVALID_PLOT', 'the file is no UTF-8 text', { cause })
  }
}

const readBytes = (path: string, { signal, read }: ReadWatch): Promise<{ bytes: Buffer; sha256: string }> =>
  withFile(path, async (handle, size) => {
    const bytes = Buffer.allocUnsafeSlow(size)
    const hash = createHash('sha256')
    let at = 0
    while (at < size) {
      signal?.throwIfAborted()
      const { bytesRead } = await handle.read(bytes, at, Math.min(chunkBytes, size - at), at)
      if (bytesRead === 0) break
      hash.update(bytes.subarray(at, at + bytesRead))
      at += bytesRead
      read?.(at, size)
    }
    return { bytes: bytes.subarray(0, at), sha256: hash.digest('hex') }
  })

/** Opens the file itself, never what a link leads to. Throws `PLOT_NOT_FOUND`, `PLOT_TOO_LARGE`. */
async function withFile<T>(path: string, use: (handle: FileHandle, size: number) => Promise<T>): Promise<T> {
  let handle: FileHandle | undefined
  try {
    handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
    const { size } = await handle.stat()
    if (size > mostPlotBytes)
      throw new CausewayError('PLOT_TOO_LARGE', `the plot has more than ${mostPlotBytes} bytes`, {
        data: { bytes: size, most_bytes: mostPlotBytes },
      })
    return await use(handle, size)
  } catch (error) {
    if (isMissing(error)) throw notThere(path)
    throw error
  } finally {
    await handle?.close()
  }
}

/** The mode for the new version; a file that may not be written is not replaced either. */
async function writableMode(path: string): Promise<number> {
  try {
    const { mode } = await stat(path)
    await access(path, constants.W_OK)
    return mode & 0o777
  } catch (error) {
    if (isMissing(error)) return 0o644
    throw error
  }
}

async function syncFolder(folder: string): Promise<void> {
  // Windows has no way to flush a folder.
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException | undefined)?.code ?? '')

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error))

const notThere = (path: string): CausewayError =>
  new CausewayError('PLOT_NOT_FOUND', `there is no plot file ${basename(path)}`, {
    data: { filename: basename(path) },
  })

function saveFailure(error: unknown, path: string): CausewayError {
  const filename = basename(path)
  const reason = codeOf(error)
  const isForbidden = ['EACCES', 'EPERM', 'EROFS'].includes(reason)
  return new CausewayError(
    isForbidden ? 'PLOT_READONLY' : 'SAVE_FAILED',
    isForbidden
      ? `the plot cannot be written: ${filename}`
      : `saving the plot failed (${reason}): ${filename}`,
    { data: { filename, reason }, cause: error },
  )
}

function isRunning(pid: number): boolean {
  if (pid === process.pid) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
