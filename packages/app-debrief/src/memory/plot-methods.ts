import type { CommandResult } from '../domain/commands/apply-command.ts'
import type { Notice } from '../domain/commands/command.ts'
import type { HistoryEntry, Scope, StepCounts } from '../domain/history/history.ts'
import type { ChangeEvent } from '../domain/history/patch-event.ts'
import type { PlotFileStatus, StagedFile } from '../files/plot-file.ts'
import type { Query, QueryResult } from './plot-query.ts'

/** A history entry in the journal. `patch` is JSON, compressed if it is long. */
export type StoredEntry = Omit<HistoryEntry, 'patch' | 'size'> & { readonly patch: string }

/** If `patch` is `null`, only `isUndone` changed. */
export type ChangedEntry = Omit<StoredEntry, 'patch'> & { readonly patch: string | null }

export type Change =
  | { readonly kind: 'commands'; readonly commands: unknown; readonly ignoreMissing?: boolean }
  | { readonly kind: 'undo' | 'redo'; readonly scope: Scope; readonly steps: number }
  /** Reads the file again after another program wrote it. */
  | { readonly kind: 'reload'; readonly path: string }

export interface ChangeInput {
  readonly change: Change
  readonly actor: string
  readonly atMs: number
  readonly idPrefix: string
}

/** A computed change that is not yet in effect. */
export interface PreparedChange {
  /** Whether nothing changes. If so, no revision or undo entry is created. */
  readonly isNoop: boolean
  /** Whether the file would change. A new selection does not change it. */
  readonly affectsFile: boolean
  readonly label: string
  readonly results: readonly CommandResult[]
  readonly notices: readonly Notice[]
  readonly addedIds: readonly string[]
  readonly ids: readonly string[]
  readonly steps: number
  /** `null` if the patch is too large for the journal. The file must then be saved immediately. */
  readonly patch: string | null
  readonly events: readonly ChangeEvent[]
  readonly entries: readonly ChangedEntry[]
  readonly droppedEntries: readonly number[]
  readonly selection: readonly string[]
  readonly features: number
  readonly stepCounts: StepCounts
  readonly file?: PlotFileStatus
}

export interface LoadedFile extends PlotFileStatus {
  readonly features: number
  readonly warnings: readonly string[]
}

export interface StoredState {
  readonly selection: readonly string[] | null
  readonly entries: readonly StoredEntry[]
  /** Changes that the file does not contain, oldest first. */
  readonly patches: readonly string[]
}

/** Methods of `PlotHolder`. Arguments and results can be cloned. */
export interface PlotMethods {
  load(args: { readonly path: string }): Promise<LoadedFile>
  restore(stored: StoredState): { readonly selection: readonly string[] }
  prepare(input: ChangeInput): Promise<PreparedChange>
  settle(args: { readonly isAccepted: boolean }): null
  read(query: Query): QueryResult
  stage(args: { readonly path: string }): Promise<StagedFile>
}
