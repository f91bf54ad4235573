import type { Baseline, EvalResult } from '../domain/evaluation/result.ts'
import type { Standing } from '../domain/evaluation/score.ts'
import type { SessionConfig } from '../domain/session-config.ts'
import type { ProcessMark } from '../runner/process-group.ts'

export interface SessionRow {
  readonly id: string
  readonly config: SessionConfig
  readonly status: 'active' | 'halted' | 'ended'
  readonly standing: Standing
  readonly baseline: Baseline | null
  /** Snapshot of all files at the start. `null` for sessions of version 0.1 and for projects that are too large. */
  readonly start: string | null
  /** Number of changes. Each change names the revision on which it is based. */
  readonly rev: number
  readonly created_ms: number
  readonly updated_ms: number
}

export interface StepRow {
  readonly id: number
  readonly session_id: string
  readonly number: number
  readonly kind: EvalResult['kind']
  readonly status: 'running' | 'done' | 'interrupted' | 'cancelled' | 'failed'
  readonly request: string
  /** Marker in the environment of every process of the step. */
  readonly marker: string
  readonly mark: ProcessMark | null
  readonly stage: string | null
  readonly reason: string | null
  readonly landing_id: number | null
  readonly standing_before: Standing
  readonly result: EvalResult | null
  readonly started_ms: number
  readonly undone_ms: number | null
}

/** A change of the user's files, with snapshots before and after. An `edit` was made by another program. */
export interface LandingRow {
  readonly id: number
  readonly session_id: string
  readonly kind: 'submit' | 'edit' | 'undo' | 'restore' | 'reset' | 'best'
  readonly before: string
  /** `null` while the files are being written. */
  readonly after: string | null
}

export interface CheckpointRow {
  readonly id: string
  readonly session_id: string
  readonly description: string | null
  readonly standing: Standing
  /** Ids of steps that were not undone. */
  readonly live: readonly number[]
  /** Id of the last landing, or 0. */
  readonly landing_id: number
  readonly made_ms: number
}

/** Output of one command, without secrets. Stored compressed. */
export interface OutputRow {
  readonly stage: string
  readonly stdout: string
  readonly stderr: string
}

export interface SeenFile {
  /** SHA-256 of the file's bytes in hex. Empty if the file did not exist. */
  readonly sha: string
  /** Compressed text. `null` if it is too long or the file is binary. */
  readonly text: Buffer | null
}

/** Applied only if `rev` is current. */
export interface SessionChange {
  readonly id: string
  readonly rev: number
  readonly standing?: Standing | undefined
  readonly status?: SessionRow['status'] | undefined
  readonly baseline?: Baseline | undefined
}

/** Audit record of a command. It remains after the session ends. */
export interface CommandRow {
  readonly session_id: string
  /** Such as `step 3`, `step 3 guard` or `only`. */
  readonly occasion: string
  readonly stage: string
  readonly command: string
  readonly cwd: string
  readonly pid: number
  readonly started_ms: number
  /** `null` while the command runs, and if it was ended by a signal or by the server's exit. */
  readonly exit_code: number | null
  readonly ms: number | null
  readonly bytes: number | null
}

/** A request id with the result to return if the request is repeated. */
export interface StoredRequest {
  readonly id: string
  readonly answer: unknown
}

export const listLiveSteps = (steps: readonly StepRow[]): readonly StepRow[] =>
  steps.filter(
    ({ status, undone_ms, kind }) => status === 'done' && undone_ms === null && kind !== 'baseline',
  )

export const findLastStep = (steps: readonly StepRow[]): StepRow | undefined =>
  listLiveSteps(steps).at(-1) ?? steps.find(({ kind, status }) => kind === 'baseline' && status === 'done')

export const findLastResult = (steps: readonly StepRow[]): EvalResult | undefined =>
  findLastStep(steps)?.result ?? undefined
