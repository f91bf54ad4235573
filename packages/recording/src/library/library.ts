import { mkdirSync, realpathSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import { StoreError } from '@causeway/store'
import { type CallOptions, initializeWorker, SharedCalls, WorkerError } from '@causeway/worker'
import { RecordingError } from '../errors.ts'
import { type RecordingWorker, startRecordingWorker } from '../reader/start-recording-worker.ts'
import { openRecorder, type Recorder, type RecorderLimits, type RunState } from '../recorder/recorder.ts'
import { startRecorderWorker } from '../recorder/start-recorder-worker.ts'
import type { AnalysisRequest, RecordingIdentity, RecordingSummary } from '../types.ts'
import { BackgroundReader } from './background-reader.ts'
import { Catalogue, type Snapshot } from './catalogue.ts'
import { isFrameFile, withFrameFile } from './frame-file.ts'
import type { LibraryLog, Listing, OpenOptions, OpenResult, Roots } from './library-types.ts'
import { listRecordings, resolveExisting, type ScanLimits } from './listing.ts'
import { type LoadedRecording, loadRecording } from './loaded-recording.ts'
import { LoadedRecordings } from './loaded-recordings.ts'
import { getRunKey, RunRecordings } from './run-recordings.ts'
import type { RunSummaries } from './run-summaries.ts'
import { exists, SnapshotCache } from './snapshot-cache.ts'
import { isImported, readSourceFile, type SourceFile, toBagFolder } from './source-file.ts'
import { callWithStallLimit } from './stall-limit.ts'

export interface LibraryLimits {
  /** Maximum total size of the private copies. Copies in use may exceed it. */
  readonly snapshotBytes: number
  /** Larger recordings are indexed in the background. */
  readonly maxForegroundIndexBytes: number
  /** Minimum bodies × frames for preparing columns and analyses in the background. */
  readonly minPreparedBodyFrames: number
  /** Maximum time that an import may run without progress, in ms. */
  readonly importStallMs: number
  readonly maxLoaded: number
  readonly scan: ScanLimits
  readonly recorder: RecorderLimits
}

interface LibraryOptions {
  /** Data folder. Files in it are never opened as users' recordings. */
  readonly dir: string
  readonly roots: Roots
  /** Unix time in milliseconds. */
  readonly now: () => number
  readonly log?: LibraryLog
  readonly limits?: Partial<LibraryLimits>
  /** Entry file of the workers, which calls `serveRecording`. The default has no analyses. */
  readonly worker?: URL
  readonly analysesToPrepare?: (summary: RecordingSummary) => readonly AnalysisRequest[]
}

export const libraryDefaults: LibraryLimits = {
  snapshotBytes: 4 * 1024 ** 3,
  maxForegroundIndexBytes: 256 * 1024 ** 2,
  // Smaller recordings are read within half a second.
  minPreparedBodyFrames: 50_000,
  importStallMs: 120_000,
  maxLoaded: 8,
  scan: { depth: 6, folders: 2000, files: 1000 },
  recorder: { maxBytes: 16 * 1024 ** 3, maxAgeMs: 0, maxLiveRuns: 16, idleMs: 300_000 },
}

const isFinal = (error: unknown): error is CausewayError =>
  RecordingError.is(error, 'NOT_A_DATABASE', 'NOT_A_RECORDING', 'RECORDING_DAMAGED')

/** Whether a damaged private copy can cause the error. */
const isUnreadable = (error: unknown): boolean =>
  isFinal(error) ||
  StoreError.is(error, 'DATA_UNWRITABLE') ||
  CausewayError.is(error, 'INTERNAL') ||
  WorkerError.is(error, 'WORKER_LOST')

/** Throws `NEWER_DATA`, `DATA_DAMAGED` and `DATA_UNWRITABLE`. */
export async function openLibrary(options: LibraryOptions): Promise<RecordingLibrary> {
  mkdirSync(options.dir, { recursive: true, mode: 0o700 })
  const dir = realpathSync(options.dir)
  const folder = join(dir, 'snapshots')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { now, log } = options
  const limits = { ...libraryDefaults, ...options.limits }
  const catalogue = new Catalogue(join(dir, 'recordings.db'), now)
  const copies = new SnapshotCache({ folder, catalogue, maxBytes: limits.snapshotBytes, now })
  await copies.sweep()
  const startWorker = () => startRecordingWorker(options.worker)
  const loaded = new LoadedRecordings({
    copies,
    maxWorkers: limits.maxLoaded,
    now,
    startWorker,
    minBodyFrames: limits.minPreparedBodyFrames,
    analysesToPrepare: options.analysesToPrepare ?? (() => []),
    onDamage: ({ key, recording }, error) =>
      catalogue.putCheck({ path: recording.identity.path, key, reason: error.code, total_frames: null }),
    onBackgroundFailure: ({ recording }, error) =>
      log?.warn({ err: error, recording: recording.identity.id }, 'preparing a recording failed'),
  })
  const recorder = await openRecorder({
    dir,
    catalogue,
    startWorker: startRecorderWorker,
    limits: limits.recorder,
    now,
    log,
    onRemove: (name) => loaded.discard(getRunKey(name)),
  })
  return new RecordingLibrary({
    dir,
    roots: options.roots,
    log,
    limits,
    catalogue,
    copies,
    loaded,
    recorder,
    startWorker,
  })
}

interface LibraryDependencies {
  readonly dir: string
  readonly roots: Roots
  readonly log: LibraryLog | undefined
  readonly limits: LibraryLimits
  readonly catalogue: Catalogue
  readonly copies: SnapshotCache
  readonly loaded: LoadedRecordings
  readonly recorder: Recorder
  readonly startWorker: () => RecordingWorker
}

export class RecordingLibrary {
  /** Records runs, which can be opened while they grow. */
  readonly recorder: Recorder
  /** `shrink` releases the least recently used entries first and returns the released bytes. */
  readonly memory
  readonly #dependencies: LibraryDependencies
  readonly #runs: RunRecordings
  readonly #loads = new SharedCalls<OpenResult>()
  readonly #backgroundReader: BackgroundReader

  constructor(dependencies: LibraryDependencies) {
    const { loaded } = dependencies
    this.#dependencies = dependencies
    this.recorder = dependencies.recorder
    this.#runs = new RunRecordings({ ...dependencies, loads: this.#loads })
    this.#backgroundReader = new BackgroundReader(dependencies.startWorker)
    this.memory = {
      workers: {
        bytes: () => loaded.countWorkerBytes(),
        shrink: (bytes: number) => loaded.shrinkWorkers(bytes),
      },
      answers: {
        bytes: async () => loaded.countResultBytes(),
        shrink: async (bytes: number) => loaded.shrinkResults(bytes),
      },
    }
  }

  /** Lists a folder, or all roots and the runs, sorted by path. A missing folder yields an empty list. */
  async list(
    directory?: string,
  ): Promise<{ readonly searched: readonly string[]; readonly listings: readonly Listing[] }> {
    await this.#removeUnusedCopies()
    const { catalogue, roots, limits } = this.#dependencies
    const { searched, listings } = await listRecordings(
      { catalogue, roots, limits: limits.scan, isExcluded: this.#isInDataFolder },
      directory,
    )
    return { searched, listings: directory === undefined ? [...this.#runs.list(), ...listings] : listings }
  }

  /** Copies and checks a new or changed file; `progress` is in bytes. Throws a `RecordingError`. */
  async open(idOrPath: string, options: OpenOptions = {}): Promise<OpenResult> {
    const run = this.#runs.find(idOrPath)
    if (run !== undefined) return this.#runs.open(run, options)
    return this.#openSource(await this.#readSource(idOrPath), options)
  }

  async #openSource(source: SourceFile, options: OpenOptions): Promise<OpenResult> {
    const { copies, loaded } = this.#dependencies
    const { path, key, size } = source
    const current = await loaded.use(key)
    if (current) return { recording: current.recording, reloaded: false }
    const { maxCopyBytes = Number.POSITIVE_INFINITY } = options
    if (size > maxCopyBytes && (await copies.find(key)) === undefined)
      throw new RecordingError('TAIL_TOO_LARGE', `the recording has ${size} bytes: ${basename(path)}`, {
        data: { path, size_bytes: size, limit_bytes: maxCopyBytes },
      })
    try {
      return await this.#loads.run(key, (shared) => this.#load(source, shared), options)
    } catch (error) {
      if (isFinal(error))
        this.#dependencies.catalogue.putCheck({ path, key, reason: error.code, total_frames: null })
      throw error
    }
  }

  get summaries(): RunSummaries {
    return this.#dependencies.catalogue.summaries
  }

  /** Analyses a sealed run. */
  analyseInBackground(
    run: string,
    request: (summary: RecordingSummary) => AnalysisRequest | null,
  ): Promise<{ readonly summary: RecordingSummary; readonly result: unknown }> {
    const file = this.recorder.findFile(run)
    if (file === undefined)
      throw new RecordingError('RECORDING_NOT_FOUND', `the recorder has no recording ${run}`, {
        data: { recording: run },
      })
    return this.#backgroundReader.analyse(file, request)
  }

  /**
   * Imports and opens a file of another tool. Stores a given `mapping`; otherwise uses that in the file next to the
   * imported one, or the stored one. Throws the errors of `open`, and `MAPPING_NEEDED`.
   */
  async importFile(
    idOrPath: string,
    mapping: object | undefined,
    options: OpenOptions = {},
  ): Promise<OpenResult & { readonly notes: readonly string[] }> {
    const { catalogue } = this.#dependencies
    const mappingText = mapping && JSON.stringify(mapping)
    const source = await this.#readSource(idOrPath, mappingText)
    const result = await this.#openSource(source, options)
    const { notes = [] } = catalogue.findImport(source.path) ?? {}
    if (mappingText !== undefined) catalogue.putImport(source.path, { mapping: mappingText, notes })
    return { ...result, notes }
  }

  async #readSource(idOrPath: string, requestedMapping?: string): Promise<SourceFile> {
    const path = await this.#locate(idOrPath)
    const { mapping } = this.#dependencies.catalogue.findImport(path) ?? {}
    return readSourceFile(path, { requestedMapping, storedMapping: mapping ?? undefined })
  }

  /** Imports a recording as a run. Throws the errors of `open` and of the recorder. */
  async importRecording(name: string, idOrPath: string, options: OpenOptions = {}): Promise<RunState> {
    const path = await this.#locate(idOrPath)
    const isImportedFile = await isImported(path)
    if (isFrameFile(path) && !isImportedFile)
      return withFrameFile(path, options, (body, expectedBytes) =>
        this.recorder.importStream(name, body, { expectedBytes }),
      )
    await this.open(path, options)
    const file = await this.#dependencies.copies.find((await this.#readSource(path)).key)
    if (file !== undefined)
      return isImportedFile ? this.recorder.importRun(name, file) : this.recorder.importCopy(name, file)
    throw new RecordingError('RECORDING_BUSY', `the recording changed during the import: ${path}`, {
      data: { path },
    })
  }

  health() {
    const { copies, loaded } = this.#dependencies
    return { ...copies.health(), loaded: loaded.openCount, preparing: loaded.preparingCount }
  }

  async close(): Promise<void> {
    await this.#backgroundReader.close()
    await this.recorder.close()
    await this.#loads.stop()
    await this.#dependencies.loaded.close()
    this.#dependencies.catalogue.close()
  }

  readonly #isInDataFolder = (path: string): boolean => {
    const { dir } = this.#dependencies
    return path === dir || path.startsWith(dir + sep)
  }

  async #locate(idOrPath: string): Promise<string> {
    const { roots, catalogue } = this.#dependencies
    const knownPath = catalogue.findPath(idOrPath)
    const path =
      (knownPath && (await resolveExisting(roots, knownPath))) ??
      (await resolveExisting(roots, idOrPath)) ??
      (await this.#findListedPath(idOrPath))
    if (path === undefined)
      throw new RecordingError('RECORDING_NOT_FOUND', `recording not found: ${idOrPath}`, {
        data: { recording: idOrPath, searched: roots.folders() },
      })
    // The server has these files open through SQLite, whose locks another reader would release.
    if (this.#isInDataFolder(path))
      throw new CausewayError('OUTSIDE_ROOTS', `the file belongs to the server's own data: ${path}`, {
        data: { path },
        remedy: 'give the file that the recorder wrote',
      })
    return toBagFolder(path)
  }

  async #findListedPath(idOrName: string): Promise<string | undefined> {
    if (idOrName.includes('/') || idOrName.includes(sep)) return undefined
    const { listings } = await this.list()
    const matches = listings.filter(({ id, name }) => id === idOrName || name === idOrName)
    const match = matches.find(({ id }) => id === idOrName) ?? (matches.length === 1 ? matches[0] : undefined)
    return match?.path
  }

  async #load({ path, key, listKey, size, mapping }: SourceFile, options: CallOptions): Promise<OpenResult> {
    const { catalogue, copies, loaded } = this.#dependencies
    const identity = { id: catalogue.getId(path), path, name: basename(path), size_bytes: size }
    const entry =
      (await this.#loadCopy(key, identity, options)) ?? (await this.#copyAndLoad(identity, mapping, options))
    const olderCopies = copies.listOthers(path, entry.key)
    await loaded.add(entry)
    for (const snapshot of olderCopies) await this.#discardIdle(snapshot)
    const { frames, bodies, first_time_s, last_time_s, era } = entry.recording.summary
    catalogue.putCheck({
      path,
      // The keys differ if the file changed meanwhile.
      key: entry.key === key ? listKey : entry.key,
      reason: null,
      total_frames: frames?.total_frames ?? 0,
      bodies: bodies.length,
      duration_s: first_time_s === null || last_time_s === null ? null : last_time_s - first_time_s,
      era,
    })
    return { recording: entry.recording, reloaded: olderCopies.length > 0 }
  }

  /** Loads a copy, or discards it if it is unreadable. */
  async #loadCopy(
    key: string,
    identity: RecordingIdentity,
    options: CallOptions,
  ): Promise<LoadedRecording | undefined> {
    const { copies, loaded, log, startWorker } = this.#dependencies
    const file = await copies.find(key)
    if (file === undefined) return undefined
    copies.touch(key)
    try {
      return await initializeWorker(startWorker(), (link) =>
        loadRecording(link, { key, file, identity, startWorker }, options),
      )
    } catch (error) {
      if (!isUnreadable(error)) throw error
      log?.warn({ err: error, recording: identity.id }, 'replacing an unreadable private copy')
      await loaded.discard(key)
      return undefined
    }
  }

  async #copyAndLoad(
    identity: RecordingIdentity,
    mapping: string | undefined,
    options: CallOptions,
  ): Promise<LoadedRecording> {
    const { catalogue, copies, loaded, limits, startWorker } = this.#dependencies
    const { path, size_bytes } = identity
    return initializeWorker(startWorker(), async (link) => {
      await copies.makeRoom(size_bytes, (snapshot) => loaded.release(snapshot))
      const args = {
        source: path,
        mapping,
        folder: copies.folder,
        maxForegroundIndexBytes: limits.maxForegroundIndexBytes,
      }
      const { key, bytes, notes } = (await isImported(path))
        ? await callWithStallLimit(link, args, { ...options, limitMs: limits.importStallMs })
        : await link.call('copy', args, options)
      if (notes !== null) catalogue.putImport(path, { mapping: null, notes })
      const file = copies.add(key, path, bytes)
      return loadRecording(link, { key, file, identity, startWorker }, options)
    })
  }

  async #removeUnusedCopies(): Promise<void> {
    const { catalogue, copies, loaded } = this.#dependencies
    for (const snapshot of catalogue.listSnapshots()) {
      if (!(await exists(snapshot.path))) await loaded.discard(snapshot.key)
      else if (copies.isSuperseded(snapshot)) await this.#discardIdle(snapshot)
    }
  }

  async #discardIdle(snapshot: Snapshot): Promise<void> {
    if (await this.#dependencies.loaded.release(snapshot))
      await this.#dependencies.copies.remove(snapshot.key)
  }
}
