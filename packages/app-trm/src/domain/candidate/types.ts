import type { z } from 'zod'
import type { modes } from './candidate-schema.ts'

/** UTF-8 text with its byte order mark and line ends, or the bytes of a file that is not UTF-8. */
export type FileContent = string | Uint8Array

/** The files that a candidate names, by path, before it; `undefined` if the file does not exist. */
export type FilesBefore = ReadonlyMap<string, FileContent | undefined>

/** Changes that are applied together or not at all. */
export type Candidate = z.output<(typeof modes)[keyof typeof modes]>

/** One edit. Lines count from 1, ranges include both ends; all refer to the text before the candidate. */
export type Edit = Extract<Candidate, { mode: 'modify' }>['changes'][number]['edits'][number]

/** A cell of a notebook: its index from 0 among all cells, or its id. */
export type CellAddress = number | string

/** Contents after a candidate by path, `null` for a removed file, without unchanged files. */
export type Changes = ReadonlyMap<string, FileContent | null>

export interface HunkPlacement {
  readonly path: string
  /** From 1, within the file. */
  readonly hunk: number
  /** First line of the hunk in the file before the candidate, from 1. */
  readonly line: number
  /** Lines between the position in the header and the actual one; `null` without a position in the header. */
  readonly offset: number | null
  /** Number of context lines that differ from the file. */
  readonly fuzz: number
}

export interface FileReport {
  readonly path: string
  readonly kind: 'created' | 'deleted' | 'modified' | 'renamed' | 'unchanged'
  readonly from?: string | undefined
  /** The x bit that a patch sets or clears. */
  readonly executable?: boolean | undefined
  readonly linesAdded: number
  readonly linesRemoved: number
}

export interface CandidateReport {
  readonly files: readonly FileReport[]
  readonly hunks: readonly HunkPlacement[]
  readonly warnings: readonly CandidateWarning[]
}

export interface CandidateWarning {
  readonly code: 'NO_CHANGES' | 'FUZZY_HUNK' | 'LARGE_FILE' | 'STALE_OUTPUT' | 'SYNTAX'
  readonly path?: string | undefined
  readonly message: string
  /** Python source to check again before the warning is reported. */
  readonly source?: string | undefined
}

export interface AppliedCandidate {
  readonly changes: Changes
  readonly report: CandidateReport
}

/** Whether two contents are the same text, the same bytes, or both absent. */
export function isSameContent(a: FileContent | undefined, b: FileContent | undefined): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}
