import type { Call } from '@causeway/worker'

export const maxColumns = 10_000

export interface ColumnDescription {
  readonly name: string
  readonly type: 'number' | 'text'
  /** Number of values per row. Default: 1. */
  readonly width?: number
  readonly first?: unknown
}

export interface TopicDescription {
  readonly name: string
  readonly type: string
  readonly messages: number
}

export interface SourceDescription {
  readonly format: string
  readonly columns?: readonly ColumnDescription[]
  readonly topics?: readonly TopicDescription[]
  readonly rows?: number
  /** A mapping that fits the column names. Members that the user must decide are null. */
  readonly proposed_mapping: object | null
  /** How the proposal was decided, and what remains undecided. */
  readonly notes: readonly string[]
}

export interface Source {
  readonly format: string
  readonly needsMapping: boolean
  describe(call: Call): Promise<SourceDescription>
  /** Yields run lines and frame lines in time order. Throws `INVALID_MAPPING` and read errors. */
  frames(mapping: unknown, call: Call): AsyncIterable<object>
  /** What `frames` omitted or decided. */
  readonly notes: readonly string[]
  readonly isTruncated: boolean
  close(): Promise<void>
}

export interface SourceOptions {
  /** Folder for private copies of databases. */
  readonly scratch: string
}

export type OpenSource = (path: string, options: SourceOptions, call: Call) => Promise<Source>
