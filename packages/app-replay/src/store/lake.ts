import { createHash } from 'node:crypto'
import {
  ClickHouseLake,
  DuckDbLake,
  type LakeAnswer,
  type LakeQuery,
  type LakeRun,
  type Recorder,
} from '@causeway/recording'

interface LakeOptions {
  readonly recorder: Recorder
  readonly folder: string
  /** Whether a configured folder replaces the server's own. */
  readonly isShared: boolean
  readonly clickHouse: { readonly url: string; readonly source: string } | undefined
}

interface CallOptions {
  readonly signal: AbortSignal
  readonly progress: (done: number, total: number, message: string) => void
}

/** Maximum number of runs per call. */
const maxExportedRuns = 1000

export class Lake {
  readonly #recorder: Recorder
  readonly #files: DuckDbLake
  readonly #clickHouse: ClickHouseLake | undefined
  readonly #isExporting: boolean
  #currentExport: Promise<number> | undefined

  constructor({ recorder, folder, isShared, clickHouse }: LakeOptions) {
    this.#recorder = recorder
    this.#files = new DuckDbLake(folder, { isShared })
    this.#clickHouse = clickHouse && new ClickHouseLake(clickHouse)
    // With ClickHouse, other servers export the runs, unless this server uses a shared folder.
    this.#isExporting = clickHouse === undefined || isShared
  }

  get engine(): 'DuckDB' | 'ClickHouse' {
    return this.#clickHouse === undefined ? 'DuckDB' : 'ClickHouse'
  }

  /** Exports new sealed runs, then runs the query. Throws the engine's errors. */
  async runQuery(query: LakeQuery, options: CallOptions): Promise<LakeAnswer & { readonly waiting: number }> {
    const waiting = this.#isExporting ? await this.#exportNew(options) : 0
    const engine = this.#clickHouse ?? this.#files
    const isEmpty = engine === this.#files && (await this.#files.list()).size === 0
    const answer = isEmpty ? { rows: [], truncated: false } : await engine.runQuery(query, options)
    return { ...answer, waiting }
  }

  /** Returns the number of runs that remain for the next call. Concurrent calls share an export. */
  async #exportNew(options: CallOptions): Promise<number> {
    this.#currentExport ??= this.#exportBatch(options).finally(() => {
      this.#currentExport = undefined
    })
    return this.#currentExport
  }

  async #exportBatch(options: CallOptions): Promise<number> {
    const exportedFiles = await this.#files.list()
    const newRuns = this.#recorder.listRuns().flatMap(({ name, status }): LakeRun[] => {
      const file = this.#recorder.findFile(name)
      const fileName = this.#getFileName(name)
      const isDone = file === undefined || status === 'live' || exportedFiles.has(fileName)
      return isDone ? [] : [{ file, recording: name, name: fileName }]
    })
    await this.#files.export(newRuns.slice(0, maxExportedRuns), options)
    return Math.max(0, newRuns.length - maxExportedRuns)
  }

  /** Starts the name with the run's hash, so that a new file replaces the run's older ones. */
  #getFileName(run: string): string {
    const getHash = (text: string): string => createHash('sha256').update(text).digest('hex')
    const id = this.#recorder.getId(run)
    return `${getHash(`${id}\0${run}`).slice(0, 20)}-${getHash(this.#recorder.getRevision(run)).slice(0, 8)}`
  }
}
