/** What can be asked of the one place that holds a plot in memory: this thread, or a worker for large plots. */

import type { CommandResult } from './domain/apply-command.ts'
import type { Notice } from './domain/command.ts'
import type { Depths, EntryKind, Scope } from './domain/history.ts'
import type { ChangeEvent } from './domain/patch-event.ts'
import type { Staged } from './plot-file.ts'
import type { Query, QueryAnswer } from './plot-query.ts'

/** An entry of the history as it is kept in the data file; `patch` is JSON, packed where it is long. */
export interface EntryRow {
  readonly seq: number
  readonly kind: EntryKind
  readonly label: string
  readonly actor: string
  readonly at_ms: number
  readonly patch: string
  readonly is_undone: 0 | 1
}

/** An entry that came or changed; without a patch it is undone or done again, and its patch is as it was. */
export type ChangedEntry = Omit<EntryRow, 'patch'> & { readonly patch: string | null }

/** A change that is wanted. */
export type Change =
  | { readonly kind: 'commands'; readonly commands: unknown; readonly ignoreMissing?: boolean }
  | { readonly kind: 'undo' | 'redo'; readonly scope: Scope; readonly steps: number }
  /** the file as it is now, after another program wrote it */
  | { readonly kind: 'reload'; readonly path: string }

/** Who wants it, and what it will be called. */
export interface ChangeBy {
  readonly change: Change
  readonly actor: string
  readonly atMs: number
  readonly idPrefix: string
}

/** A change that is computed and not yet in force. */
export interface Prepared {
  /** nothing would be different: no revision, no undo entry */
  readonly isNoop: boolean
  /** the file would be another one; a selection is not in it */
  readonly touchesFile: boolean
  readonly label: string
  readonly results: readonly CommandResult[]
  readonly notices: readonly Notice[]
  readonly addedIds: readonly string[]
  /** ids that were touched, the first twenty */
  readonly ids: readonly string[]
  /** entries undone or done again */
  readonly steps: number
  /** the patch as it is kept; null where it is too large for the data file, and the plot file must be saved at once */
  readonly patch: string | null
  readonly events: readonly ChangeEvent[]
  /** entries of the history that came or changed, and the numbers of those that are gone */
  readonly entries: readonly ChangedEntry[]
  readonly droppedEntries: readonly number[]
  readonly selection: readonly string[]
  readonly features: number
  readonly depths: Depths
  /** of a reload: what the file was like */
  readonly file?: { readonly sha256: string; readonly signature: string; readonly bytes: number }
}

/** A plot that was read. */
export interface Loaded {
  readonly sha256: string
  readonly signature: string
  readonly bytes: number
  readonly features: number
  /** what is odd in the file, the first few, in words */
  readonly warnings: readonly string[]
}

/** What was kept of a plot beside its file. */
export interface Kept {
  readonly selection: readonly string[] | null
  readonly entries: readonly EntryRow[]
  /** changes that the file does not have yet, oldest first, as they were kept */
  readonly patches: readonly string[]
}

/** The methods; all arguments and answers can be cloned. */
export interface PlotMethods {
  load(args: { readonly path: string }): Promise<Loaded>
  restore(kept: Kept): { readonly selection: readonly string[] }
  prepare(by: ChangeBy): Promise<Prepared>
  /** Puts the prepared change in force, or forgets it. */
  settle(args: { readonly install: boolean }): null
  read(query: Query): QueryAnswer
  /** Writes the plot beside a file, ready to be put in its place. */
  stage(args: { readonly path: string }): Promise<Staged>
}
