import { constants } from 'node:fs'
import { chmod, copyFile, open, rm, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import { StoreError, sidecars } from '@causeway/store'
import { RecordingError } from '../errors.ts'
import { columnsParts, getColumnsFilePath } from '../formats/columns-file.ts'
import { type FileState, isDatabaseHead, isSameState, readFileState, requireDatabase } from './file-state.ts'

interface CopyOptions {
  readonly signal: AbortSignal
  readonly progress: (done: number, total: number) => void
}

const maxAttempts = 5

const retryDelay = [15, 40] as const

/** Length of SQLite's magic bytes, including the zero byte. */
const headBytes = 16

const chunkBytes = 4 * 1024 * 1024

/** Size of the indexes relative to the copy's size. */
const indexShare = 0.3

/**
 * Copies a foreign database without SQLite, and returns the copied state. Retries if the file changes or a transaction
 * is open. An unchanged journal belongs to a dead writer and is copied. On failure, removes its files.
 */
export async function copyDatabase(source: string, target: string, options: CopyOptions): Promise<FileState> {
  try {
    return await copyConsistently(source, target, { ...options, progress: makeMonotonic(options.progress) })
  } catch (error) {
    await removeCopy(target)
    throw error
  }
}

/** Stores a stream in a private file, which the caller removes. */
export async function storeUpload(
  body: AsyncIterable<Uint8Array>,
  file: string,
  maxBytes: number,
): Promise<void> {
  const target = await open(file, 'wx', 0o600)
  try {
    let bytes = 0
    let head = Buffer.alloc(0)
    for await (const part of throwIfCancelled(body)) {
      if (head.length < headBytes) head = Buffer.concat([head, part.subarray(0, headBytes - head.length)])
      if (head.length === headBytes && !isDatabaseHead(head)) break
      bytes += part.length
      if (bytes > maxBytes)
        throw new StoreError('DATA_UNWRITABLE', `the upload has more than ${maxBytes} bytes`, {
          remedy: 'record a shorter run, or raise CAUSEWAY_RECORDINGS_CAP_BYTES',
          data: { limit_bytes: maxBytes },
        })
      await target.writeFile(part).catch((cause) => {
        throw new StoreError('DATA_UNWRITABLE', 'the upload cannot be stored', { cause })
      })
    }
    if (!isDatabaseHead(head))
      throw new RecordingError('NOT_A_DATABASE', 'the upload is not an SQLite database')
  } finally {
    await target.close()
  }
}

async function* throwIfCancelled(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (cause) {
    throw new CausewayError('CANCELLED', 'the body ended early; nothing is stored', { cause })
  }
}

/** Suppresses progress that a retry repeats. */
function makeMonotonic(progress: CopyOptions['progress']): CopyOptions['progress'] {
  let max = 0
  return (done, total) => {
    if (done <= max) return
    max = done
    progress(done, total)
  }
}

export async function removeCopy(file: string): Promise<void> {
  const columns = ['', ...Object.values(columnsParts)].map((ending) => `${getColumnsFilePath('')}${ending}`)
  const derivedEndings = [...columns, '-answers', '-answers.part']
  for (const ending of [...sidecars, '', ...derivedEndings]) await rm(`${file}${ending}`, { force: true })
}

async function copyConsistently(source: string, target: string, options: CopyOptions): Promise<FileState> {
  const states: FileState[] = []
  for (let i = 0; i < maxAttempts; i++) {
    options.signal.throwIfAborted()
    const state = await readFileState(source)
    requireDatabase(source, state)
    if (state.journal === null && (await copyState(source, target, state, options))) return state
    states.push(state)
    await wait(retryDelay[0] + Math.random() * (retryDelay[1] - retryDelay[0]), undefined, {
      signal: options.signal,
    })
  }
  const [first, ...otherStates] = states
  const isAbandoned = first?.journal != null && otherStates.every((state) => isSameState(first, state))
  if (isAbandoned && (await copyState(source, target, first, options))) return first
  throw new RecordingError('RECORDING_BUSY', `the recording is being written: ${source}`, {
    data: { path: source },
  })
}

/** Returns whether the file remained unchanged. */
async function copyState(
  source: string,
  target: string,
  state: FileState,
  options: CopyOptions,
): Promise<boolean> {
  await requireSpace(target, state.size)
  await removeCopy(target)
  try {
    await copyFileInSteps(source, target, options)
    const silentOptions = { ...options, progress: () => {} }
    if (state.journal) await copyFileInSteps(`${source}-journal`, `${target}-journal`, silentOptions)
    if (state.wal) await copyFileInSteps(`${source}-wal`, `${target}-wal`, silentOptions)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return false
  }
  return isSameState(state, await readFileState(source))
}

async function requireSpace(target: string, size: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(target))
  const [free_bytes, needed_bytes] = [bavail * bsize, Math.ceil(size * (1 + indexShare))]
  if (free_bytes >= needed_bytes) return
  throw new StoreError('DATA_UNWRITABLE', 'the disk has no space for a private copy of the recording', {
    data: { needed_bytes, free_bytes },
  })
}

/** Clones the file if the file system supports it. */
async function copyFileInSteps(
  source: string,
  target: string,
  { signal, progress }: CopyOptions,
): Promise<void> {
  try {
    await copyFile(source, target, constants.COPYFILE_FICLONE_FORCE)
    await chmod(target, 0o600)
    return
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error
    // Other errors recur in the chunked copy.
    await rm(target, { force: true })
  }
  const from = await open(source, 'r')
  try {
    const to = await open(target, 'wx', 0o600)
    try {
      const { size } = await from.stat()
      const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(chunkBytes, size)))
      for (let done = 0; ; ) {
        signal.throwIfAborted()
        const { bytesRead } = await from.read(buffer, 0, buffer.length, done)
        if (bytesRead === 0) break
        await to.writeFile(buffer.subarray(0, bytesRead))
        done += bytesRead
        progress(done, Math.max(size, done))
      }
    } finally {
      await to.close()
    }
  } finally {
    await from.close()
  }
}
