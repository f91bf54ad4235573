import type { z } from 'zod'
import type { modes } from './candidate-schema.ts'

/** Text of a UTF-8 file, including byte order mark and line ends, or the bytes of any other file. */
export type FileContent = string | Uint8Array

/** The original files of a candidate by path; `undefined` if a file does not exist. */
export type FilesBefore = ReadonlyMap<string, FileContent | undefined>

/** A set of changes, applied all or none. */
export type Candidate = z.output<(typeof modes)[keyof typeof modes]>

/** Lines count from 1 and ranges are inclusive. All refer to the text before the candidate. */
export type Edit = Extract<Candidate, { mode: 'modify' }>['changes'][number]['edits'][number]

/** A cell's index among all cells, from 0, or its id. */
export type CellAddress = number | string

/** New contents by path, with `null` for removed files. Unchanged files are omitted. */
export type Changes = ReadonlyMap<string, FileContent | null>

export interface HunkPlacement {
  readonly path: string
  /** From 1, within the file. */
  readonly hunk: number
  /** First line of the hunk in the original file, from 1. */
  readonly line: number
  /** Lines from the header's position to the actual one, or `null` if the header has none. */
  readonly offset: number | null
  /** Number of differing context lines. */
  readonly fuzz: number
}

export interface FileReport {
  readonly path: string
  readonly kind: 'created' | 'deleted' | 'modified' | 'renamed' | 'unchanged'
  readonly from?: string | undefined
  /** The executable bit that a patch sets or clears. */
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
  readonly code: 'NO_CHANGES' | 'FUZZY_HUNK' | 'LARGE_FILE' | 'SYNTAX'
  readonly path?: string | undefined
  readonly message: string
  /** Python source to check again before the warning is reported. */
  readonly source?: string | undefined
}

export interface AppliedCandidate {
  readonly changes: Changes
  readonly report: CandidateReport
}

/** Whether two contents are the same text, the same bytes, or both missing. */
export function isSameContent(a: FileContent | undefined, b: FileContent | undefined): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}
