export const dataNeeds = {
  frames: { name: 'frames', howToRecord: 'record at least one frame' },
  previous: { name: 'the frame before', howToRecord: 'record consecutive frame ids, at least two frames' },
  times: { name: 'times', howToRecord: 'send time in every frame line' },
  gravity: { name: 'gravity', howToRecord: 'send gravity in the run line' },
  contacts: { name: 'contacts', howToRecord: 'send contacts in every frame line, [] if nothing touches' },
  impulseUnit: { name: 'unit of impulses', howToRecord: 'send lambda_unit in the run line' },
  systemEnergy: { name: 'system energy', howToRecord: 'send energies, or masses, inertia and gravity' },
  solver: { name: 'solver diagnostics', howToRecord: 'send solver in every frame line' },
  /** Needed because convergence is meaningless in frames without constraints. */
  constraints: { name: 'contacts', howToRecord: 'send contacts in every frame line, [] if nothing touches' },
  positions: { name: 'positions', howToRecord: 'send bodies[].position' },
  velocities: { name: 'velocities', howToRecord: 'send bodies[].velocity' },
  orientations: { name: 'orientations', howToRecord: 'send bodies[].orientation' },
  spins: { name: 'angular velocities', howToRecord: 'send bodies[].angular_velocity' },
  bodyEnergy: {
    name: 'energies of bodies',
    howToRecord: 'send bodies[].energy, or masses, inertia and gravity',
  },
  masses: { name: 'masses', howToRecord: 'send bodies[].mass (run line)' },
  inertia: { name: 'inertia', howToRecord: 'send bodies[].inertia (run line)' },
  shapes: { name: 'shapes', howToRecord: 'send bodies[].half_extents or shape (run line)' },
  solids: { name: 'shapes', howToRecord: 'send bodies[].shape (run line)' },
  environmentSolids: {
    name: 'shapes of the environment',
    howToRecord: 'send shape, position and orientation of environment bodies in the run line',
  },
  depths: { name: 'depths', howToRecord: 'send contacts[].depth' },
  normals: { name: 'contact normals', howToRecord: 'send contacts[].normal' },
  leverArms: { name: 'contact points', howToRecord: 'send points[].point' },
  restitution: { name: 'restitution of contacts', howToRecord: 'send points[].restitution' },
  friction: { name: 'friction coefficients', howToRecord: 'send points[].friction_coefficient' },
  normalImpulses: { name: 'normal impulses', howToRecord: 'send points[].normal_lambda' },
  tangentImpulses: {
    name: 'tangential impulses',
    howToRecord: 'send points[].tangent1_lambda and tangent2_lambda',
  },
  /** Derived from angular velocities or orientations, and contact points or shapes. */
  rotations: {
    name: 'rotation about contacts',
    howToRecord: 'send bodies[].angular_velocity or orientation, and points[].point or bodies[].shape',
  },
  /** The spin affects this speed unless the point is below the centre. */
  pointSpeeds: {
    name: 'velocities of contact points',
    howToRecord: 'send points[].point, bodies[].angular_velocity and orientation',
  },
  /** Parallel contact normals, required if tangential impulses are missing. */
  oneNormal: {
    name: 'tangential impulses',
    howToRecord: 'send points[].tangent1_lambda and tangent2_lambda',
  },
  wholeSteps: {
    name: 'contacts of every substep',
    howToRecord:
      'send the sum of the impulses of all substeps, or a frame for each substep, without substeps in the run line',
  },
  jointImpulses: { name: 'joint reactions', howToRecord: 'send joints[].impulse, torque and point' },
  jointErrors: { name: 'joint errors', howToRecord: 'send joints[].position_error, or kind and point' },
} as const satisfies Readonly<Record<string, { readonly name: string; readonly howToRecord: string }>>

export type DataNeed = keyof typeof dataNeeds

const names = Object.keys(dataNeeds) as DataNeed[]

/** Bit of each need. A mask holds at most 32. */
export const needBits = Object.fromEntries(names.map((name, index) => [name, 1 << index])) as Readonly<
  Record<DataNeed, number>
>

export const toMask = (needs: readonly DataNeed[]): number =>
  needs.reduce((mask, need) => mask | needBits[need], 0)

export const listNeeds = (mask: number): readonly DataNeed[] =>
  names.filter((name) => (mask & needBits[name]) !== 0)
