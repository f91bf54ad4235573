import type { FrameWindow } from '@causeway/recording'
import type { JointForces } from './joint-forces.ts'
import type { Breach, MovingSurfaces } from './motion.ts'
import type { Scene } from './scene.ts'
import type { StepErrors } from './step-errors.ts'
import type { Touch } from './touch.ts'

/** The step to a frame in SI units. The next step overwrites it. */
export interface Step {
  readonly scene: Scene
  window: FrameWindow
  row: number
  frame: number
  /** Recorded step; NaN for the first frame and after a gap. */
  recordedDt: number
  /** Step to judge: the usual one if the clock is broken; NaN if nothing can be judged. */
  dt: number
  breach: Breach | null
  /** Pairs in contact. Their rows belong to this step. */
  touches: Touch[]
  /** Number of contact pairs per body. */
  readonly partners: Float64Array
  /** Whether each body is in contact, 0 or 1: in this step, and in the previous one. */
  readonly touching: Uint8Array
  readonly touchedBefore: Uint8Array
  /** Impulse of contacts on each body, shape [bodies, 3]. `impulseKnown` states how complete it is. */
  readonly impulse: Float64Array
  /** Torque of contacts about the centre of mass, shape [bodies, 3]; NaN without lever arms. */
  readonly torque: Float64Array
  /** `impulseKnowledge` of each body. */
  readonly impulseKnown: Uint8Array
  /** First contact normal of each body, shape [bodies, 3]. */
  readonly contactAxis: Float64Array
  /** mu Jn of each body's contacts that lack tangential impulses; NaN if a coefficient is missing. */
  readonly frictionLimit: Float64Array
  /** Force in addition to gravity and contacts, shape [bodies, 3]. `hasExternal` is 1 if one was recorded. */
  readonly external: Float64Array
  /** Torque about the centre of mass before the step, shape [bodies, 3]. */
  readonly externalTorque: Float64Array
  readonly hasExternal: Uint8Array
  /**
   * Whether each body has not moved since a contact although no impulse supports it, 0 or 1. Engines skip such bodies.
   */
  readonly asleep: Uint8Array
  readonly errors: StepErrors
  readonly surfaces: MovingSurfaces
  /** Filled only if there are groups or joints. */
  readonly joints: JointForces
  /** Displacement, shape [bodies, 3], and its length; NaN if a position is missing. */
  readonly displacement: Float64Array
  readonly distance: Float64Array
  /** Displacement of the step before, shape [bodies, 3]. */
  readonly previousDisplacement: Float64Array
}

/**
 * `none`: the impulse of a contact is missing. `normal`: tangential impulses of a contact are missing, and all
 * normals are parallel.
 */
export const impulseKnowledge = { none: 0, complete: 1, normal: 2 } as const
