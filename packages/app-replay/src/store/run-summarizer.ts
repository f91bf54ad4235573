import type { Env } from '@causeway/app-kit'
import type { Recording, RecordingLibrary, RecordingSummary, RunSummary } from '@causeway/recording'
import type { CheckFramesResult } from '../analysis/check-frames.ts'
import { summarizeRun, type WholeDiagnosis } from '../domain/runs/summarize-run.ts'
import { listPrecomputedAnalyses } from '../session/diagnose.ts'

/** Delay in ms, so that a diagnosis does not slow down a series of runs. */
const startDelayMs = 2000

/** Diagnoses sealed runs in the background, one by one. */
export class RunSummarizer {
  readonly #library: RecordingLibrary
  readonly #log: Env['log']
  readonly #now: Env['now']
  readonly #pending = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> | undefined
  #hasScanned = false
  #isClosed = false

  constructor(library: RecordingLibrary, { log, now }: Pick<Env, 'log' | 'now'>) {
    this.#library = library
    this.#log = log
    this.#now = now
    library.recorder.onSealed((run) => this.#enqueue(run))
  }

  /** Returns summaries, and starts the diagnosis of the `waiting` sealed runs that lack one. */
  list(scenario?: string): { readonly runs: readonly RunSummary[]; readonly waiting: number } {
    if (!this.#hasScanned) this.#scan()
    this.#start()
    const runs = this.#library.summaries.list(scenario)
    const knownIds = new Set(runs.map(({ recording }) => recording))
    const waiting = [...this.#pending].filter((run) => !knownIds.has(this.#getId(run)) && this.#exists(run))
    return { runs, waiting: waiting.length }
  }

  find(recording: string): RunSummary | undefined {
    return this.#library.summaries.find(recording)
  }

  put(summary: RunSummary): void {
    this.#library.summaries.put(summary)
  }

  /** Stores the summary of a recording, unless its run is still live. */
  add({ identity, summary }: Recording, diagnosis: WholeDiagnosis): void {
    const { id, name, run, size_bytes } = identity
    if (run !== undefined) {
      if (!this.#getRevision(run).startsWith('live')) this.#putRun(run, summary, diagnosis)
      return
    }
    const revision = `file/${summary.frames?.total_frames ?? 0}/${size_bytes}`
    const sealed_ms = this.#library.summaries.find(id)?.sealed_ms ?? this.#now()
    const file = { recording: id, name, revision, sealed_ms, status: 'file' } as const
    this.#library.summaries.put(summarizeRun(file, summary, diagnosis))
  }

  async waitUntilSettled(): Promise<void> {
    this.#start()
    await this.#work
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #enqueue(run: string): void {
    if (this.#isClosed) return
    this.#pending.add(run)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#start(), startDelayMs).unref()
  }

  /** Finds runs that an earlier process did not diagnose. */
  #scan(): void {
    this.#hasScanned = true
    const summaries = new Map(this.#library.summaries.list().map((summary) => [summary.recording, summary]))
    for (const { name, status } of this.#library.recorder.listRuns()) {
      const existing = summaries.get(this.#getId(name))
      const isCurrent = existing?.revision === this.#getRevision(name) && existing.verdict !== null
      if (status !== 'live' && !isCurrent) this.#pending.add(name)
    }
  }

  #start(): void {
    if (this.#pending.size === 0 || this.#isClosed) return
    clearTimeout(this.#timer)
    this.#work ??= this.#diagnosePending()
      .catch((err: unknown) => this.#log.warn({ err }, 'sealed runs were not diagnosed'))
      .finally(() => {
        this.#work = undefined
      })
  }

  async #diagnosePending(): Promise<void> {
    for (const run of this.#pending) {
      if (this.#isClosed) return
      await this.#diagnose(run)
      this.#pending.delete(run)
    }
  }

  async #diagnose(run: string): Promise<void> {
    try {
      const { summary, result } = await this.#library.analyseInBackground(run, (recordingSummary) => {
        if (this.#library.summaries.find(this.#getId(run)) === undefined)
          this.#putRun(run, recordingSummary, null)
        const [request] = listPrecomputedAnalyses(recordingSummary)
        return request ?? null
      })
      if (result !== null) this.#putRun(run, summary, result as CheckFramesResult)
    } catch (error) {
      if (this.#exists(run) && !this.#isClosed)
        this.#log.warn({ err: error, run }, 'a sealed run was not diagnosed')
    }
  }

  #putRun(run: string, summary: RecordingSummary, diagnosis: WholeDiagnosis | null): void {
    const entry = this.#library.recorder.findEntry(run)
    if (entry === undefined || entry.status === 'live') return
    const { status, updated_ms: sealed_ms } = entry
    const identity = {
      recording: this.#getId(run),
      name: run,
      revision: this.#getRevision(run),
      sealed_ms,
      status,
    }
    this.#library.summaries.put(summarizeRun(identity, summary, diagnosis))
  }

  /** Runs can be removed while they wait. */
  #exists(run: string): boolean {
    return this.#library.recorder.findEntry(run) !== undefined
  }

  #getId(run: string): string {
    return this.#library.recorder.getId(run)
  }

  #getRevision(run: string): string {
    return this.#library.recorder.getRevision(run)
  }
}
