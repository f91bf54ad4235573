import { mkdirSync, realpathSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { CausewayError, type ErrorCode, isCausewayError } from '@causeway/protocol'
import { type CallOptions, inWorker, sharedTasks } from '@causeway/worker'
import { openCatalogue, type Snapshot } from './catalogue.ts'
import { readFileState, stateKey } from './file-state.ts'
import type { ScanLimits } from './folder-scan.ts'
import type { RecordingLibrary, Roots } from './library-types.ts'
import { isLineFile, withLineFile } from './line-file.ts'
import { listRecordings } from './listing.ts'
import { loadRecording } from './loaded-recording.ts'
import { loadedRecordings } from './loaded-recordings.ts'
import type { LibraryLog } from './log.ts'
import { openRecorder } from './recorder/recorder.ts'
import type { RecorderLimits } from './recorder/recorder-types.ts'
import { runKey, runRecordings } from './recorder/run-recordings.ts'
import { exists, snapshotCache } from './snapshot-cache.ts'
import type { Foreseen, RecordingIdentity, RecordingSummary } from './types.ts'
import { type RecordingWorker, startRecorderWorker, startRecordingWorker } from './worker-link.ts'

/** Bounds of a library; `libraryDefaults` has each. */
export interface LibraryLimits {
  /** bytes of private copies kept; a copy that is in use may exceed it */
  readonly snapshotBytes: number
  /** recordings up to this size are indexed before they are answered from, larger ones behind */
  readonly indexAtOnceBytes: number
  /**
   * body-frames from which on the columns of a recording are made behind, and what is foreseen is asked: smaller ones than
   * by default are read in half a second
   */
  readonly worthPreparing: number
  /** recordings held open at once, each in a worker thread */
  readonly loaded: number
  /** how far folders are searched */
  readonly scan: ScanLimits
  /** bounds of what we record ourselves */
  readonly recorder: RecorderLimits
}

/** How a library is opened. */
export interface LibraryOptions {
  /** folder of the catalogue and of the private copies; nothing below it is ever taken for a recording */
  readonly dir: string
  readonly roots: Roots
  /** epoch ms */
  readonly now: () => number
  readonly log?: LibraryLog
  readonly limits?: Partial<LibraryLimits>
  /** entry file of the workers; it calls `serveRecording` with analyses of its own. Default: one without any */
  readonly worker?: URL
  /** analyses that will be asked of a recording: those of long ones are answered behind. Default: none */
  readonly foreseen?: (summary: RecordingSummary) => readonly Foreseen[]
}

/** The bounds of a library that is given none. */
export const libraryDefaults: LibraryLimits = {
  snapshotBytes: 4 * 1024 ** 3,
  indexAtOnceBytes: 256 * 1024 ** 2,
  worthPreparing: 50_000,
  loaded: 8,
  scan: { depth: 6, folders: 2000, files: 1000 },
  recorder: { bytes: 16 * 1024 ** 3, ageMs: 0, live: 16, idleMs: 300_000 },
}

/** What opening a file found out about it for good. */
const verdictCodes: readonly ErrorCode[] = ['NOT_A_DATABASE', 'NOT_A_RECORDING', 'RECORDING_DAMAGED']

/** What a private copy that was harmed on disk answers. */
const unreadable: readonly ErrorCode[] = [...verdictCodes, 'DATA_UNWRITABLE', 'INTERNAL', 'WORKER_LOST']

type Opened = Awaited<ReturnType<RecordingLibrary['open']>>

/** Opens the recording database. Throws `NEWER_DATA`, `DATA_DAMAGED`, `DATA_UNWRITABLE`. */
export async function openLibrary(options: LibraryOptions): Promise<RecordingLibrary> {
  const { roots, now, log } = options
  const limits = { ...libraryDefaults, ...options.limits }
  const start = () => startRecordingWorker(options.worker)
  mkdirSync(options.dir, { recursive: true, mode: 0o700 })
  const dir = realpathSync(options.dir)
  const folder = join(dir, 'snapshots')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const catalogue = openCatalogue(join(dir, 'recordings.db'), now)
  const copies = snapshotCache(folder, catalogue, limits.snapshotBytes, now)
  await copies.sweep()

  const noteVerdict = (path: string, key: string, error: unknown): void => {
    if (!isCausewayError(error) || !verdictCodes.includes(error.code)) return
    catalogue.setVerdicts([{ path, key, reason: error.code, total_frames: null }])
  }
  const loads = sharedTasks<Opened>()
  const loaded = loadedRecordings({
    copies,
    limit: limits.loaded,
    now,
    onDamage: ({ key, recording }, error) => noteVerdict(recording.identity.path, key, error),
    startWorker: start,
    worthPreparing: limits.worthPreparing,
    foreseen: options.foreseen ?? (() => []),
    onBehindFailure: ({ recording }, error) =>
      log?.warn({ err: error, recording: recording.identity.id }, 'preparing a recording failed'),
  })

  const recorder = await openRecorder({
    dir,
    catalogue,
    startWorker: startRecorderWorker,
    limits: limits.recorder,
    now,
    log,
    letGo: (name) => loaded.discard(runKey(name)),
  })
  const runs = runRecordings({ dir, catalogue, recorder, loaded, loads, startWorker: start })

  const isOwn = (path: string) => path === dir || path.startsWith(dir + sep)
  const list = async (directory?: string) => {
    await tidy()
    const { searched, listings } = await listRecordings(
      { catalogue, roots, limits: limits.scan, isOwn },
      directory,
    )
    return { searched, listings: directory === undefined ? [...runs.listings(), ...listings] : listings }
  }

  /** The real path that an id, a path or the name of a listed file stands for. */
  const locate = async (idOrPath: string): Promise<string> => {
    const found = await resolveFile(roots, catalogue.pathOf(idOrPath) ?? idOrPath)
    if (found !== undefined) return found
    if (!idOrPath.includes('/') && !idOrPath.includes(sep)) {
      const { listings } = await list()
      const named = listings.filter(({ id, name }) => id === idOrPath || name === idOrPath)
      const match = named.find(({ id }) => id === idOrPath) ?? (named.length === 1 ? named[0] : undefined)
      if (match) return match.path
    }
    throw new CausewayError('RECORDING_NOT_FOUND', `there is no recording ${idOrPath}`, {
      data: { recording: idOrPath, searched: roots.folders() },
    })
  }

  /** Removes the copies of files that are gone, and those of earlier states that nobody uses any more. */
  const tidy = async (): Promise<void> => {
    for (const snapshot of catalogue.snapshots()) {
      if (!(await exists(snapshot.path))) await loaded.discard(snapshot.key)
      else if (copies.isSuperseded(snapshot)) await discardIdle(snapshot)
    }
  }

  const discardIdle = async (snapshot: Snapshot): Promise<void> => {
    if (await loaded.release(snapshot)) await copies.remove(snapshot.key)
  }

  /** Copies a file in the worker that will read the copy. */
  const copy = async (link: RecordingWorker, path: string, size: number, call: CallOptions) => {
    await copies.makeRoom(size, loaded.release)
    const args = { source: path, folder, indexAtOnceBytes: limits.indexAtOnceBytes }
    const { key, bytes } = await link.call('copy', args, call)
    return { key, file: copies.add(key, path, bytes) }
  }

  /** A copy from before; one that can no longer be read is thrown away, since the user's file is still there. */
  const loadKept = async (key: string, identity: RecordingIdentity, call: CallOptions) => {
    const file = await copies.find(key)
    if (file === undefined) return undefined
    copies.touch(key)
    try {
      return await inWorker(start, (link) =>
        loadRecording(link, { key, file, identity, startWorker: start }, call),
      )
    } catch (error) {
      if (!isCausewayError(error) || !unreadable.includes(error.code)) throw error
      log?.warn({ err: error, recording: identity.id }, 'a private copy was unreadable and is made again')
      await loaded.discard(key)
      return undefined
    }
  }

  const load = async (path: string, wanted: string, size: number, call: CallOptions): Promise<Opened> => {
    const identity: RecordingIdentity = {
      id: catalogue.idOf(path),
      path,
      name: basename(path),
      size_bytes: size,
    }
    const entry =
      (await loadKept(wanted, identity, call)) ??
      (await inWorker(start, async (link) => {
        const { key, file } = await copy(link, path, size, call)
        return loadRecording(link, { key, file, identity, startWorker: start }, call)
      }))
    const older = copies.others(path, entry.key)
    await loaded.add(entry)
    // Not at once: somebody may be in the middle of asking the earlier state.
    for (const snapshot of older) await discardIdle(snapshot)
    const total_frames = entry.recording.summary.frames?.total_frames ?? 0
    catalogue.setVerdicts([{ path, key: entry.key, reason: null, total_frames }])
    return { recording: entry.recording, reloaded: older.length > 0 }
  }

  const open: RecordingLibrary['open'] = async (idOrPath, call = {}) => {
    const run = runs.find(idOrPath)
    if (run !== undefined) return runs.open(run, call)
    const path = await locate(idOrPath)
    if (isOwn(path)) throw ownFile(path)
    const state = await readFileState(path)
    const key = stateKey(path, state)
    const current = await loaded.use(key)
    if (current) return { recording: current.recording, reloaded: false }
    const { maxCopyBytes = Number.POSITIVE_INFINITY } = call
    if (state.size > maxCopyBytes && (await copies.find(key)) === undefined)
      throw new CausewayError('TAIL_TOO_LARGE', `the recording has ${state.size} bytes: ${basename(path)}`, {
        data: { path, size_bytes: state.size, limit_bytes: maxCopyBytes },
      })
    try {
      return await loads.run(key, (shared) => load(path, key, state.size, shared), call)
    } catch (error) {
      noteVerdict(path, key, error)
      throw error
    }
  }

  return {
    list,
    recorder,
    open,
    async importRecording(name, idOrPath, call = {}) {
      const path = await locate(idOrPath)
      if (isOwn(path)) throw ownFile(path)
      if (isLineFile(path)) return withLineFile(path, call, (body) => recorder.importLines(name, body))
      await open(path, call)
      const file = await copies.find(stateKey(path, await readFileState(path)))
      if (file === undefined)
        throw new CausewayError('RECORDING_BUSY', `the recording changed while it was imported: ${path}`, {
          data: { path },
        })
      return recorder.importCopy(name, file)
    },
    memory: {
      workers: { bytes: async () => (await loaded.bytes()).workers, shrink: loaded.shrinkWorkers },
      answers: {
        bytes: async () => (await loaded.bytes()).answers,
        shrink: async (bytes) => loaded.shrinkAnswers(bytes),
      },
    },
    health: () => ({
      ...copies.health(),
      loaded: loaded.openCount(),
      preparing: loaded.preparingCount(),
    }),
    async close() {
      await recorder.close()
      await loads.stop()
      await loaded.close()
      catalogue.close()
    },
  }
}

/** The real path, or undefined where there is no such file. Throws `OUTSIDE_ROOTS`. */
async function resolveFile(roots: Roots, path: string): Promise<string | undefined> {
  try {
    return await roots.resolve(path)
  } catch (error) {
    if (isCausewayError(error) && error.code === 'FILE_NOT_FOUND') return undefined
    throw error
  }
}

/** The server has these open through SQLite: reading one as bytes would drop its locks. */
const ownFile = (path: string): CausewayError =>
  new CausewayError('OUTSIDE_ROOTS', `the file belongs to the server's own data: ${path}`, {
    data: { path },
    remedy: 'give the file that the recorder wrote',
  })
