import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, type FileHandle, lstat, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { CausewayError } from '@causeway/protocol'
import { syncFolder } from '@causeway/store'
import { DebriefError } from '../errors.ts'

/** Less than V8's maximum string length. */
const maxPlotBytes = 384 * 2 ** 20

export interface PlotFileStatus {
  readonly sha256: string
  readonly signature: string
  readonly bytes: number
}

export interface StagedFile {
  readonly tempPath: string
  readonly sha256: string
  readonly bytes: number
}

/** Returns a text that changes when the file is written or replaced, or `null` if there is no regular file. */
export async function getSignature(path: string): Promise<string | null> {
  try {
    const fileStats = await lstat(path, { bigint: true })
    return fileStats.isFile()
      ? `${fileStats.ino}:${fileStats.size}:${fileStats.mtimeNs}:${fileStats.ctimeNs}`
      : null
  } catch (error) {
    if (isNotFoundError(error)) return null
    throw error
  }
}

/** Returns `null` if the file does not exist. */
export async function getFileSize(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (isNotFoundError(error)) return null
    throw error
  }
}

interface ReadOptions {
  readonly signal?: AbortSignal | undefined
  readonly onRead?: ((bytes: number, total: number) => void) | undefined
}

/**
 * Retries if the file changes while it is being read. Throws `PLOT_NOT_FOUND`, `PLOT_UNREADABLE`, `PLOT_TOO_LARGE`,
 * `INVALID_PLOT` and the abort reason.
 */
export async function readPlotFile(
  path: string,
  options: ReadOptions = {},
): Promise<PlotFileStatus & { readonly text: string }> {
  for (let attempt = 1; ; attempt += 1) {
    const signature = await getSignature(path)
    if (signature === null) throw createNotFoundError(path)
    const { bytes, sha256 } = await readBytes(path, options)
    if ((await getSignature(path)) === signature)
      return { text: decodeUtf8(bytes), sha256, signature, bytes: bytes.length }
    if (attempt === maxAttempts)
      throw new DebriefError('INVALID_PLOT', 'the file is being written by another program', {
        remedy: 'call again when the other program has finished',
        data: { filename: basename(path) },
      })
  }
}

/** Returns the SHA-256 in hexadecimal, or `null` if the file does not exist. */
export async function hashFile(path: string): Promise<string | null> {
  try {
    return await withFile(path, async (handle) => {
      const hash = createHash('sha256')
      const chunks = handle.createReadStream({ autoClose: false, start: 0, highWaterMark: chunkBytes })
      for await (const chunk of chunks as AsyncIterable<Uint8Array>) hash.update(chunk)
      return hash.digest('hex')
    })
  } catch (error) {
    if (DebriefError.is(error, 'PLOT_NOT_FOUND')) return null
    throw error
  }
}

/** Writes and flushes a temporary file with the mode of the original. Throws `PLOT_READONLY` and `SAVE_FAILED`. */
export async function stagePlot(path: string, pieces: Iterable<string>): Promise<StagedFile> {
  const tempPath = join(dirname(path), createTempName(path))
  const hash = createHash('sha256')
  let bytes = 0
  let handle: FileHandle | undefined
  try {
    const mode = await getWritableMode(path)
    handle = await open(tempPath, 'wx', mode)
    await handle.chmod(mode)
    for (const text of joinChunks(pieces)) {
      const chunk = Buffer.from(text)
      hash.update(chunk)
      bytes += chunk.length
      await handle.writeFile(chunk)
    }
    await handle.sync()
    await handle.close()
    return { tempPath, sha256: hash.digest('hex'), bytes }
  } catch (error) {
    await handle?.close().catch(() => {})
    await discardStagedFile(tempPath)
    throw toSaveError(error, path)
  }
}

/** Throws the errors of `stagePlot`. */
export async function commitStagedFile(tempPath: string, path: string): Promise<void> {
  try {
    await rename(tempPath, path)
    await syncFolder(dirname(path))
  } catch (error) {
    await discardStagedFile(tempPath)
    throw toSaveError(error, path)
  }
}

export const discardStagedFile = (tempPath: string): Promise<void> =>
  rm(tempPath, { force: true }).catch(() => {})

/** Removes temporary files of this plot from processes that exited during a save. */
export async function removeStaleFiles(path: string): Promise<void> {
  const folder = dirname(path)
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const [, hash, pid] = /^\.causeway-([0-9a-f]{12})-(\d+)-[0-9a-f]{12}\.tmp$/.exec(name) ?? []
    if (hash === hashFilename(path) && !isProcessRunning(Number(pid)))
      await discardStagedFile(join(folder, name))
  }
}

const maxAttempts = 3

/** Uses a hash, because the plot's name can already have the maximum length of a file name. */
const createTempName = (path: string): string =>
  `.causeway-${hashFilename(path)}-${process.pid}-${randomBytes(6).toString('hex')}.tmp`

const hashFilename = (path: string): string =>
  createHash('sha256').update(basename(path)).digest('hex').slice(0, 12)

const chunkBytes = 2 ** 20

function* joinChunks(pieces: Iterable<string>): Generator<string> {
  let pending: string[] = []
  let characters = 0
  for (const piece of pieces) {
    pending.push(piece)
    characters += piece.length
    if (characters < chunkBytes) continue
    yield pending.join('')
    pending = []
    characters = 0
  }
  yield pending.join('')
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new DebriefError('INVALID_PLOT', 'the file is not UTF-8 text', { cause })
  }
}

const readBytes = (
  path: string,
  { signal, onRead }: ReadOptions,
): Promise<{ bytes: Buffer; sha256: string }> =>
  withFile(path, async (handle, size) => {
    const bytes = Buffer.allocUnsafeSlow(size)
    const hash = createHash('sha256')
    let offset = 0
    while (offset < size) {
      signal?.throwIfAborted()
      const { bytesRead } = await handle.read(bytes, offset, Math.min(chunkBytes, size - offset), offset)
      if (bytesRead === 0) break
      hash.update(bytes.subarray(offset, offset + bytesRead))
      offset += bytesRead
      onRead?.(offset, size)
    }
    return { bytes: bytes.subarray(0, offset), sha256: hash.digest('hex') }
  })

/** Opens a file without following links. Throws `PLOT_NOT_FOUND`, `PLOT_UNREADABLE` and `PLOT_TOO_LARGE`. */
async function withFile<T>(
  path: string,
  callback: (handle: FileHandle, size: number) => Promise<T>,
): Promise<T> {
  let handle: FileHandle | undefined
  try {
    handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
    const { size } = await handle.stat()
    if (size > maxPlotBytes)
      throw new DebriefError('PLOT_TOO_LARGE', `the plot has more than ${maxPlotBytes} bytes`, {
        data: { bytes: size, most_bytes: maxPlotBytes },
      })
    return await callback(handle, size)
  } catch (error) {
    throw isNotFoundError(error) ? createNotFoundError(path) : toReadError(error, path)
  } finally {
    await handle?.close()
  }
}

/** Returns 0o644 for a missing file. Throws if the file is not writable. */
async function getWritableMode(path: string): Promise<number> {
  try {
    const { mode } = await stat(path)
    await access(path, constants.W_OK)
    return mode & 0o777
  } catch (error) {
    if (isNotFoundError(error)) return 0o644
    throw error
  }
}

const getErrorCode = (error: unknown): string =>
  String((error as NodeJS.ErrnoException | undefined)?.code ?? '')

/** Returns an error unchanged if it is not from the file system. */
export function toReadError(error: unknown, path: string): unknown {
  const reason = (error as NodeJS.ErrnoException).syscall === undefined ? '' : getErrorCode(error)
  if (reason === '') return error
  const filename = basename(path)
  return new DebriefError('PLOT_UNREADABLE', `the plot cannot be read (${reason}): ${filename}`, {
    data: { filename, reason },
    cause: error,
  })
}

export const isNotFoundError = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(getErrorCode(error))

export const createNotFoundError = (path: string): CausewayError =>
  new DebriefError('PLOT_NOT_FOUND', `plot file not found: ${basename(path)}`, {
    data: { filename: basename(path) },
  })

function toSaveError(error: unknown, path: string): CausewayError {
  const filename = basename(path)
  const reason = getErrorCode(error)
  const isPermissionError = ['EACCES', 'EPERM', 'EROFS'].includes(reason)
  return new DebriefError(
    isPermissionError ? 'PLOT_READONLY' : 'SAVE_FAILED',
    isPermissionError
      ? `the plot cannot be written: ${filename}`
      : `saving the plot failed (${reason}): ${filename}`,
    { data: { filename, reason }, cause: error },
  )
}

function isProcessRunning(pid: number): boolean {
  if (pid === process.pid) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return getErrorCode(error) === 'EPERM'
  }
}
