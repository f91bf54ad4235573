import type { LawName } from '../laws/laws.ts'
import type { DataNeed } from './data-need.ts'

/**
 * Where a law applies: to every frame, to every body, to bodies without and with contact, and to touching pairs. A
 * `step` law compares a frame with the one before.
 */
export type LawScope = 'frame' | 'body' | 'free' | 'touching' | 'pair'

export interface LawEntry {
  /** The code that checks it. */
  readonly by: LawName
  readonly scope: LawScope
  readonly isStep: boolean
  readonly needs: readonly DataNeed[]
}

const law = (by: LawName, scope: LawScope, needs: readonly DataNeed[]): LawEntry => ({
  by,
  scope,
  isStep: false,
  needs,
})

const stepLaw = (by: LawName, scope: LawScope, needs: readonly DataNeed[]): LawEntry => ({
  by,
  scope,
  isStep: true,
  needs: ['previous', ...needs],
})

/** The laws that verdicts name, with the data that each needs. docs/laws.md explains them. */
export const lawTable = {
  finite_numbers: law('record', 'body', ['positions']),
  clock: stepLaw('record', 'frame', ['times']),
  frame_ids: law('record', 'frame', []),
  unit_quaternion: law('record', 'body', ['orientations']),
  body_records: law('body', 'body', ['masses']),
  energy_rows: law('energyRow', 'body', ['bodyEnergy', 'masses', 'velocities']),
  velocity_matches_motion: stepLaw('teleport', 'body', ['positions', 'velocities', 'times']),
  spin_matches_rotation: stepLaw('rotation', 'body', ['orientations', 'spins', 'times']),
  free_spin: stepLaw('spin', 'free', ['contacts', 'orientations', 'spins', 'times']),
  angular_momentum: stepLaw('spin', 'touching', [
    ...(['contacts', 'orientations', 'spins', 'times', 'inertia', 'leverArms'] as const),
    ...(['normals', 'normalImpulses', 'tangentImpulses', 'impulseUnit'] as const),
  ]),
  free_motion: stepLaw('balance', 'free', ['contacts', 'velocities', 'masses', 'gravity', 'times']),
  contact_momentum: stepLaw('balance', 'touching', [
    ...(['contacts', 'velocities', 'masses', 'gravity', 'times'] as const),
    ...(['normals', 'normalImpulses', 'impulseUnit', 'oneNormal'] as const),
  ]),
  friction_momentum: stepLaw('balance', 'touching', [
    ...(['contacts', 'velocities', 'masses', 'gravity', 'times'] as const),
    ...(['normals', 'normalImpulses', 'tangentImpulses', 'impulseUnit'] as const),
  ]),
  impulse_units: stepLaw('unit', 'touching', [
    ...(['contacts', 'velocities', 'masses', 'gravity', 'times'] as const),
    ...(['normals', 'normalImpulses', 'tangentImpulses', 'impulseUnit'] as const),
  ]),
  reaction: stepLaw('reaction', 'pair', ['contacts', 'velocities', 'masses', 'gravity', 'times']),
  impulse_values: law('impulse', 'pair', ['contacts', 'normalImpulses']),
  impulse_direction: law('impulse', 'pair', ['contacts', 'normalImpulses']),
  friction_opposes_sliding: stepLaw('frictionWork', 'pair', [
    ...(['contacts', 'normals', 'normalImpulses', 'tangentImpulses', 'leverArms'] as const),
    ...(['velocities', 'orientations', 'spins', 'times'] as const),
  ]),
  free_energy: stepLaw('balance', 'free', ['contacts', 'bodyEnergy', 'masses', 'gravity', 'times']),
  energy_budget: law('budget', 'frame', ['systemEnergy']),
  friction_cone: law('cone', 'pair', ['contacts', 'friction', 'normalImpulses', 'tangentImpulses']),
  restitution: stepLaw('restitution', 'pair', ['contacts', 'normals', 'velocities', 'restitution', 'times']),
  contact_normal: law('normal', 'pair', ['contacts', 'normals']),
  contact_duration: stepLaw('chatter', 'pair', ['contacts', 'normals', 'velocities', 'times']),
  penetration: law('penetration', 'pair', ['contacts', 'depths']),
  shape_overlap: stepLaw('overlap', 'body', ['contacts', 'positions', 'orientations', 'solids', 'times']),
  environment_overlap: stepLaw('overlap', 'body', [
    ...(['contacts', 'positions', 'orientations', 'solids', 'environmentSolids', 'times'] as const),
  ]),
  tunnelling: stepLaw('tunnelling', 'body', ['contacts', 'positions', 'orientations', 'shapes', 'times']),
  solver_convergence: law('solver', 'frame', ['solver']),
  rest: stepLaw('rest', 'touching', ['contacts', 'velocities', 'times']),
} as const satisfies Readonly<Record<string, LawEntry>>

export type CheckedLaw = keyof typeof lawTable
