import { constants } from 'node:fs'
import { chmod, copyFile, open, rm, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import { sidecars } from '@causeway/store'
import { type FileState, isSameState, readFileState, requireDatabase } from './file-state.ts'

/** What a copy reports and by what it is stopped. */
export interface CopyOptions {
  readonly signal: AbortSignal
  /** done and total, in bytes of the file; `done` only grows, also over several tries */
  readonly progress: (done: number, total: number) => void
}

/** Looks at a file that is being written before it is called busy: the recorder flushes every 100 ms. */
const tries = 5

/** Pause between two looks, ms: at least and at most. */
const pause = [15, 40] as const

/** Bytes between two looks at the signal. */
const chunkBytes = 4 * 1024 * 1024

/** Part of the size that indexes may add to a copy. */
const indexShare = 0.3

/**
 * Copies a foreign database byte for byte, never through SQLite, and returns the state that was copied.
 *
 * The copy counts only if the file was the same before and after and no transaction was open. A journal that stays
 * unchanged over all tries belongs to a writer that died: then file and journal are copied, and SQLite rolls the
 * copy back when it opens it. Leaves no file where it throws: `RECORDING_BUSY`, `RECORDING_NOT_FOUND`,
 * `NOT_A_DATABASE`, `NOT_A_RECORDING` (empty), `DATA_UNWRITABLE` (disk full), or the reason of the signal.
 */
export async function copyDatabase(source: string, target: string, options: CopyOptions): Promise<FileState> {
  try {
    return await copyConsistently(source, target, { ...options, progress: growing(options.progress) })
  } catch (error) {
    await removeCopy(target)
    throw error
  }
}

/** Passes on what exceeds everything before: a second try begins again, and a progress that falls back is none. */
function growing(progress: CopyOptions['progress']): CopyOptions['progress'] {
  let most = 0
  return (done, total) => {
    if (done <= most) return
    most = done
    progress(done, total)
  }
}

/** Removes a private copy with what stands beside it. */
export async function removeCopy(file: string): Promise<void> {
  const derived = ['-columns', '-columns.part', '-answers', '-answers.part']
  for (const part of [...sidecars, '', ...derived]) await rm(`${file}${part}`, { force: true })
}

async function copyConsistently(source: string, target: string, options: CopyOptions): Promise<FileState> {
  const seen: FileState[] = []
  for (let i = 0; i < tries; i++) {
    options.signal.throwIfAborted()
    const state = await readFileState(source)
    requireDatabase(source, state)
    if (state.journal === null && (await copyState(source, target, state, options))) return state
    seen.push(state)
    await wait(pause[0] + Math.random() * (pause[1] - pause[0]), undefined, { signal: options.signal })
  }
  const [first, ...others] = seen
  const isAbandoned = first?.journal != null && others.every((state) => isSameState(first, state))
  if (isAbandoned && (await copyState(source, target, first, options))) return first
  throw new CausewayError('RECORDING_BUSY', `the recording is being written: ${source}`, {
    data: { path: source },
  })
}

/** Copies the file and what belongs to it; true where nothing changed meanwhile. */
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
    const silent = { ...options, progress: () => {} }
    if (state.journal) await copyFileInSteps(`${source}-journal`, `${target}-journal`, silent)
    if (state.wal) await copyFileInSteps(`${source}-wal`, `${target}-wal`, silent)
  } catch (error) {
    // The file or its sidecar went away under the copy: that is a change like any other.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return false
  }
  return isSameState(state, await readFileState(source))
}

async function requireSpace(target: string, size: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(target))
  const [free_bytes, needed_bytes] = [bavail * bsize, Math.ceil(size * (1 + indexShare))]
  if (free_bytes >= needed_bytes) return
  throw new CausewayError('DATA_UNWRITABLE', 'there is no room for a private copy of the recording', {
    data: { needed_bytes, free_bytes },
  })
}

/** A clone where the file system can share blocks, else a copy in chunks with progress. */
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
    // Any other refusal means only that blocks cannot be shared here; the copy itself reports what is really wrong.
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
