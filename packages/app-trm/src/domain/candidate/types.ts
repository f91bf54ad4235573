/** A candidate: changes to a project that are proposed together and land together or not at all. */

/** A file as far as candidates know one: UTF-8 text with its byte order mark and line ends, or bytes that are none. */
export type FileContent = string | Uint8Array

/** The files a candidate names, by path, as they are before it; undefined where there is none. */
export type FilesBefore = ReadonlyMap<string, FileContent | undefined>

/** One edit of a text. Lines are counted from 1, ranges include both ends, all in the text before the candidate. */
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
  /** Notebooks only: a new cell before the one at `cell`, or after the last where `cell` is the number of cells. */
  | { readonly type: 'insertCell'; readonly kind: CellKind; readonly content: string }
  /** Notebooks only: the whole source of `cell`. */
  | { readonly type: 'replaceCell'; readonly content: string }
  /** Notebooks only. */
  | { readonly type: 'deleteCell' }
)

/** A cell of a notebook: its index from 0 among all cells, or its id. */
export type CellAddress = number | string

/** What a cell holds. */
export type CellKind = 'code' | 'markdown' | 'raw'

/** `sha` is what `trm.read` told: the SHA-256 of the bytes, in hex. A file in another state is `STALE_FILE`. */
export interface Precondition {
  readonly sha?: string | undefined
}

/** A unified diff of one file; file headers may be missing. `cell` makes it one of the cell's source. */
export interface DiffChange extends Precondition {
  readonly path: string
  readonly diff: string
  readonly cell?: CellAddress | undefined
}

/** Edits of one file that exists. */
export interface EditChange extends Precondition {
  readonly path: string
  readonly edits: readonly Edit[]
}

/** A whole file, or its removal. */
export interface WholeFile extends Precondition {
  readonly path: string
  /** Undefined only with `delete`. */
  readonly content?: string | undefined
  readonly delete?: boolean | undefined
}

/** The five modes. `patch` is a unified diff of several files, with creations, deletions and renames. */
export type Candidate =
  | { readonly mode: 'diff'; readonly changes: readonly DiffChange[] }
  | { readonly mode: 'patch'; readonly patch: string }
  | { readonly mode: 'files'; readonly files: readonly WholeFile[] }
  | { readonly mode: 'modify'; readonly changes: readonly EditChange[] }
  | { readonly mode: 'create'; readonly files: readonly WholeFile[] }

/** What a candidate makes of the files: the content after it, or null where the file is removed. Unchanged ones are absent. */
export type Changes = ReadonlyMap<string, FileContent | null>

/** How a hunk was placed. */
export interface HunkPlacement {
  readonly path: string
  /** From 1, within the file. */
  readonly hunk: number
  /** First line of the hunk in the file before the candidate, from 1. */
  readonly line: number
  /** Lines between the place that the header named and the one found; null where the header named none. */
  readonly offset: number | null
  /** Context lines that differ from the file's. */
  readonly fuzz: number
}

/** What became of one file. */
export interface FileReport {
  readonly path: string
  readonly kind: 'created' | 'deleted' | 'modified' | 'renamed' | 'unchanged'
  /** The path before, of a file that was renamed; its mode bits go with it. */
  readonly from?: string | undefined
  /** What a patch says of the x bit, where it says it. */
  readonly executable?: boolean | undefined
  readonly linesAdded: number
  readonly linesRemoved: number
}

/** What was done, for answers and previews. */
export interface CandidateReport {
  readonly files: readonly FileReport[]
  readonly hunks: readonly HunkPlacement[]
  readonly warnings: readonly CandidateWarning[]
}

/** Something that was done but looks unintended. */
export interface CandidateWarning {
  readonly code: 'NO_CHANGES' | 'FUZZY_HUNK' | 'LARGE_FILE' | 'STALE_OUTPUT' | 'SYNTAX'
  readonly path?: string | undefined
  readonly message: string
}

/** A candidate applied in memory. */
export interface AppliedCandidate {
  readonly changes: Changes
  readonly report: CandidateReport
}

/** What the rim lends to a pure function. */
export interface ApplyOptions {
  /** SHA-256 in hex of a file's bytes; needed only where the candidate carries `sha`. */
  readonly sha?: ((content: FileContent) => string) | undefined
}

/**
 * Applies a candidate to the files that `candidatePaths` names. Pure; all or nothing: throws a `CausewayError` whose
 * code tells why the first refused part is refused, and changes nothing then.
 */
export type ApplyCandidate = (
  files: FilesBefore,
  candidate: Candidate,
  options?: ApplyOptions,
) => AppliedCandidate

/** The paths that must be read before a candidate can be applied, sorted; throws as `ApplyCandidate` does. */
export type CandidatePaths = (candidate: Candidate) => readonly string[]

/** Reads what a client sent, under short and long names; throws `INVALID_CANDIDATE` with `data.problems`. */
export type ReadCandidate = (input: unknown) => Candidate
