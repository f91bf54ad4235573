import type { LakeFilter, LakeRow } from './lake-questions.ts'

export interface LakeRun {
  readonly file: string
  readonly recording: string
  /** File name in the lake. The part before the last hyphen identifies the run, the rest its revision. */
  readonly name: string
}

export interface LakeQuery {
  readonly question: string
  readonly filter: LakeFilter
  readonly threshold: number | undefined
  readonly limit: number
  readonly deadlineMs: number
}

export interface LakeAnswer {
  readonly rows: readonly LakeRow[]
  readonly truncated: boolean
}

export type LakeJob =
  | { readonly export: readonly LakeRun[]; readonly folder: string; readonly isShared: boolean }
  | { readonly query: LakeQuery; readonly folder: string }

export type LakeReply =
  | { readonly exported: number }
  | { readonly done: number; readonly total: number }
  | { readonly answer: LakeAnswer }
  | { readonly missing: { readonly package: string; readonly version: string; readonly command: string } }
  | { readonly memory: true }
  | { readonly failed: string }
