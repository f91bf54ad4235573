/** Entry file of a worker whose analysis returns its thread and the source of the frames. */
import { threadId } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { type Analyses, serveRecording } from '../src/reader/serve-recording.ts'

/** What `count` answers: no two runs answer the same. */
export interface Counted {
  readonly frames: number
  readonly run: string
  readonly thread: number
  /** windows that were read from the tables of the copy, until now */
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
  /** Fails as a read of a damaged page does. */
  async fail(_args: never, { windows, signal, progress }) {
    for await (const _ of windows.over({ start: null, end: null }, { signal, progress }))
      throw new Database.SqliteError('database disk image is malformed', 'SQLITE_CORRUPT')
  },
}

serveRecording(analyses)
