import { join } from 'node:path'
import type { Env } from '@causeway/app-kit'
import type { Journal } from '../journal/journal.ts'
import type { PlotEvents } from '../live/plot-events.ts'
import type { PlotHolder } from '../memory/plot-holder.ts'

/**
 * In this order: the file is as last read or written here, changed by another program while the plot has unsaved
 * changes, invalid, missing, or not writable.
 */
type FileStatus = 'ok' | 'conflict' | 'invalid' | 'missing' | 'unsaved'

/** An open plot. The functions that load, change and save it run one at a time. */
export interface PlotRecord {
  readonly filename: string
  /** Real path. */
  readonly path: string
  readonly live: PlotEvents
  holder: PlotHolder
  rev: number
  savedRev: number
  sha256: string
  /** Signature of the file when last read or written, or `null` if it did not exist. */
  signature: string | null
  bytes: number
  file: FileStatus
  message: string
  checkedSignature: string | null | undefined
  warnings: readonly string[]
  /** Revision of the stored copy of unsaved changes, or 0. */
  rescueRev: number
}

export interface PlotStatus {
  readonly filename: string
  readonly rev: number
  readonly dirty: boolean
  readonly file?: FileStatus
  readonly file_message?: string
}

export interface PlotEnv extends Pick<Env, 'dir' | 'log' | 'now' | 'newId' | 'changed'> {
  readonly journal: Journal
  /** Pause between the last change and a save. */
  readonly saveAfterMs: number
  /** Interval of checks for other programs' changes. */
  readonly checkEveryMs: number
}

export function createStatus({ filename, rev, savedRev, file, message }: PlotRecord): PlotStatus {
  const status = { filename, rev, dirty: rev !== savedRev }
  return file === 'ok' ? status : { ...status, file, file_message: message }
}

/** Whether the file differs from the content last read or written here. */
export const isChangedExternally = (file: FileStatus): boolean => file !== 'ok' && file !== 'unsaved'

export function setFileStatus(plot: PlotRecord, file: FileStatus, message = ''): void {
  plot.file = file
  plot.message = message
}

export function notifyFileStatus({ live, rev, savedRev, file, message }: PlotRecord): void {
  const detail = message === '' ? '' : `,"message":${JSON.stringify(message)}`
  live.emit(rev, 'doc', `"saved_rev":${savedRev},"dirty":${rev !== savedRev},"file":"${file}"${detail}`)
}

/** The journal stores only the name of the copy, because the data folder can be moved. */
export const getRescuePath = (dir: string, name: string): string => join(dir, 'debrief-unsaved', name)
