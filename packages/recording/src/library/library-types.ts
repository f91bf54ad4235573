import type { CallOptions } from '@causeway/worker'
import type { RunStatus } from '../formats/run-schema.ts'
import type { Era, Recording } from '../types.ts'

export interface Listing {
  readonly id: string
  readonly path: string
  readonly name: string
  readonly size_bytes: number
  readonly modified_ms: number
  readonly is_recording: boolean
  /**
   * Error code: `RECORDING_BUSY`, `NOT_A_DATABASE`, `NOT_A_RECORDING`, `RECORDING_DAMAGED` or `RECORDING_NOT_FOUND`
   * (if read permission is missing).
   */
  readonly reason?: string
  readonly total_frames?: number
  /** Absent if the file was not opened since its last write. */
  readonly bodies?: number
  /** Time from the first to the last frame in s. Absent if `bodies` is absent or times were not recorded. */
  readonly duration_s?: number
  /** Absent if `bodies` is absent. */
  readonly era?: Era
  readonly status?: RunStatus
}

export interface Roots {
  folders(): readonly string[]
  /**
   * Returns the real path of an existing file or folder in a root. Resolves a relative path against every root.
   * Throws `OUTSIDE_ROOTS` and `FILE_NOT_FOUND`.
   */
  resolve(path: string): Promise<string>
}

export interface OpenOptions extends CallOptions {
  /** Larger files throw `TAIL_TOO_LARGE` instead of being copied. */
  readonly maxCopyBytes?: number
}

/** `reloaded`: whether an older copy of the same file was replaced. */
export interface OpenResult {
  readonly recording: Recording
  readonly reloaded: boolean
}

export interface LibraryLog {
  warn(data: object, message: string): void
}
