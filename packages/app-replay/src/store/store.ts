import { join } from 'node:path'
import { type Cache, type DataPart, type Env, numberSetting } from '@causeway/app-kit'
import { openPicture } from '@causeway/picture'
import {
  catalogueMigrations,
  libraryDefaults,
  type OpenOptions,
  type OpenResult,
  openLibrary,
  type RecordingIdentity,
  type RecordingLibrary,
  runMigrations,
} from '@causeway/recording'
import { resolveWorkerFile } from '@causeway/worker'
import { listPrecomputedAnalyses } from '../session/diagnose.ts'
import { Lake } from './lake.ts'
import { Notebook, notebookMigrations } from './notebook.ts'
import { maxCharacters, PictureCache } from './picture-cache.ts'
import { RunSummarizer } from './run-summarizer.ts'

const listNames = (migrations: readonly { readonly name: string }[]) => migrations.map(({ name }) => name)

export const replayData: readonly DataPart[] = [
  { path: 'snapshots/', kind: 'passing' },
  { path: 'exports/', kind: 'passing' },
  { path: 'lake/', kind: 'passing' },
  { path: 'recordings/*-columns', kind: 'passing' },
  { path: 'recordings/*-answers', kind: 'passing' },
  { path: 'recordings/*.db', kind: 'database', schema: listNames(runMigrations) },
  {
    path: 'recordings.db',
    kind: 'database',
    schema: listNames(catalogueMigrations),
    paths: ['recording.path'],
    // Backups do not contain private copies. The state of runs is read from their files again.
    restored: `DELETE FROM snapshot; UPDATE run SET status = 'live';`,
  },
  { path: 'replay.db', kind: 'database', schema: listNames(notebookMigrations) },
]

/** Minimum time between notifications about a run's new frames, in ms. */
const growthNoticeMs = 200

export class ReplayStore {
  readonly pictures: PictureCache
  readonly notebook: Notebook
  readonly runs: RunSummarizer
  readonly lake: Lake
  readonly #library: RecordingLibrary
  readonly #changed: Env['changed']
  readonly #opened = new Map<string, RecordingIdentity>()
  /** Runs whose growth was reported less than `growthNoticeMs` ago. */
  readonly #recentNotices = new Map<string, { readonly timer: NodeJS.Timeout; hasGrown: boolean }>()

  constructor(
    library: RecordingLibrary,
    dependencies: Pick<Env, 'changed' | 'now' | 'log'> & {
      readonly pictures: PictureCache
      readonly notebook: Notebook
      readonly lake: Lake
    },
  ) {
    this.#library = library
    this.pictures = dependencies.pictures
    this.notebook = dependencies.notebook
    this.lake = dependencies.lake
    this.#changed = dependencies.changed
    this.runs = new RunSummarizer(library, dependencies)
    library.recorder.onStored((run) => this.#reportGrowth(run))
  }

  get recorder(): RecordingLibrary['recorder'] {
    return this.#library.recorder
  }

  list(directory?: string): ReturnType<RecordingLibrary['list']> {
    return this.#library.list(directory)
  }

  /** Opens a recording. Notifies clients if the file is new or has changed. */
  async open(idOrPath: string, options: OpenOptions = {}): ReturnType<RecordingLibrary['open']> {
    return this.#reportOpened(await this.#library.open(idOrPath, options))
  }

  async importFile(
    ...args: Parameters<RecordingLibrary['importFile']>
  ): ReturnType<RecordingLibrary['importFile']> {
    return this.#reportOpened(await this.#library.importFile(...args))
  }

  #reportOpened<Result extends OpenResult>(result: Result): Result {
    const { identity } = result.recording
    const isNew = !this.#opened.has(identity.id)
    this.#opened.set(identity.id, identity)
    if (isNew) this.#changed.resources()
    if (result.reloaded)
      for (const part of ['metadata', 'frames/latest'])
        this.#changed.resource(recordingUri(identity.id, part))
    return result
  }

  importRecording(
    ...args: Parameters<RecordingLibrary['importRecording']>
  ): ReturnType<RecordingLibrary['importRecording']> {
    return this.#library.importRecording(...args)
  }

  /** Ordered by first use. */
  get opened(): readonly RecordingIdentity[] {
    return [...this.#opened.values()]
  }

  get caches(): readonly Cache[] {
    const { workers, answers } = this.#library.memory
    const { pictures } = this
    return [
      { name: 'recordings', costMs: 300, isInHeap: false, maxBytes: 2 * 1024 ** 3, ...workers },
      { name: 'answers', costMs: 800, isInHeap: true, maxBytes: 64 * 1024 ** 2, ...answers },
      {
        name: 'pictures',
        costMs: 1500,
        isInHeap: true,
        maxBytes: maxCharacters,
        bytes: () => pictures.bytes,
        shrink: (bytes) => pictures.shrink(bytes),
      },
    ]
  }

  async health(): Promise<Readonly<Record<string, unknown>>> {
    return { ...this.#library.health(), ...(await this.recorder.health()) }
  }

  async close(): Promise<void> {
    this.runs.close()
    await this.pictures.renderer.close()
    await this.#library.close()
    for (const { timer } of this.#recentNotices.values()) clearTimeout(timer)
    this.#recentNotices.clear()
    this.notebook.close()
  }

  /** Notifies clients immediately, and after `growthNoticeMs` again if the run has grown in the meantime. */
  #reportGrowth(run: string): void {
    const recentNotice = this.#recentNotices.get(run)
    if (recentNotice !== undefined) {
      recentNotice.hasGrown = true
      return
    }
    void this.recorder.state(run).then(
      ({ recording }) => this.#changed.resource(recordingUri(recording, 'frames/latest')),
      () => {}, // The run was removed.
    )
    const timer = setTimeout(() => {
      const hasGrown = this.#recentNotices.get(run)?.hasGrown === true
      this.#recentNotices.delete(run)
      if (hasGrown) this.#reportGrowth(run)
    }, growthNoticeMs)
    this.#recentNotices.set(run, { timer: timer.unref(), hasGrown: false })
  }
}

export const recordingUri = (id: string, part: string): string =>
  `replay://recordings/${encodeURIComponent(id)}/${part}`

export async function openReplayStore(env: Env): Promise<ReplayStore> {
  const { dir, roots, log, now, newId, changed, settings } = env
  const { snapshotBytes, recorder } = libraryDefaults
  const days = numberSetting(settings, 'recordingsMaxAgeDays')
  const limits = {
    snapshotBytes: numberSetting(settings, 'snapshotCapBytes') ?? snapshotBytes,
    recorder: {
      ...recorder,
      maxBytes: numberSetting(settings, 'recordingsCapBytes') ?? recorder.maxBytes,
      maxAgeMs: days === undefined ? recorder.maxAgeMs : days * 86_400_000,
    },
  }
  const pictures = new PictureCache(openPicture({ log }), newId)
  const notebook = new Notebook(dir, env)
  const worker = resolveWorkerFile('../analysis-worker', import.meta.url)
  const library = await openLibrary({
    dir,
    roots,
    log,
    now,
    limits,
    worker,
    analysesToPrepare: listPrecomputedAnalyses,
  })
  const lake = openLake(env, library)
  return new ReplayStore(library, { pictures, notebook, lake, changed, now, log })
}

function openLake({ dir, settings }: Env, { recorder }: RecordingLibrary): Lake {
  const { lakeFolder, clickHouseUrl: url, clickHouseSource: source } = settings
  const isShared = typeof lakeFolder === 'string'
  return new Lake({
    recorder,
    folder: isShared ? lakeFolder : join(dir, 'lake'),
    isShared,
    clickHouse: typeof url === 'string' && typeof source === 'string' ? { url, source } : undefined,
  })
}
