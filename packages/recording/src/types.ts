/**
 * What a recording says, as plain data. SI units, world frame with z up, frame ids as recorded (from 1).
 *
 * Field names are those of the recorder's own query layer, so that they go to the wire untranslated. A number that
 * was recorded as NULL (the recorder's NaN) is null here: absent, never 0.
 */

import type { Caller, CallOptions } from '@causeway/worker'
import type { SqlAnswer, SqlQuestion } from './query/query-types.ts'

/** A recorded number; null where the recorder wrote NaN. */
export type Value = number | null

/** x, y, z in the unit of the field that holds it. */
export interface Vector {
  readonly x: Value
  readonly y: Value
  readonly z: Value
}

/** Hamilton quaternion, body to world. */
export interface Quaternion extends Vector {
  readonly w: Value
}

/**
 * Id of a body as recorded: an unsigned 32-bit integer.
 *
 * Environment bodies (floor, walls) stand only in contact rows, with bit 31 set: `instance | 0x80000000`. The bit is
 * part of the id; older files hold body 1 and environment 0x80000001 side by side.
 */
export type BodyId = number

/** A body with a metadata row; one that only states or energies name has null in place of what that row says. */
export interface Body {
  readonly body_id: BodyId
  /** kg */
  readonly mass: Value
  readonly restitution: Value
  readonly friction: Value
  readonly asset_id: number | null
  readonly is_environment: boolean
}

/** One body after the step of a frame. */
export interface BodyState {
  readonly body_id: BodyId
  /** m */
  readonly position: Vector
  /** m/s */
  readonly velocity: Vector
  /** m/s², including the contact forces of the step; null in files that lack it */
  readonly acceleration: Vector | null
  readonly orientation: Quaternion
  /** rad/s, twice the vector part of conj(q) * dq/dt: body frame; null where it cannot be computed */
  readonly angular_velocity: Vector | null
}

/** A point of a contact manifold, before the step (the poses of the frame before). */
export interface ContactPoint {
  /** m, world */
  readonly point_a: Vector
  /** m, world */
  readonly point_b: Vector
  /** m, positive where the bodies overlap */
  readonly depth: Value
}

/** A colliding pair of one frame; the normal points from A to B. */
export interface Collision {
  readonly body_a_id: BodyId
  readonly body_b_id: BodyId
  readonly normal: Vector
  /** m, positive where the bodies overlap */
  readonly penetration_depth: Value
  readonly contacts: readonly ContactPoint[]
}

/** The normal constraint of one contact point. */
export interface ContactConstraint {
  readonly body_a_id: BodyId
  readonly body_b_id: BodyId
  readonly normal: Vector
  /** m */
  readonly lever_arm_a: Vector
  /** m */
  readonly lever_arm_b: Vector
  /** m */
  readonly penetration_depth: Value
  readonly restitution: Value
  /** m/s along the normal, before the impact */
  readonly pre_impact_rel_vel_normal: Value
}

/**
 * The friction constraint of one contact point.
 *
 * Lambdas are recorded values: impulses in N·s from the solvers known so far (`lambda_unit` of the recording says
 * what was inferred). The impulse on A is -normal * normal_lambda + tangent1 * tangent1_lambda + tangent2 * tangent2_lambda.
 */
export interface FrictionConstraint {
  readonly body_a_id: BodyId
  readonly body_b_id: BodyId
  readonly normal: Vector
  readonly tangent1: Vector
  readonly tangent2: Vector
  /** m */
  readonly lever_arm_a: Vector
  /** m */
  readonly lever_arm_b: Vector
  /** the pair's combined coefficient */
  readonly friction_coefficient: Value
  readonly normal_lambda: Value
  /** null in files that lack the column */
  readonly tangent1_lambda: Value
  /** null in files that lack the column */
  readonly tangent2_lambda: Value
}

/** What acts on a body in the step of a frame beside gravity and contacts, as the engine says. */
export interface ExternalForce {
  readonly body_id: BodyId
  /** N, world */
  readonly force: Vector
  /** N·m, world */
  readonly torque: Vector
  /** m, where it acts; as recorded */
  readonly at: Vector
}

/** What the solver said of one frame. `converged` means something only where there are constraints. */
export interface Solver {
  readonly iterations: Value
  readonly residual: Value
  readonly converged: boolean
  readonly num_constraints: number
  /** colliding pairs */
  readonly num_contacts: number
}

/** System energy of one frame, J. The first frame's `delta_e` is the whole energy. */
export interface SystemEnergy {
  readonly total_linear_ke: Value
  readonly total_rotational_ke: Value
  readonly total_potential_e: Value
  readonly total_system_e: Value
  readonly delta_e: Value
  readonly energy_injection: boolean
  readonly collision_active: boolean
}

/** Energy of one body in one frame, J. */
export interface BodyEnergy {
  readonly body_id: BodyId
  readonly linear_ke: Value
  readonly rotational_ke: Value
  readonly potential_e: Value
  readonly total_e: Value
}

/** Everything that was recorded of one frame. Parts that the file does not hold are empty or null. */
export interface Frame {
  readonly frame_id: number
  /** s, after the step */
  readonly simulation_time: Value
  /** in spawn order */
  readonly states: readonly BodyState[]
  readonly collisions: readonly Collision[]
  readonly contact_constraints: readonly ContactConstraint[]
  readonly friction_constraints: readonly FrictionConstraint[]
  /** several of one body add up */
  readonly external_forces: readonly ExternalForce[]
  readonly solver: Solver | null
  readonly system_energy: SystemEnergy | null
  readonly body_energies: readonly BodyEnergy[]
}

/** A table of numbers, one row a frame: `data` is row-major float64, shape [length, fields.length]; NaN = absent. */
export interface Columns<Field extends string = string> {
  readonly fields: readonly Field[]
  readonly length: number
  readonly data: Float64Array
}

/** Columns of `Recording.systemEnergy`; booleans are 0 or 1. */
export type SystemEnergyField =
  | 'frame_id'
  | 'simulation_time'
  | 'total_linear_ke'
  | 'total_rotational_ke'
  | 'total_potential_e'
  | 'total_system_e'
  | 'delta_e'
  | 'energy_injection'
  | 'collision_active'

/** Columns of `Recording.bodyEnergy`. */
export type BodyEnergyField =
  | 'frame_id'
  | 'simulation_time'
  | 'linear_ke'
  | 'rotational_ke'
  | 'potential_e'
  | 'total_e'

/** Columns of `Recording.solver`; `converged` is 0 or 1. */
export type SolverField =
  | 'frame_id'
  | 'simulation_time'
  | 'iterations'
  | 'residual'
  | 'converged'
  | 'num_constraints'
  | 'num_contacts'

/** One frame of a pair's history: its collision and its friction rows; either may be missing. */
export interface PairFrame {
  readonly frame_id: number
  readonly simulation_time: Value
  readonly collision: Collision | null
  readonly friction_constraints: readonly FrictionConstraint[]
}

/** A quantity that some schema eras lack. */
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

/** The schema family a file was written in; what each lacks stands in docs/recordings.md; `run` is our own. */
export type Era = 'run' | 'inertial' | 'flat-contact' | 'collision' | 'friction' | 'current' | 'unified'

/** Unit of the recorded lambdas, found by momentum balance; `unknown` where no frame with contact tells. */
export type LambdaUnit = 'N·s' | 'N' | 'unknown'

/** First and last frame in which something is there. */
export interface FrameSpan {
  readonly first_frame: number
  readonly last_frame: number
}

/** An environment body, known from contact rows alone. */
export interface EnvironmentBody {
  /** with bit 31 set, as recorded */
  readonly body_id: BodyId
  /** without bit 31 */
  readonly instance_id: number
}

/** A table and the names of its columns, separated by commas. */
export interface TableColumns {
  readonly name: string
  readonly columns: string
}

/** What is known of a recording once it is loaded; kept by the caller, so it costs no query. */
export interface RecordingSummary {
  readonly era: Era
  readonly capabilities: readonly Capability[]
  readonly missing: readonly Capability[]
  /** null in a recording of 0 frames */
  readonly frames: (FrameSpan & { readonly total_frames: number; readonly contiguous: boolean }) | null
  readonly first_time_s: Value
  readonly last_time_s: Value
  /** median step, s; null where time stands still or there is one frame */
  readonly dt_s: Value
  readonly dt_uniform: boolean
  /** m/s², fitted from contact-free frames or from potential energy; null where neither tells */
  readonly gravity_m_s2: Vector | null
  readonly lambda_unit: LambdaUnit
  readonly bodies: readonly Body[]
  readonly environment_bodies: readonly EnvironmentBody[]
  /** first frame with a state or energy row, per body: a later spawn is a baseline step of the energy */
  readonly appearances: readonly { readonly body_id: BodyId; readonly first_frame: number }[]
  /** rows whose frame has no frame row (a killed recorder): invisible, counted */
  readonly ignored_rows: number
}

/** Where a recording came from, and which state of the file was copied. */
export interface RecordingIdentity {
  /** catalogue id, `[A-Za-z0-9._~-]+`, accepted wherever a path is */
  readonly id: string
  /** real path */
  readonly path: string
  readonly name: string
  readonly size_bytes: number
  /** name of a run that we record ourselves; absent for a file of somebody else */
  readonly run?: string
}

/** Frames from `start` to `end`, both included; null = open. */
export interface FrameRange {
  readonly start: number | null
  readonly end: number | null
}

/** A loaded recording. All work happens in its worker over a private copy; the user's file is not open. */
export interface Recording {
  readonly identity: RecordingIdentity
  readonly summary: RecordingSummary
  /** Throws `FRAME_NOT_FOUND` with `{ frame_id, first_frame, last_frame }`. */
  frame(frameId: number): Promise<Frame>
  /** Rows in frame order; throws `NOT_RECORDED` where the file holds none. */
  systemEnergy(range: FrameRange): Promise<Columns<SystemEnergyField>>
  /** Rows in frame order; throws `BODY_NOT_FOUND` with `{ body_id, bodies }`. */
  bodyEnergy(bodyId: BodyId, range: FrameRange): Promise<Columns<BodyEnergyField>>
  /** Rows in frame order, first to last frame without bounds. */
  solver(range: FrameRange): Promise<Columns<SolverField>>
  /** Frames in which the two bodies touch, in either order; at most `limit`, from `start`. */
  pairHistory(
    pair: readonly [BodyId, BodyId],
    range: FrameRange,
    limit: number,
  ): Promise<{ readonly frames: readonly PairFrame[]; readonly total_frames: number }>
  /**
   * Runs an analysis that the worker given to `openLibrary` brought, near the data. Arguments and result are
   * structured-cloneable; an abort ends it between two windows of frames with `CANCELLED`.
   */
  analyse<Result>(name: string, args: unknown, options?: AnalyseCall): Promise<Result>
  /**
   * Asks the private copy in SQL, in a process of its own. Views hide the normalisation; only reading is possible.
   * Two queries of a recording run at the same time, others wait. Throws `INVALID_QUERY`, `DEADLINE_EXCEEDED`,
   * `CANCELLED`, `WORKER_LOST`, and `OVERLOADED` if the queue is full or the wait too long.
   */
  query(question: SqlQuestion, caller?: Caller): Promise<SqlAnswer>
  /** The tables of the file that queries can read. */
  tables(): Promise<readonly TableColumns[]>
  /**
   * The id as recorded for what a person wrote: a dynamic body's id, an environment body's id with bit 31, or without
   * it where no dynamic body has that number. Throws `BODY_NOT_FOUND`.
   */
  resolveBody(bodyId: number): BodyId
}

/** How an analysis is called. */
export interface AnalyseCall extends CallOptions {
  /** The answer is kept with the recording, and is there at once when the same is asked again. */
  readonly isKept?: boolean
}

/** An analysis that will be asked for: it is answered behind, and its answer kept. */
export interface Foreseen {
  readonly name: string
  readonly args: unknown
}
