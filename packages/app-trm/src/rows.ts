/** The rows of `trm.db`, as plain data. */
import type { Baseline, EvalResult } from './domain/result.ts'
import type { Standing } from './domain/score.ts'
import type { SessionConfig } from './domain/session-config.ts'
import type { ProcessMark } from './runner/process-group.ts'

/** A session as it is stored. */
export interface SessionRow {
  readonly id: string
  readonly config: SessionConfig
  readonly status: 'active' | 'halted' | 'ended'
  readonly standing: Standing
  readonly baseline: Baseline | null
  /** counts changes: a commit names the one that it was computed from */
  readonly rev: number
  readonly created_ms: number
  readonly updated_ms: number
}

/** One evaluation, from its beginning. */
export interface StepRow {
  readonly id: number
  readonly session_id: string
  /** 0 for the baseline */
  readonly number: number
  readonly kind: EvalResult['kind']
  readonly status: 'running' | 'done' | 'interrupted' | 'cancelled' | 'failed'
  readonly request: string
  /** what every process of it carries */
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

/** A change of the user's files by the session, by the snapshots before and after it. */
export interface LandingRow {
  readonly id: number
  readonly session_id: string
  readonly kind: 'submit' | 'undo' | 'restore' | 'reset' | 'best'
  readonly before: string
  /** null while the files are being written */
  readonly after: string | null
}

/** A state to come back to. */
export interface CheckpointRow {
  readonly id: string
  readonly session_id: string
  readonly description: string | null
  readonly standing: Standing
  /** steps that counted then */
  readonly live: readonly number[]
  /** the last landing then, 0 for none */
  readonly landing_id: number
  readonly made_ms: number
}

/** Output of one command, without secrets. */
export interface OutputRow {
  readonly stage: string
  readonly stdout: Buffer
  readonly stderr: Buffer
}

/** A file as its client has seen it. */
export interface SeenFile {
  /** SHA-256 of its bytes, hex; empty where there is no file */
  readonly sha: string
  /** packed; null where it is not kept */
  readonly text: Buffer | null
}

/** A change of a session that commits only if nobody else made one since. */
export interface SessionChange {
  readonly id: string
  readonly rev: number
  readonly standing?: Standing | undefined
  readonly status?: SessionRow['status'] | undefined
  readonly baseline?: Baseline | undefined
}

/** One run of a command, kept when its session has ended: what ran, where, and how it went. */
export interface CommandRow {
  readonly session_id: string
  /** `step 3`, `step 3 guard` or `trial` */
  readonly occasion: string
  readonly stage: string
  readonly command: string
  readonly cwd: string
  readonly pid: number
  readonly started_ms: number
  /** null while it runs, where it was ended, and where the server was */
  readonly exit_code: number | null
  readonly ms: number | null
  /** written to both streams */
  readonly bytes: number | null
}
