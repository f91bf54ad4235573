/** UTF-8 text with its byte order mark and line ends, or the bytes of a file that is not UTF-8. */
export type FileContent = string | Uint8Array

/** The files that a candidate names, by path, before it; `undefined` if the file does not exist. */
export type FilesBefore = ReadonlyMap<string, FileContent | undefined>

/** One edit. Lines count from 1, ranges include both ends; all refer to the text before the candidate. */
export type Edit = { readonly cell?: CellAddress | undefined } & (
  | {
      readonly type: 'replace'
      readonly oldText: string
      readonly newText: string
      readonly all?: boolean | undefined
      /** Which of several matches, from 1. */
      readonly occurrence?: number | undefined
    }
  | { readonly type: 'insertBefore'; readonly line: number; readonly content: string }
  | { readonly type: 'insertAfter'; readonly line: number; readonly content: string }
  | { readonly type: 'replaceLine'; readonly line: number; readonly content: string }
  | {
      readonly type: 'replaceRange'
      readonly startLine: number
      readonly endLine: number
      readonly content: string
    }
  | { readonly type: 'deleteLine'; readonly line: number }
  | { readonly type: 'deleteRange'; readonly startLine: number; readonly endLine: number }
  /** Notebooks: inserts a cell before `cell`, or after the last if `cell` is the number of cells. */
  | { readonly type: 'insertCell'; readonly kind: CellKind; readonly content: string }
  /** Notebooks: replaces the source of `cell`. */
  | { readonly type: 'replaceCell'; readonly content: string }
  | { readonly type: 'deleteCell' }
)

/** A cell of a notebook: its index from 0 among all cells, or its id. */
export type CellAddress = number | string

export type CellKind = 'code' | 'markdown' | 'raw'

/** `sha` is the SHA-256 of the file's bytes in hex, as `trm.read` returns it. Otherwise the file is `STALE_FILE`. */
interface Precondition {
  readonly sha?: string | undefined
}

/** A unified diff of one file, with or without file headers; with `cell`, of the source of a cell. */
export interface DiffChange extends Precondition {
  readonly path: string
  readonly diff: string
  readonly cell?: CellAddress | undefined
}

interface EditChange extends Precondition {
  readonly path: string
  readonly edits: readonly Edit[]
}

/** A whole file, or its removal. */
interface WholeFile extends Precondition {
  readonly path: string
  /** `undefined` only with `delete`. */
  readonly content?: string | undefined
  readonly delete?: boolean | undefined
}

/** Changes that are applied together or not at all. `patch` is a unified diff of several files. */
export type Candidate =
  | { readonly mode: 'diff'; readonly changes: readonly DiffChange[] }
  | { readonly mode: 'patch'; readonly patch: string }
  | { readonly mode: 'files'; readonly files: readonly WholeFile[] }
  | { readonly mode: 'modify'; readonly changes: readonly EditChange[] }
  | { readonly mode: 'create'; readonly files: readonly WholeFile[] }

/** Contents after a candidate by path, `null` for a removed file, without unchanged files. */
export type Changes = ReadonlyMap<string, FileContent | null>

/** Position of a hunk. */
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
  /** Previous path of a renamed file. */
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

/** A candidate applied in memory. */
export interface AppliedCandidate {
  readonly changes: Changes
  readonly report: CandidateReport
}

/** Whether two contents are the same text, the same bytes, or both absent. */
export function isSameContent(a: FileContent | undefined, b: FileContent | undefined): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}
