/** What a library of recordings does: finding, opening, recording. */
import type { CallOptions } from '@causeway/worker'
import type { Recorder, RunState } from './recorder/recorder-types.ts'
import type { RunStatus } from './recorder/run-schema.ts'
import type { Recording } from './types.ts'

/** A file seen in a folder: a recording, or the reason why it is none. */
export interface Listing {
  readonly id: string
  readonly path: string
  readonly name: string
  readonly size_bytes: number
  readonly modified_ms: number
  readonly is_recording: boolean
  /** `RECORDING_BUSY`, `NOT_A_DATABASE`, `NOT_A_RECORDING`, `RECORDING_DAMAGED`, `RECORDING_NOT_FOUND` (no permission to
   * read); absent for a recording */
  readonly reason?: string
  readonly total_frames?: number
  /** how a run that we record ourselves stands; absent for a file of somebody else */
  readonly status?: RunStatus
}

/** Folder access below the configured roots. */
export interface Roots {
  /** Folders that may be read, absolute. */
  folders(): readonly string[]
  /**
   * The real path of an existing file or folder below a root; a relative path is looked for under every root.
   * Throws `OUTSIDE_ROOTS`, `FILE_NOT_FOUND`.
   */
  resolve(path: string): Promise<string>
}

/** How a recording is opened. */
export interface OpenCall extends CallOptions {
  /** Larger files are not copied for this call but refused with `TAIL_TOO_LARGE`. */
  readonly maxCopyBytes?: number
}

/** Memory that is not needed: whoever asks next waits until it is read again. */
export interface RecordingMemory {
  bytes(): Promise<number>
  /** Gives back about so many bytes, what was used longest ago first and nothing that is in use; gives the bytes. */
  shrink(bytes: number): Promise<number>
}

/** The recording database: catalogue over the roots, private copies, loaded recordings. */
export interface RecordingLibrary {
  /**
   * The recordings of a folder, or of all roots and the recorder's usual folder below them; sorted by path, with files
   * that are none and why. A missing folder is an empty list with `searched`.
   */
  list(
    directory?: string,
  ): Promise<{ readonly searched: readonly string[]; readonly listings: readonly Listing[] }>
  /**
   * A recording by catalogue id or path, copied and checked if the file is new or has changed; `reloaded` tells that
   * an older copy was replaced. `progress` reports copied bytes. Throws the codes of the error table's recording group.
   */
  open(
    idOrPath: string,
    options?: OpenCall,
  ): Promise<{ readonly recording: Recording; readonly reloaded: boolean }>
  /** Records runs of engines; they are listed and opened like everything else, also while they grow. */
  readonly recorder: Recorder
  /**
   * Makes a run of ours of a recording of the C++ recorder, or of a file of frame lines (`.jsonl`, `.ndjson`), by id or
   * path. Throws as `open` and the recorder do, `RECORDING_EXISTS`.
   */
  importRecording(name: string, idOrPath: string, options?: OpenCall): Promise<RunState>
  /** What recordings hold in memory: the workers that read them, and the answers that are kept of them. */
  readonly memory: Readonly<Record<'workers' | 'answers', RecordingMemory>>
  /** Numbers for `/health`: copies, their bytes, the cap, loaded recordings, and those that are being prepared behind. */
  health(): {
    readonly snapshots: number
    readonly snapshot_bytes: number
    readonly snapshot_cap_bytes: number
    readonly loaded: number
    readonly preparing: number
  }
  close(): Promise<void>
}
