/** Where an open plot stands: in memory, in the data file, and on disk. */
import { join } from 'node:path'
import type { Env } from '@causeway/app-kit'
import type { Journal } from './journal.ts'
import type { Live } from './live.ts'
import type { PlotHolder } from './plot-holder.ts'

/** What the file is to us: as we left it, changed by others while we had changes, unreadable, gone, or not writable. */
export type FileStanding = 'ok' | 'conflict' | 'invalid' | 'missing' | 'unsaved'

/** An open plot; changed in place by the functions that read, change and save it, one after the other. */
export interface Standing {
  readonly filename: string
  /** real path */
  readonly path: string
  holder: PlotHolder
  rev: number
  savedRev: number
  /** of the bytes that we last read or wrote */
  sha256: string
  /** of the file when we did; null where there was none */
  signature: string | null
  bytes: number
  file: FileStanding
  /** signature of a file of somebody else that was looked at already */
  judged: string | null | undefined
  /** why the file is not ok, for people */
  message: string
  /** what was odd in the file when it was read */
  warnings: readonly string[]
  /** revision of the copy that is kept while the file cannot be written */
  rescueRev: number
  readonly live: Live
}

/** What every function about plots may use. */
export interface PlotEnv extends Pick<Env, 'dir' | 'log' | 'now' | 'newId' | 'changed'> {
  readonly journal: Journal
  /** Waits this long for more changes before it saves, ms. */
  readonly saveAfterMs: number
  /** Looks this often whether other programs changed files, ms. */
  readonly checkEveryMs: number
}

/** A copy of a plot whose file cannot be written; rows name it without the folder, which may be moved. */
export const unsavedFile = (dir: string, name: string): string => join(dir, 'debrief-unsaved', name)

/** What views are told of the file. */
export function tellFile({ live, rev, savedRev, file, message }: Standing): void {
  const said = message === '' ? '' : `,"message":${JSON.stringify(message)}`
  live.tell(rev, 'doc', `"saved_rev":${savedRev},"dirty":${rev !== savedRev},"file":"${file}"${said}`)
}
