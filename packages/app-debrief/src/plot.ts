/** An open plot, as tools, routes and resources see it. */
import type { Live } from './live.ts'
import type { Change, Prepared } from './plot-methods.ts'
import type { Answers, Query } from './plot-query.ts'
import type { FileStanding } from './standing.ts'

/** What every answer about a plot says of it. */
export interface PlotStamp {
  readonly filename: string
  readonly rev: number
  /** the file does not have the latest changes yet */
  readonly dirty: boolean
  /** only where something is the matter with the file */
  readonly file?: FileStanding
  readonly file_message?: string
}

/** Who wants a change. */
export interface Requester {
  readonly requestId: string
  readonly client: { readonly name: string }
}

/** A wanted change, and the answer that is kept with it. */
export interface ChangeCall<Answer> {
  readonly change: Change
  /** refuse the change unless the plot is at this revision */
  readonly ifRev?: number | undefined
  readonly answer: (made: Prepared, stamp: PlotStamp) => Answer
}

/** An open plot. */
export interface Plot {
  readonly filename: string
  readonly path: string
  readonly live: Live
  /** An answer, and what the plot was like when it was given. */
  read<Asked extends Query>(
    query: Asked,
  ): Promise<{ readonly data: Answers[Asked['kind']]; readonly stamp: PlotStamp }>
  /** Reads and begins something in one turn, so that no change comes between. */
  begin<Asked extends Query, T>(
    query: Asked,
    start: (data: Answers[Asked['kind']], rev: number) => T,
  ): Promise<T>
  /** One transaction; a repeat of the same request gets the answer of the first. */
  change<Answer>(by: Requester, call: ChangeCall<Answer>): Promise<Answer>
  /** Writes the file now. Throws as `writePlot` does. */
  save(isForced?: boolean): Promise<PlotStamp>
  /** Takes the file as it is; what it replaces can be had again by undo. */
  reload(by: Requester): Promise<PlotStamp>
  /** Writes another file; gives its path. */
  saveCopy(filename: string): Promise<string>
  /** Looks whether another program wrote the file. */
  check(): Promise<void>
  stamp(): PlotStamp
  readonly bytes: number
  readonly warnings: readonly string[]
  readonly isInWorker: boolean
  /** Saves what is new and gives the memory back; the next call reads the plot again. */
  release(): Promise<void>
  /** False while it has steps to undo that are only in memory. */
  readonly isReleasable: boolean
  /** Bytes of memory that it takes, in this thread about; 0 once it was released. */
  memoryBytes(): Promise<number>
  /** Milliseconds since somebody last asked for anything. */
  idleMs(): number
  /** Saves what is new and lets go of the plot. */
  close(): Promise<void>
}
