import type { Point3 } from '../domain/fit.ts'

export interface ListedRecording {
  readonly recording: string
  readonly name: string
  readonly size_bytes: number
  /** ISO time of the last change. */
  readonly modified: string
  readonly total_frames: number | null
  /** Absent until the recording is opened or diagnosed. */
  readonly bodies?: number
  readonly duration_s?: number
  /** Schema era of the data, such as `run` or `unified`. */
  readonly era?: string
  /** Present only if Causeway's recorder made the recording. */
  readonly status?: string
}

export interface RecordingList {
  readonly recordings: readonly ListedRecording[]
  readonly others: readonly { readonly path: string; readonly name: string; readonly reason: string }[]
  readonly searched: readonly string[]
  readonly count: number
  readonly next_cursor: string | null
}

export interface RecordedGeometry {
  readonly body_id: number
  readonly name: string | null
  readonly shape:
    | { readonly kind: 'sphere'; readonly radius: number }
    | { readonly kind: 'capsule'; readonly radius: number; readonly half_length: number }
    | { readonly kind: 'box' | 'plane' }
    | null
  readonly half_extents: Point3 | null
  readonly position: readonly number[] | null
  readonly orientation: readonly number[] | null
}

export interface Metadata {
  readonly recording: string
  readonly name: string
  readonly total_frames: number
  readonly first_frame: number | null
  readonly last_frame: number | null
  readonly first_time_s: number | null
  readonly last_time_s: number | null
  readonly dt_s: number | null
  readonly missing: readonly string[]
  readonly bodies: readonly { readonly body_id: number; readonly mass: number | null }[]
  readonly geometry?: readonly RecordedGeometry[]
  readonly summary: string
}

export interface Finding {
  readonly id: string
  readonly severity: 'error' | 'warning' | 'info'
  readonly frames: { readonly first: number; readonly last: number; readonly peak: number }
  readonly bodies: readonly number[]
  readonly sentence: string
}

export interface Diagnosis {
  readonly findings: readonly Finding[]
  readonly count: number
  readonly frames_checked: number
  readonly checked?: readonly string[]
  readonly not_applicable?: readonly string[]
  readonly not_checked?: readonly {
    readonly law: string
    readonly frames: { readonly first: number; readonly last: number }
    readonly missing: readonly string[]
    readonly how_to_record: string
  }[]
  readonly summary: string
}

export interface Divergence {
  readonly field: string
  readonly unit: string
  readonly body_id: number | null
  readonly first_frame_a: number
  readonly first_frame_b: number
  readonly value_a: number | string
  readonly value_b: number | string
  readonly difference: number
  readonly greatest: number
  readonly greatest_frame_a: number
  readonly frames_over: number
}

export interface Comparison {
  readonly compared_frames: number
  readonly renamed_bodies: readonly { readonly a: number; readonly b: number; readonly by: string }[]
  readonly only_a: readonly number[]
  readonly only_b: readonly number[]
  readonly parameters: readonly {
    readonly body_id: number
    readonly parameter: string
    readonly a: number | null
    readonly b: number | null
  }[]
  readonly first_frame: number | null
  readonly first_frame_b: number | null
  readonly divergences: readonly Divergence[]
  readonly summary: string
}

/** A shape that was estimated from contacts, or the hull of a recorded mesh. */
export type EstimatedShape =
  | { readonly box: Point3; readonly outline?: readonly Point3[] }
  | { readonly radius: number }

export interface Contact {
  readonly body_a_id: number
  readonly body_b_id: number
  readonly on: number
  readonly at: Point3
  readonly points: readonly Point3[]
  readonly normal_n: Point3 | null
  readonly friction_n: Point3 | null
  /** Largest |Ft| / (mu*Fn) of the contact's points. */
  readonly utilization: number | null
}

/** The result of `/recordings/<id>/scene`. */
export interface Scene {
  readonly frame_id: number
  readonly shapes: Readonly<Record<string, EstimatedShape>>
  readonly grounds: readonly { readonly body: number; readonly at: Point3; readonly normal: Point3 }[]
  readonly contacts: readonly Contact[]
  /** Names of environment bodies in contact. */
  readonly names: Readonly<Record<string, string>>
}

interface Vector {
  readonly x: number | null
  readonly y: number | null
  readonly z: number | null
}

/** The part of `get_frame`'s result that the console shows. */
export interface FrameResult {
  readonly frame_id: number
  readonly simulation_time: number | null
  readonly states: readonly {
    readonly body_id: number
    readonly position: Vector
    readonly velocity: Vector
    /** Unit quaternion. */
    readonly orientation: Vector & { readonly w: number | null }
    /** rad/s */
    readonly angular_velocity: Vector
  }[]
  /** Total number of states of the frame; `states` may contain fewer. */
  readonly counts: { readonly states: number }
  readonly solver: {
    readonly iterations: number | null
    readonly residual: number | null
    readonly converged: boolean | null
    readonly num_constraints: number | null
  } | null
  readonly system_energy: { readonly total_system_e: number | null; readonly delta_e: number | null } | null
}

export interface Series {
  readonly name: string
  readonly unit: string
  readonly frames: readonly number[]
  readonly values: readonly (number | null)[]
}
