/** Worker with an analysis that returns its thread and the number of windows it read from tables. */
import { threadId } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { type Analyses, serveRecording } from '../src/reader/serve-recording.ts'

/** Result of `count`. `run` differs in every call. */
export interface Counted {
  readonly frames: number
  readonly run: string
  readonly thread: number
  /** Number of windows read from the tables of the copy so far. */
  readonly fromTables: number
}

const analyses: Analyses = {
  /** Ends the thread in the middle of a call. */
  die: () => process.exit(3),
  async count(_args: never, { windows, signal, progress }): Promise<Counted> {
    let frames = 0
    for await (const { from, to } of windows.over({ start: null, end: null }, { signal, progress }))
      frames += to - from
    return { frames, run: crypto.randomUUID(), thread: threadId, fromTables: windows.fromTables }
  },
  /** Fails like a read of a damaged page. */
  async fail(_args: never, { windows, signal, progress }) {
    for await (const _ of windows.over({ start: null, end: null }, { signal, progress }))
      throw new Database.SqliteError('database disk image is malformed', 'SQLITE_CORRUPT')
  },
}

serveRecording(analyses)
