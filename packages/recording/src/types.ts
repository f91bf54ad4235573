/** SI units; world frame with z up; frame ids start at 1. Names are those of the C++ recorder's queries. */
import type { Caller, CallOptions } from '@causeway/worker'
import type { bodyEnergyFields, seriesFields, solverFields, systemEnergyFields } from './formats/fields.ts'
import type { SqlQuery, SqlResult } from './reader/query/query-types.ts'

/** Null if the recorder wrote NaN. */
export type Value = number | null

export interface Vector {
  readonly x: Value
  readonly y: Value
  readonly z: Value
}

/** Hamilton quaternion, body to world. */
export interface Quaternion extends Vector {
  readonly w: Value
}

/** Unsigned 32-bit id. Environment bodies (floor, walls) have bit 31 set, and appear only in contact rows. */
export type BodyId = number

export interface Body {
  readonly body_id: BodyId
  readonly mass: Value
  readonly restitution: Value
  readonly friction: Value
  readonly asset_id: number | null
  readonly is_environment: boolean
}

/** A capsule lies along z; `half_length` is half the distance between its cap centres. A plane is solid below z = 0. */
export type Shape =
  | { readonly kind: 'sphere'; readonly radius: number }
  | { readonly kind: 'capsule'; readonly radius: number; readonly half_length: number }
  | { readonly kind: 'box' }
  | { readonly kind: 'plane' }

/** Null members were not recorded. */
export interface BodyGeometry {
  readonly body_id: BodyId
  readonly name: string | null
  readonly shape: Shape | null
  /** In metres, along the body axes. */
  readonly half_extents: readonly [number, number, number] | null
  /** Principal moments about the body axes, in kg m². */
  readonly inertia: readonly [number, number, number] | null
  /** Fixed position of an environment body. */
  readonly position: readonly number[] | null
  /** Orientation of an environment body, w first. */
  readonly orientation: readonly number[] | null
  /** Bodies of a group are connected by joints. */
  readonly group?: number
  /** Bodies that never touch this body. Ids of environment bodies may lack bit 31. */
  readonly ignores?: readonly BodyId[]
  /** Velocity of the surface relative to the body, such as that of a conveyor belt, in m/s. */
  readonly surface_velocity?: readonly [number, number, number]
}

/** State after the step. */
export interface BodyState {
  readonly body_id: BodyId
  readonly position: Vector
  readonly velocity: Vector
  /** Includes the effect of the step's contact forces. Null if the file does not contain it. */
  readonly acceleration: Vector | null
  readonly orientation: Quaternion
  /** 2 vec(conj(q) dq/dt) in rad/s, in the body frame; null if a component is missing. */
  readonly angular_velocity: Vector | null
}

/** A contact point before the step, in the poses of the previous frame. */
export interface ContactPoint {
  readonly point_a: Vector
  readonly point_b: Vector
  /** Positive if the bodies overlap. */
  readonly depth: Value
}

/** The normal points from A to B. */
export interface Collision {
  readonly body_a_id: BodyId
  readonly body_b_id: BodyId
  readonly normal: Vector
  readonly penetration_depth: Value
  readonly contacts: readonly ContactPoint[]
}

/** The normal constraint of one contact point. */
export interface ContactConstraint {
  readonly body_a_id: BodyId
  readonly body_b_id: BodyId
  readonly normal: Vector
  readonly lever_arm_a: Vector
  readonly lever_arm_b: Vector
  readonly penetration_depth: Value
  readonly restitution: Value
  /** Relative velocity along the normal before the impact. */
  readonly pre_impact_rel_vel_normal: Value
}

/**
 * Friction at one contact point. Lambdas have the unit `lambda_unit`. The impulse on A is -normal * normal_lambda +
 * tangent1 * tangent1_lambda + tangent2 * tangent2_lambda.
 */
export interface FrictionConstraint {
  readonly body_a_id: BodyId
  readonly body_b_id: BodyId
  readonly normal: Vector
  readonly tangent1: Vector
  readonly tangent2: Vector
  readonly lever_arm_a: Vector
  readonly lever_arm_b: Vector
  /** Combined coefficient of the pair. */
  readonly friction_coefficient: Value
  readonly normal_lambda: Value
  /** Null if the file does not have the column. */
  readonly tangent1_lambda: Value
  readonly tangent2_lambda: Value
}

/** A force on a body in the step of a frame, other than gravity and contact forces. */
export interface ExternalForce {
  readonly body_id: BodyId
  readonly force: Vector
  readonly torque: Vector
  /** Point of application, as recorded. */
  readonly at: Vector
}

export type JointKind = 'other' | 'fixed' | 'hinge' | 'slider' | 'ball'

/** Impulses have the unit `lambda_unit`. */
export interface Joint {
  readonly body_a_id: BodyId
  readonly body_b_id: BodyId
  readonly kind: JointKind
  /** World position before the step. */
  readonly point: Vector
  /** Impulse on body `a` at the point; body `b` receives its negative. */
  readonly impulse: Vector
  /** Torque on body `a` about the point; body `b` receives its negative. Unit: the unit of impulses, times metres. */
  readonly torque: Vector
  /** Distance in metres between the joint's two ends after the step. */
  readonly position_error: Value
}

/** `converged` is meaningful only if the frame has constraints; null members were not recorded. */
export interface Solver {
  readonly iterations: Value
  readonly residual: Value
  readonly converged: boolean | null
  readonly num_constraints: number
  /** Number of colliding pairs. */
  readonly num_contacts: number
}

/** The `delta_e` of the first frame is its total energy. */
export interface SystemEnergy {
  readonly total_linear_ke: Value
  readonly total_rotational_ke: Value
  readonly total_potential_e: Value
  readonly total_system_e: Value
  readonly delta_e: Value
  readonly energy_injection: boolean
  readonly collision_active: boolean
}

export interface BodyEnergy {
  readonly body_id: BodyId
  readonly linear_ke: Value
  readonly rotational_ke: Value
  readonly potential_e: Value
  readonly total_e: Value
}

/** Missing parts are empty or null. */
export interface Frame {
  readonly frame_id: number
  /** Time after the step, in s. */
  readonly simulation_time: Value
  /** States in spawn order. */
  readonly states: readonly BodyState[]
  readonly collisions: readonly Collision[]
  readonly contact_constraints: readonly ContactConstraint[]
  readonly friction_constraints: readonly FrictionConstraint[]
  /** Several forces on the same body add up. */
  readonly external_forces: readonly ExternalForce[]
  readonly joints: readonly Joint[]
  readonly solver: Solver | null
  readonly system_energy: SystemEnergy | null
  readonly body_energies: readonly BodyEnergy[]
}

/** One row per frame: `data` is row-major, shape [length, fields.length]; NaN = not recorded. */
export interface Columns<Field extends string = string> {
  readonly fields: readonly Field[]
  readonly length: number
  readonly data: Float64Array
}

type SeriesField<Fields extends readonly string[]> = (typeof seriesFields)[number] | Fields[number]

/** Booleans are 0 or 1. */
export type SystemEnergyField = SeriesField<typeof systemEnergyFields>

export type BodyEnergyField = SeriesField<typeof bodyEnergyFields>

/** `converged` is 0 or 1. */
export type SolverField = SeriesField<typeof solverFields>

export interface PairFrame {
  readonly frame_id: number
  readonly simulation_time: Value
  readonly collision: Collision | null
  readonly friction_constraints: readonly FrictionConstraint[]
}

export type Capability =
  | 'states'
  | 'body_energy'
  | 'system_energy'
  | 'collisions'
  | 'contact_points'
  | 'contact_constraints'
  | 'friction'
  | 'tangent_lambdas'
  | 'solver'
  | 'metadata'
  | 'geometry'

/** Schema era of a file; docs/recordings.md lists the data that each era lacks. `run` is the server's format. */
export type Era = 'run' | 'inertial' | 'flat-contact' | 'collision' | 'friction' | 'current' | 'unified'

/** Sent by the engine, or inferred from the momentum balance; `unknown` if no frame is suitable. */
export type LambdaUnit = 'N·s' | 'N' | 'unknown'

export interface Provenance {
  readonly commit: string | null
  readonly branch: string | null
  readonly scenario: string | null
  readonly seed: number | null
  readonly tags: readonly string[] | null
  readonly host: string | null
  readonly engine_version: string | null
}

interface FrameSpan {
  readonly first_frame: number
  readonly last_frame: number
}

export interface EnvironmentBody {
  /** Id with bit 31 set, as recorded. */
  readonly body_id: BodyId
  /** Id without bit 31. */
  readonly instance_id: number
}

export interface TableColumns {
  readonly name: string
  readonly columns: string
}

export interface RecordingSummary {
  readonly era: Era
  readonly capabilities: readonly Capability[]
  readonly missing: readonly Capability[]
  readonly frames: (FrameSpan & { readonly total_frames: number; readonly contiguous: boolean }) | null
  readonly first_time_s: Value
  readonly last_time_s: Value
  /** Median of the steps in which time advances, in s; null if time never advances. */
  readonly dt_s: Value
  readonly dt_uniform: boolean
  /** Sent by the engine, or inferred from frames without contacts or from potential energy; otherwise null. */
  readonly gravity_m_s2: Vector | null
  readonly lambda_unit: LambdaUnit
  readonly bodies: readonly Body[]
  readonly environment_bodies: readonly EnvironmentBody[]
  readonly geometry: readonly BodyGeometry[]
  /** Each body's first frame with a state or energy row. A body that appears later changes the total energy. */
  readonly appearances: readonly { readonly body_id: BodyId; readonly first_frame: number }[]
  /** Number of rows without a frame row, as a killed recorder leaves them. */
  readonly ignored_rows: number
  /** Absent if the recorder finished or is still recording. */
  readonly interrupted?: boolean
  /** Number of engine steps per frame, of which only the last has contacts. Absent for 1. */
  readonly substeps?: number
  readonly provenance?: Provenance
}

export interface RecordingIdentity {
  /** Id in the catalogue, `[A-Za-z0-9._~-]+`. Accepted instead of a path. */
  readonly id: string
  readonly path: string
  readonly name: string
  readonly size_bytes: number
  /** Name of the recorder's run; absent for other files. */
  readonly run?: string
}

/** An inclusive range. A null bound is open. */
export interface FrameRange {
  readonly start: number | null
  readonly end: number | null
}

export interface Recording {
  readonly identity: RecordingIdentity
  readonly summary: RecordingSummary
  /** Throws `FRAME_NOT_FOUND` with `{ frame_id, first_frame, last_frame }`. */
  frame(frameId: number): Promise<Frame>
  /** Returns rows in frame order. Throws `NOT_RECORDED`. */
  systemEnergy(range: FrameRange): Promise<Columns<SystemEnergyField>>
  /** Returns rows in frame order. Throws `BODY_NOT_FOUND` with `{ body_id, bodies }`. */
  bodyEnergy(bodyId: BodyId, range: FrameRange): Promise<Columns<BodyEnergyField>>
  solver(range: FrameRange): Promise<Columns<SolverField>>
  /** Returns at most `limit` frames from `start`. The order of the pair's ids does not matter. */
  pairHistory(
    pair: readonly [BodyId, BodyId],
    range: FrameRange,
    limit: number,
  ): Promise<{ readonly frames: readonly PairFrame[]; readonly total_frames: number }>
  /** Arguments and result must be structured-cloneable. Throws `CANCELLED` on abort. */
  analyse<Result>(name: string, args: unknown, options?: AnalyseOptions): Promise<Result>
  /** Runs read-only SQL. Throws `INVALID_QUERY`, `DEADLINE_EXCEEDED`, `CANCELLED`, `WORKER_LOST`, `OVERLOADED`. */
  query(question: SqlQuery, caller?: Caller): Promise<SqlResult>
  tables(): Promise<readonly TableColumns[]>
  /** Accepts environment bodies without bit 31. Throws `BODY_NOT_FOUND`. */
  resolveBody(bodyId: number): BodyId
}

export interface AnalyseOptions extends CallOptions {
  readonly isCached?: boolean
}

export interface AnalysisRequest {
  readonly name: string
  readonly args: unknown
}
