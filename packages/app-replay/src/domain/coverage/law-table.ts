import type { LawName } from '../laws/laws.ts'
import type { DataNeed } from './data-need.ts'

/**
 * Where a law applies. `contactless`: every body if contacts were not recorded. `isolatedPair`: two bodies that touch
 * only each other; `sharedPair`: other pairs of bodies.
 */
export type LawScope =
  | 'frame'
  | 'body'
  | 'contactless'
  | 'free'
  | 'touching'
  | 'pair'
  | 'isolatedPair'
  | 'sharedPair'
  | 'joint'
  | 'freeGroup'
  | 'touchingGroup'

export interface LawPart {
  readonly scope: LawScope
  readonly needs: readonly DataNeed[]
}

export interface LawEntry {
  /** Code that checks the law. */
  readonly by: LawName
  readonly parts: readonly LawPart[]
}

const part = (scope: LawScope, ...needs: readonly DataNeed[]): LawPart => ({ scope, needs })

const createStepPart = (scope: LawScope, ...needs: readonly DataNeed[]): LawPart =>
  part(scope, 'previous', 'times', ...needs)

const law = (by: LawName, ...parts: readonly LawPart[]): LawEntry => ({ by, parts })

const poses = ['positions', 'orientations'] as const
const freeMotionNeeds = ['velocities', 'masses', 'gravity'] as const
const motion = ['contacts', ...freeMotionNeeds] as const
const impulseNeeds = ['normals', 'normalImpulses', 'tangentImpulses', 'impulseUnit'] as const
const normalImpulseNeeds = ['normals', 'normalImpulses', 'impulseUnit', 'oneNormal'] as const
const slipNeeds = ['normals', 'friction', 'leverArms', 'orientations', 'spins'] as const
/** Needs of laws that balance forces, in addition to contacts. */
const forceNeeds = ['wholeSteps', 'jointImpulses'] as const

export const lawTable = {
  finite_numbers: law(
    'record',
    part('body', 'positions'),
    part('body', 'velocities'),
    part('body', 'orientations'),
    part('body', 'spins'),
  ),
  clock: law('record', createStepPart('frame')),
  frame_ids: law('record', part('frame')),
  unit_quaternion: law('record', part('body', 'orientations')),
  body_records: law('body', part('body', 'masses'), part('body', 'velocities'), part('pair', 'contacts')),
  energy_rows: law(
    'energyRow',
    part('body', 'bodyEnergy', 'masses', 'velocities'),
    part('body', 'bodyEnergy', 'inertia', 'spins'),
    createStepPart('body', 'bodyEnergy', 'masses', 'positions', 'gravity'),
  ),
  velocity_matches_motion: law('teleport', createStepPart('body', 'positions', 'velocities')),
  spin_matches_rotation: law('rotation', createStepPart('body', 'orientations', 'spins')),
  free_spin: law('spin', createStepPart('free', 'contacts', 'orientations', 'spins', ...forceNeeds)),
  angular_momentum: law(
    'spin',
    createStepPart('free', 'contacts', 'orientations', 'spins', 'inertia', ...forceNeeds),
    createStepPart(
      'touching',
      ...forceNeeds,
      ...(['contacts', 'orientations', 'spins', 'inertia', 'leverArms'] as const),
      ...impulseNeeds,
    ),
  ),
  free_motion: law(
    'balance',
    createStepPart('free', ...motion, ...forceNeeds),
    createStepPart('freeGroup', ...motion, ...forceNeeds),
  ),
  contact_momentum: law(
    'balance',
    createStepPart('touching', ...motion, ...forceNeeds, ...normalImpulseNeeds),
    createStepPart('touchingGroup', ...motion, ...forceNeeds, ...impulseNeeds),
  ),
  friction_momentum: law(
    'balance',
    createStepPart('touching', ...motion, ...forceNeeds, ...impulseNeeds),
    createStepPart('touchingGroup', ...motion, ...forceNeeds, ...impulseNeeds),
  ),
  impulse_units: law('unit', createStepPart('touching', ...motion, ...forceNeeds, ...normalImpulseNeeds)),
  reaction: law(
    'reaction',
    createStepPart('isolatedPair', ...motion, ...forceNeeds),
    createStepPart('sharedPair', ...motion, ...forceNeeds, ...impulseNeeds),
    createStepPart('contactless', ...motion, ...forceNeeds),
  ),
  collisions: law(
    'collision',
    createStepPart('free', 'positions', ...motion, ...forceNeeds),
    createStepPart('free', 'positions', ...freeMotionNeeds, ...forceNeeds),
    createStepPart('free', 'positions', ...freeMotionNeeds, ...forceNeeds, 'solids'),
    createStepPart('free', 'positions', ...freeMotionNeeds, ...forceNeeds, 'inertia'),
  ),
  impulse_values: law(
    'impulse',
    part('pair', 'contacts', 'normalImpulses'),
    part('pair', 'contacts', 'tangentImpulses'),
  ),
  impulse_direction: law('impulse', part('pair', 'contacts', 'normalImpulses')),
  friction_opposes_sliding: law(
    'frictionWork',
    createStepPart(
      'pair',
      ...(['contacts', 'normals', 'normalImpulses', 'tangentImpulses', 'leverArms'] as const),
      ...(['velocities', 'orientations', 'spins'] as const),
    ),
  ),
  sliding: law(
    'sliding',
    createStepPart('pair', ...slipNeeds, ...motion, ...forceNeeds, ...impulseNeeds),
    createStepPart('pair', ...slipNeeds, ...motion, ...forceNeeds),
  ),
  free_energy: law('balance', createStepPart('free', ...motion, ...forceNeeds, 'positions')),
  energy_budget: law(
    'budget',
    part('frame', 'systemEnergy', 'jointImpulses', 'gravity', 'masses', 'inertia'),
    part('contactless', 'contacts'),
  ),
  friction_cone: law('cone', part('pair', 'contacts', 'friction', 'normalImpulses', 'tangentImpulses')),
  restitution: law(
    'restitution',
    createStepPart('pair', 'contacts', 'normals', 'velocities', 'restitution', 'pointSpeeds'),
  ),
  contact_normal: law('normal', part('pair', 'contacts', 'normals')),
  contact_duration: law('chatter', createStepPart('pair', 'contacts', 'normals', 'velocities', 'rotations')),
  penetration: law('penetration', part('pair', 'contacts', 'depths')),
  shape_overlap: law(
    'overlap',
    createStepPart('body', 'contacts', ...poses, 'solids'),
    createStepPart('contactless', ...poses, 'solids'),
  ),
  environment_overlap: law(
    'overlap',
    createStepPart('body', 'contacts', ...poses, 'solids', 'environmentSolids'),
    createStepPart('contactless', ...poses, 'solids', 'environmentSolids'),
  ),
  tunnelling: law(
    'tunnelling',
    createStepPart('body', 'contacts', 'positions', 'orientations', 'shapes'),
    createStepPart('body', 'contacts', 'positions', 'environmentSolids'),
  ),
  joint_error: law('joint', part('joint', 'jointErrors')),
  solver_convergence: law('solver', part('frame', 'solver', 'constraints')),
  rest: law(
    'rest',
    createStepPart('touching', 'contacts', 'velocities'),
    createStepPart(
      'pair',
      ...(['contacts', 'positions', 'orientations', 'spins', 'leverArms'] as const),
      ...(['friction', 'normalImpulses', 'tangentImpulses'] as const),
    ),
  ),
} as const satisfies Readonly<Record<string, LawEntry>>

export type CheckedLaw = keyof typeof lawTable
