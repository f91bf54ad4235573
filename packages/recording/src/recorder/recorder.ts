import { mkdirSync, rmSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CausewayError, isCausewayError, reviseError } from '@causeway/protocol'
import { RecordingError } from '../errors.ts'
import type { RunStatus } from '../formats/run-schema.ts'
import type { RunEntry } from '../library/catalogue.ts'
import { removeCopy, storeUpload } from '../library/copy.ts'
import { exists } from '../library/snapshot-cache.ts'
import type { LiveRun } from './live-run.ts'
import { getRunSize, LiveRuns, type LiveRunsOptions } from './live-runs.ts'
import type { IngestCounts } from './recorder-methods.ts'

export type { RecorderLimits } from './live-runs.ts'

export interface RunState {
  /** Id of the recording, which tools accept. */
  readonly recording: string
  readonly name: string
  readonly status: RunStatus
  readonly total_frames: number
  readonly first_frame_id: number | null
  /** Last stored frame. */
  readonly last_frame_id: number | null
  readonly size_bytes: number
}

type IngestResult = Pick<RunState, 'recording' | 'last_frame_id'> & IngestCounts

interface RecorderOptions extends Omit<LiveRunsOptions, 'folder'> {
  readonly dir: string
  readonly onRemove: (name: string) => Promise<void>
}

interface WriteOptions {
  readonly isNew?: boolean
  /** Size of the body in bytes, if known. */
  readonly expectedBytes?: number
}

/** A C++ recorder database that the caller removes. */
interface ExportedFile {
  readonly file: string
  remove(): Promise<void>
}

const namePattern = /^[A-Za-z0-9._-]{1,64}$/

export async function openRecorder(options: RecorderOptions): Promise<Recorder> {
  const recorder = new Recorder(options)
  await recorder.recover()
  return recorder
}

export class Recorder {
  readonly #options: RecorderOptions
  readonly #folder: string
  readonly #exports: string
  readonly #live: LiveRuns

  constructor(options: RecorderOptions) {
    this.#options = options
    this.#folder = join(options.dir, 'recordings')
    this.#exports = join(options.dir, 'exports')
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    rmSync(this.#exports, { recursive: true, force: true })
    this.#live = new LiveRuns({ ...options, folder: this.#folder })
  }

  /** Updates the catalogue from the run files, which are authoritative after a crash. Removes expired runs. */
  async recover(): Promise<void> {
    const { catalogue, now } = this.#options
    const files = (await readdir(this.#folder)).filter((file) => file.endsWith('.db'))
    const names = files.map((file) => file.slice(0, -3))
    for (const { name } of catalogue.listRuns()) if (!names.includes(name)) catalogue.removeRun(name)
    for (const name of names) {
      if ((catalogue.findRun(name)?.status ?? 'live') !== 'live') continue
      try {
        await this.#live.suspend(await this.#live.open(name))
      } catch (error) {
        this.#live.logFailure(name, error)
        const bytes = await getRunSize(this.#getFile(name))
        const unknownProgress = { total_frames: 0, first_frame: null, last_frame: null }
        catalogue.putRun({ name, status: 'interrupted', ...unknownProgress, bytes, updated_ms: now() })
      }
    }
    await this.#removeExpired()
  }

  /**
   * Stores the frames of a stream of JSON lines or MCAP. If the stream ends early, stores its complete lines.
   * Accepts and ignores frames that are already stored. Throws `INVALID_FRAME`, `FRAME_CONFLICT`,
   * `RECORDING_FINISHED` and `DATA_UNWRITABLE` with the line and the frames accepted before it, `RECORDING_IN_USE`,
   * `CANCELLED`, and, with `isNew`, `RECORDING_EXISTS`.
   */
  async write(
    name: string,
    body: AsyncIterable<Uint8Array>,
    { isNew = false, expectedBytes }: WriteOptions = {},
  ): Promise<IngestResult> {
    const { catalogue } = this.#options
    this.#requireFree(checkName(name))
    if (catalogue.findRun(name) === undefined) await this.#removeExpired()
    const run = await this.#live.enqueue(name, async () => {
      this.#requireFree(name)
      if (isNew) await this.#requireNew(name)
      const opened = await this.#live.open(name, expectedBytes)
      opened.begin()
      return opened
    })
    const recording = catalogue.getId(this.#getFile(name))
    const { accepted, ignored, last_frame_id } = await run.write(body)
    return { recording, accepted, ignored, last_frame_id }
  }

  /** Throws `RECORDING_NOT_FOUND`. */
  async state(name: string): Promise<RunState> {
    const { catalogue } = this.#options
    const run = this.#live.get(checkName(name))
    const entry = run ? await this.#live.getEntry(run) : catalogue.findRun(name)
    if (entry === undefined)
      throw new RecordingError('RECORDING_NOT_FOUND', `the recorder has no recording ${name}`, {
        data: { recording: name },
      })
    const file = this.#getFile(name)
    return {
      recording: catalogue.getId(file),
      name,
      status: entry.status,
      total_frames: entry.total_frames,
      first_frame_id: entry.first_frame,
      last_frame_id: entry.last_frame,
      size_bytes: await getRunSize(file),
    }
  }

  /** Finishes a run permanently. Idempotent. */
  async finish(name: string): Promise<RunState> {
    this.#requireFree(checkName(name))
    return this.#live.enqueue(name, async () => {
      const { status } = await this.state(name)
      this.#requireFree(name)
      if (status !== 'finished' || this.#live.get(name))
        await this.#live.close(await this.#live.open(name), 'finished')
      return this.state(name)
    })
  }

  async remove(name: string): Promise<void> {
    this.#requireFree(checkName(name))
    return this.#live.enqueue(name, async () => {
      await this.state(name)
      this.#requireFree(name)
      await this.#removeFile(name)
      this.#options.catalogue.summaries.remove(this.getId(name))
    })
  }

  async export(name: string): Promise<ExportedFile> {
    await this.state(name)
    try {
      return await this.#exportFile(this.#getFile(name))
    } catch (error) {
      // If the run was removed during the export, throws `RECORDING_NOT_FOUND`.
      await this.state(name)
      throw error
    }
  }

  async #exportFile(run: string): Promise<ExportedFile> {
    const file = this.#createExportPath()
    const remove = (): Promise<void> => rm(file, { force: true })
    const link = this.#options.startWorker()
    try {
      await link.call('runExport', { file: run, to: file })
    } catch (error) {
      await remove()
      throw error
    } finally {
      await link.stop()
    }
    return { file, remove }
  }

  /**
   * Creates a run from a stream. On failure, stores nothing. The run is finished if the stream is complete, otherwise
   * interrupted. Throws the errors of `write`, and `RECORDING_EXISTS`.
   */
  importStream(
    name: string,
    body: AsyncIterable<Uint8Array>,
    { expectedBytes }: Pick<WriteOptions, 'expectedBytes'> = {},
  ): Promise<RunState> {
    const fill = async (run: LiveRun): Promise<RunStatus> => {
      run.begin()
      try {
        const { isTruncated } = await run.write(body)
        return isTruncated ? 'interrupted' : 'finished'
      } catch (error) {
        throw toImportError(error)
      }
    }
    return this.#create(name, fill, expectedBytes)
  }

  /** Creates a finished run from a private copy. Throws `RECORDING_EXISTS`. */
  importCopy(name: string, copy: string): Promise<RunState> {
    return this.#create(name, async (run) => {
      await run.import(copy)
      return 'finished'
    })
  }

  /**
   * Creates a finished run from the bytes of a C++ recorder's database. On failure, stores nothing. Throws
   * `RECORDING_EXISTS`, `NOT_A_DATABASE`, `NOT_A_RECORDING`, `RECORDING_DAMAGED`, `DATA_UNWRITABLE` and `CANCELLED`.
   */
  importUpload(name: string, body: AsyncIterable<Uint8Array>): Promise<RunState> {
    return this.#create(name, async (run) => {
      run.begin()
      const file = this.#createExportPath()
      try {
        await storeUpload(body, file, this.#options.limits.maxBytes)
        await run.import(file, { isUnchecked: true })
        return 'finished'
      } finally {
        await removeCopy(file)
      }
    })
  }

  /** Creates a finished run from a private copy of a run. Throws `RECORDING_EXISTS`. */
  async importRun(name: string, copy: string): Promise<RunState> {
    const { file, remove } = await this.#exportFile(copy)
    try {
      return await this.importCopy(name, file)
    } finally {
      await remove()
    }
  }

  listRuns(): readonly RunEntry[] {
    const entries = this.#options.catalogue.listRuns().map((entry) => this.#live.update(entry))
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  getRevision(name: string): string {
    const { status, total_frames } =
      this.#live.get(name)?.progress ?? this.#options.catalogue.findRun(name) ?? {}
    return `${status}/${total_frames}`
  }

  getId(name: string): string {
    return this.#options.catalogue.getId(this.#getFile(name))
  }

  findEntry(name: string): RunEntry | undefined {
    const entry = this.#options.catalogue.findRun(name)
    return entry && this.#live.update(entry)
  }

  findFile(name: string): string | undefined {
    return this.#options.catalogue.findRun(name) && this.#getFile(name)
  }

  /** Returns figures for `/health`. Sizes include the write-ahead logs of live runs. */
  async health() {
    const runs = this.#options.catalogue.listRuns()
    const sizes = await Promise.all(
      runs.map(({ name, bytes }) => (this.#live.get(name) ? getRunSize(this.#getFile(name)) : bytes)),
    )
    return {
      runs: runs.length,
      live_runs: this.#live.size,
      run_bytes: sizes.reduce((sum, size) => sum + size, 0),
      run_cap_bytes: this.#options.limits.maxBytes,
    }
  }

  onStored(listener: (name: string) => void): void {
    this.#live.onStored(listener)
  }

  onSealed(listener: (name: string) => void): void {
    this.#live.onSealed(listener)
  }

  async close(): Promise<void> {
    await this.#live.closeAll()
  }

  #createExportPath(): string {
    mkdirSync(this.#exports, { recursive: true, mode: 0o700 })
    return join(this.#exports, `${crypto.randomUUID()}.db`)
  }

  #getFile(name: string): string {
    return join(this.#folder, `${name}.db`)
  }

  /** Called before and after waiting in the queue for the name, which an import occupies until it ends. */
  #requireFree(name: string): void {
    if (this.#live.get(name)?.isWriting)
      throw new RecordingError('RECORDING_IN_USE', `another client is writing the recording ${name}`, {
        data: { recording: name },
      })
  }

  async #requireNew(name: string): Promise<void> {
    if (await exists(this.#getFile(name)))
      throw new RecordingError('RECORDING_EXISTS', `the recording ${name} already exists`, {
        data: { recording: name },
      })
  }

  async #create(
    name: string,
    fill: (run: LiveRun) => Promise<RunStatus>,
    expectedBytes?: number,
  ): Promise<RunState> {
    this.#requireFree(checkName(name))
    if (this.#options.catalogue.findRun(name) === undefined) await this.#removeExpired()
    return this.#live.enqueue(name, async () => {
      await this.#requireNew(name)
      try {
        const run = await this.#live.open(name, expectedBytes)
        await this.#live.close(run, await fill(run))
      } catch (error) {
        await this.#removeFile(name)
        throw error
      }
      return this.state(name)
    })
  }

  async #removeFile(name: string): Promise<void> {
    const run = this.#live.get(name)
    if (run) await this.#live.close(run, 'interrupted').catch((error) => this.#live.logFailure(name, error))
    await this.#options.onRemove(name)
    this.#options.catalogue.removeRun(name)
    await removeCopy(this.#getFile(name))
  }

  async #removeExpired(): Promise<void> {
    const { catalogue, limits, now, log } = this.#options
    const idleRuns = catalogue.listRuns().filter(({ name }) => !this.#live.get(name))
    const sizes = await Promise.all(this.#live.names.map((name) => getRunSize(this.#getFile(name))))
    const liveBytes = sizes.reduce((sum, size) => sum + size, 0)
    for (const { name, bytes, updated_ms } of findExpired(idleRuns, liveBytes, limits, now())) {
      log?.warn({ recording: name, bytes, updated_ms }, 'a recording was removed to keep the limits')
      await this.#live.enqueue(name, async () => {
        if (!this.#live.get(name)) await this.#removeFile(name)
      })
    }
  }
}

/**
 * Returns the runs to remove: those older than `maxAgeMs`, then the first ones until the others and the live runs fit
 * into `maxBytes`. `runs` are sorted, least recently written first.
 */
function findExpired(
  runs: readonly RunEntry[],
  liveBytes: number,
  limits: LiveRunsOptions['limits'],
  nowMs: number,
): readonly RunEntry[] {
  let excess = liveBytes + runs.reduce((sum, { bytes }) => sum + bytes, 0) - limits.maxBytes
  return runs.filter(({ bytes, updated_ms }) => {
    const isOld = limits.maxAgeMs > 0 && nowMs - updated_ms > limits.maxAgeMs
    if (!isOld && excess <= 0) return false
    excess -= bytes
    return true
  })
}

function checkName(name: string): string {
  if (namePattern.test(name)) return name
  throw new CausewayError('INVALID_ARGUMENTS', `not a name of a recording: ${name.slice(0, 80)}`, {
    remedy: 'use 1 to 64 of the characters A-Z a-z 0-9 . _ -',
    data: { name: name.slice(0, 80) },
  })
}

function toImportError(error: unknown): unknown {
  if (!isCausewayError(error) || error.data.line === undefined) return error
  const remedy = RecordingError.is(error, 'INVALID_FRAME')
    ? 'correct the line named in data.line, and import the file again'
    : error.remedy
  return reviseError(error, {
    remedy,
    data: { ...error.data, accepted: 0, ignored: 0, last_frame_id: null },
  })
}
