import type { RunEntry } from '../catalogue.ts'
import type { RunStatus } from './run-schema.ts'

/** How a run stands. */
export interface RunState {
  /** id by which every tool takes it */
  readonly recording: string
  readonly name: string
  readonly status: RunStatus
  readonly total_frames: number
  readonly first_frame_id: number | null
  /** last frame that is stored; frames up to it are acknowledged and ignored when they are sent again */
  readonly last_frame_id: number | null
  readonly size_bytes: number
}

/** What the lines of one request have done so far. */
export interface Ingested {
  /** frames that were new */
  readonly accepted: number
  /** frames that were stored already */
  readonly ignored: number
}

/** Answer to frames that were sent. */
export type Recorded = Pick<RunState, 'recording' | 'last_frame_id'> & Ingested

/** Bounds of what is recorded; each has a default. */
export interface RecorderLimits {
  /** bytes of all runs; the ones written longest ago go first, a live one never, and no run grows beyond it */
  readonly bytes: number
  /** ms after which a run that is not live is removed; 0 keeps it */
  readonly ageMs: number
  /** runs recorded at once, each in a worker thread */
  readonly live: number
  /** ms without a frame after which a run counts as interrupted */
  readonly idleMs: number
}

/** Records runs of engines into files of our own. */
export interface Recorder {
  /**
   * Stores the lines of a body that streams; it is read no faster than it is stored. Frames that are stored already are
   * acknowledged and ignored. Throws `INVALID_FRAME`, `FRAME_CONFLICT`, `RECORDING_FINISHED` and `DATA_UNWRITABLE` with
   * the line, and with what was accepted before it; `RECORDING_IN_USE` while somebody else sends frames of this name;
   * `CANCELLED` where the body broke off: whole lines are then kept.
   */
  write(name: string, body: AsyncIterable<Uint8Array>): Promise<Recorded>
  /** Throws `RECORDING_NOT_FOUND`. */
  state(name: string): Promise<RunState>
  /** Ends a run for good; again is the same as once. */
  finish(name: string): Promise<RunState>
  /** Removes a run with its file. */
  remove(name: string): Promise<void>
  /** Writes a run as a recording of the C++ recorder; the caller removes the file. */
  export(name: string): Promise<{ readonly file: string; remove(): Promise<void> }>
  /**
   * Fills a new run with the lines of a body and ends it. All of them or, where that throws as `write` does, nothing;
   * `RECORDING_EXISTS` where there is a run of this name.
   */
  importLines(name: string, body: AsyncIterable<Uint8Array>): Promise<RunState>
  /** Fills a new run from a private copy of a recording of the C++ recorder; throws `RECORDING_EXISTS`. */
  importCopy(name: string, copy: string): Promise<RunState>
  /** Every run, in order of the names. */
  runs(): readonly RunEntry[]
  /** Another one whenever frames were stored or the run has ended. */
  revision(name: string): string
  /** The file of a run, if there is one of this name. */
  fileOf(name: string): string | undefined
  /** Numbers for `/health`: runs, those being written, their bytes on disk with what is not yet folded in, and the cap. */
  health(): Promise<{
    readonly runs: number
    readonly live_runs: number
    readonly run_bytes: number
    readonly run_cap_bytes: number
  }>
  /** Hears of flushes by the name of the run. */
  onStored(listener: (name: string) => void): void
  close(): Promise<void>
}
