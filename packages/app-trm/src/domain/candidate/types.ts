import type { z } from 'zod'
import type { modes } from './candidate-schema.ts'

/** Text of a UTF-8 file with its byte order mark and line endings, or the bytes of any other file. */
export type FileContent = string | Uint8Array

/** The original contents of files by path. `undefined` if a file does not exist. */
export type OriginalFiles = ReadonlyMap<string, FileContent | undefined>

/** A set of changes that are applied together or not at all. */
export type Candidate = z.output<(typeof modes)[keyof typeof modes]>

/** Line numbers count from 1, ranges are inclusive, and both refer to the text before the candidate. */
export type Edit = Extract<Candidate, { mode: 'modify' }>['changes'][number]['edits'][number]

/** A cell's index among all cells, from 0, or its id. */
export type CellAddress = number | string

/** New contents by path, with `null` for removed files. Unchanged files are omitted. */
export type Changes = ReadonlyMap<string, FileContent | null>

export interface CandidateWarning {
  readonly code: 'NO_CHANGES' | 'FUZZY_HUNK' | 'LARGE_FILE' | 'SYNTAX'
  readonly path?: string | undefined
  readonly message: string
  /** Python source to check again before the warning is reported. */
  readonly source?: string | undefined
}

export interface AppliedCandidate {
  readonly changes: Changes
  /** Previous paths of renamed files, by new path. */
  readonly previousPaths: ReadonlyMap<string, string>
  /** Executable bits to set or clear, by path. */
  readonly executableBits: ReadonlyMap<string, boolean>
  readonly warnings: readonly CandidateWarning[]
}

export function isSameContent(a: FileContent | undefined, b: FileContent | undefined): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}
