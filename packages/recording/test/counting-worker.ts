/** Worker with an analysis that returns its thread and the number of windows it read from tables. */
import { threadId } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { type Analyses, serveRecording } from '../src/reader/serve-recording.ts'

/** Result of `count`. `run` differs in every call. Times are milliseconds since the epoch. */
export interface Counted {
  readonly started: number
  readonly frames: number
  readonly run: string
  readonly thread: number
  /** Number of windows read from the tables of the copy so far. */
  readonly fromTables: number
}

const now = () => performance.timeOrigin + performance.now()

const analyses: Analyses = {
  /** Ends the thread in the middle of a call. */
  die: () => process.exit(3),
  async count(_args: never, { windows, signal, progress }): Promise<Counted> {
    const started = now()
    let frames = 0
    for await (const { from, to } of windows.over({ start: null, end: null }, { signal, progress }))
      frames += to - from
    return { started, frames, run: crypto.randomUUID(), thread: threadId, fromTables: windows.fromTables }
  },
  /** Occupies the worker for a time. Returns the time of its end. */
  occupy({ ms }: { readonly ms: number }): number {
    const end = now() + ms
    while (now() < end) {}
    return end
  },
  /** Fails like a read of a damaged page. */
  async fail(_args: never, { windows, signal, progress }) {
    for await (const _ of windows.over({ start: null, end: null }, { signal, progress }))
      throw new Database.SqliteError('database disk image is malformed', 'SQLITE_CORRUPT')
  },
}

serveRecording(analyses)
