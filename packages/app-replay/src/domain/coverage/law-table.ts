import type { LawName } from '../laws/laws.ts'
import type { DataNeed } from './data-need.ts'

/**
 * Where a law applies. `contactless`: every body if contacts were not recorded. `free` and `touching`: bodies or groups
 * without and with contact. `isolatedPair`: two bodies that touch only each other; `sharedPair`: all other pairs of
 * bodies.
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

const stepPart = (scope: LawScope, ...needs: readonly DataNeed[]): LawPart =>
  part(scope, 'previous', 'times', ...needs)

const law = (by: LawName, ...parts: readonly LawPart[]): LawEntry => ({ by, parts })

const poses = ['positions', 'orientations'] as const
const freeMotion = ['velocities', 'masses', 'gravity'] as const
const motion = ['contacts', ...freeMotion] as const
const impulses = ['normals', 'normalImpulses', 'tangentImpulses', 'impulseUnit'] as const
const slip = ['normals', 'friction', 'leverArms', 'orientations', 'spins'] as const
/** Needs for forces other than recorded contacts. */
const forces = ['wholeSteps', 'jointImpulses'] as const

export const lawTable = {
  finite_numbers: law(
    'record',
    part('body', 'positions'),
    part('body', 'velocities'),
    part('body', 'orientations'),
    part('body', 'spins'),
  ),
  clock: law('record', stepPart('frame')),
  frame_ids: law('record', part('frame')),
  unit_quaternion: law('record', part('body', 'orientations')),
  body_records: law('body', part('body', 'masses'), part('body', 'velocities'), part('pair', 'contacts')),
  energy_rows: law(
    'energyRow',
    part('body', 'bodyEnergy', 'masses', 'velocities'),
    part('body', 'bodyEnergy', 'inertia', 'spins'),
    stepPart('body', 'bodyEnergy', 'masses', 'positions', 'gravity'),
  ),
  velocity_matches_motion: law('teleport', stepPart('body', 'positions', 'velocities')),
  spin_matches_rotation: law('rotation', stepPart('body', 'orientations', 'spins')),
  free_spin: law('spin', stepPart('free', 'contacts', 'orientations', 'spins', ...forces)),
  angular_momentum: law(
    'spin',
    stepPart('free', 'contacts', 'orientations', 'spins', 'inertia', ...forces),
    stepPart(
      'touching',
      ...forces,
      ...(['contacts', 'orientations', 'spins', 'inertia', 'leverArms'] as const),
      ...(['normals', 'normalImpulses', 'tangentImpulses', 'impulseUnit'] as const),
    ),
  ),
  free_motion: law(
    'balance',
    stepPart('free', ...motion, ...forces),
    stepPart('freeGroup', ...motion, ...forces),
  ),
  contact_momentum: law(
    'balance',
    stepPart('touching', ...motion, ...forces, 'normals', 'normalImpulses', 'impulseUnit', 'oneNormal'),
    stepPart('touchingGroup', ...motion, ...forces, ...impulses),
  ),
  friction_momentum: law(
    'balance',
    stepPart('touching', ...motion, ...forces, ...impulses),
    stepPart('touchingGroup', ...motion, ...forces, ...impulses),
  ),
  impulse_units: law(
    'unit',
    stepPart('touching', ...motion, ...forces, 'normals', 'normalImpulses', 'impulseUnit', 'oneNormal'),
  ),
  reaction: law(
    'reaction',
    stepPart('isolatedPair', ...motion, ...forces),
    stepPart('sharedPair', ...motion, ...forces, ...impulses),
    stepPart('contactless', ...motion, ...forces),
  ),
  collisions: law(
    'collision',
    stepPart('free', 'positions', ...motion, ...forces),
    stepPart('free', 'positions', ...freeMotion, ...forces),
    stepPart('free', 'positions', ...freeMotion, ...forces, 'solids'),
    stepPart('free', 'positions', ...freeMotion, ...forces, 'inertia'),
  ),
  impulse_values: law(
    'impulse',
    part('pair', 'contacts', 'normalImpulses'),
    part('pair', 'contacts', 'tangentImpulses'),
  ),
  impulse_direction: law('impulse', part('pair', 'contacts', 'normalImpulses')),
  friction_opposes_sliding: law(
    'frictionWork',
    stepPart(
      'pair',
      ...(['contacts', 'normals', 'normalImpulses', 'tangentImpulses', 'leverArms'] as const),
      ...(['velocities', 'orientations', 'spins'] as const),
    ),
  ),
  sliding: law(
    'sliding',
    stepPart('pair', ...slip, ...motion, ...forces, ...impulses),
    stepPart('pair', ...slip, ...motion, ...forces),
  ),
  free_energy: law('balance', stepPart('free', ...motion, ...forces, 'positions')),
  energy_budget: law(
    'budget',
    part('frame', 'systemEnergy', 'jointImpulses', 'gravity', 'masses', 'inertia'),
    part('contactless', 'contacts'),
  ),
  friction_cone: law('cone', part('pair', 'contacts', 'friction', 'normalImpulses', 'tangentImpulses')),
  restitution: law(
    'restitution',
    stepPart('pair', 'contacts', 'normals', 'velocities', 'restitution', 'pointSpeeds'),
  ),
  contact_normal: law('normal', part('pair', 'contacts', 'normals')),
  contact_duration: law('chatter', stepPart('pair', 'contacts', 'normals', 'velocities', 'rotations')),
  penetration: law('penetration', part('pair', 'contacts', 'depths')),
  shape_overlap: law(
    'overlap',
    stepPart('body', 'contacts', ...poses, 'solids'),
    stepPart('contactless', ...poses, 'solids'),
  ),
  environment_overlap: law(
    'overlap',
    stepPart('body', 'contacts', ...poses, 'solids', 'environmentSolids'),
    stepPart('contactless', ...poses, 'solids', 'environmentSolids'),
  ),
  tunnelling: law(
    'tunnelling',
    stepPart('body', 'contacts', 'positions', 'orientations', 'shapes'),
    stepPart('body', 'contacts', 'positions', 'environmentSolids'),
  ),
  joint_error: law('joint', part('joint', 'jointErrors')),
  solver_convergence: law('solver', part('frame', 'solver', 'constraints')),
  rest: law(
    'rest',
    stepPart('touching', 'contacts', 'velocities'),
    stepPart(
      'pair',
      ...(['contacts', 'positions', 'orientations', 'spins', 'leverArms'] as const),
      ...(['friction', 'normalImpulses', 'tangentImpulses'] as const),
    ),
  ),
} as const satisfies Readonly<Record<string, LawEntry>>

export type CheckedLaw = keyof typeof lawTable
