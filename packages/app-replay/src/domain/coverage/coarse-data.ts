/** Laws that cannot be checked because of rounding (docs/laws.md, Rounding), moving surfaces or external forces. */
import { formatList, formatNumber } from '../sentence.ts'
import type { MovingSurface } from '../steps/motion.ts'
import { type Grid, getError } from '../steps/rounding.ts'
import { getImpulseFactor, type Scene } from '../steps/scene.ts'
import { add } from '../vector.ts'
import type { CheckedLaw } from './law-table.ts'

type Quantity = 'positions' | 'velocities' | 'orientations' | 'angular velocities' | 'impulses'

interface Scale {
  /** Smallest change that the law must detect, in `unit`. */
  readonly size: number
  readonly unit: string
  readonly meaning: string
}

interface Requirement {
  readonly quantity: Quantity
  readonly scale: (scene: Scene) => Scale
}

const getFallSpeed = ({ g, dt }: Scene): Scale => ({
  size: 0.5 * g * dt,
  unit: 'm/s',
  meaning: 'half of the velocity that gravity adds in a step',
})

const velocityRequirement: Requirement = { quantity: 'velocities', scale: getFallSpeed }

const impulseRequirement: Requirement = {
  quantity: 'impulses',
  scale: (scene) => ({
    size:
      (0.1 * Math.min(...scene.masses.filter((mass) => mass > 0)) * scene.g * scene.dt) /
      getImpulseFactor(scene, scene.dt),
    unit: scene.lambdaUnit === 'N·s' ? 'N·s' : 'N',
    meaning: 'a tenth of the impulse that carries the lightest body',
  }),
}

const positionRequirement: Requirement = {
  quantity: 'positions',
  scale: ({ g, dt }) => ({
    size: (g * dt * dt) / 2,
    unit: 'm',
    meaning: 'the distance that a body falls from rest in a step',
  }),
}

const orientationRequirement: Requirement = {
  quantity: 'orientations',
  scale: () => ({ size: 0.01, unit: 'rad', meaning: 'the least rotation that matters' }),
}

const spinRequirement: Requirement = {
  quantity: 'angular velocities',
  scale: () => ({ size: 0.1, unit: 'rad/s', meaning: 'the least spin that matters' }),
}

const requirements: Partial<Record<CheckedLaw, readonly Requirement[]>> = {
  velocity_matches_motion: [
    {
      quantity: 'positions',
      scale: () => ({ size: 0.01, unit: 'm', meaning: 'the least jump that matters' }),
    },
  ],
  spin_matches_rotation: [orientationRequirement, spinRequirement],
  free_motion: [velocityRequirement],
  contact_momentum: [velocityRequirement, impulseRequirement],
  friction_momentum: [velocityRequirement, impulseRequirement],
  impulse_units: [velocityRequirement, impulseRequirement],
  reaction: [velocityRequirement],
  collisions: [velocityRequirement],
  sliding: [velocityRequirement],
  friction_cone: [impulseRequirement],
  free_spin: [spinRequirement],
  angular_momentum: [spinRequirement, orientationRequirement],
  free_energy: [velocityRequirement, positionRequirement],
}

const drivenLaws: readonly CheckedLaw[] = ['friction_opposes_sliding', 'sliding', 'energy_budget']

/** Returns why a law is not checked for bodies whose surfaces seem to move, given the declared velocities. */
export function describeMovingSurfaces(
  law: CheckedLaw,
  surfaces: readonly MovingSurface[],
  declaredVelocities: Scene['surfaceVelocities'],
) {
  if (!drivenLaws.includes(law)) return []
  return surfaces.map(({ body, first, last, velocity, speed }) => {
    const total = add(velocity, declaredVelocities.get(body) ?? [0, 0, 0], 1)
    const parts = total.map((part) => formatNumber(Number(part.toFixed(3)) + 0))
    const isStraight = Math.hypot(...velocity) > 0.98 * speed
    const motion = isStraight ? `(${parts.join(', ')})` : formatNumber(Number(speed.toPrecision(3)))
    return {
      law,
      frames: { first, last },
      ...(law !== 'energy_budget' && { bodies: [body] }),
      missing: ['velocity of a surface'],
      how_to_record: `send bodies[].surface_velocity (run line) of body ${body}, which drives others as if its surface moved with ${motion} m/s`,
    }
  })
}

/** Returns why the energy budget is not checked if external forces act or surfaces are declared to move. */
export function describeDrivenEnergy(law: CheckedLaw, { surfaceVelocities }: Scene, hasForces: boolean) {
  if (law !== 'energy_budget') return undefined
  if (surfaceVelocities.size > 0) {
    const bodies = formatList([...surfaceVelocities.keys()])
    const how_to_record = `omit bodies[].surface_velocity (run line) if the surface is at rest: the surfaces of these bodies add energy: ${bodies}`
    return { missing: ['energy of moving surfaces'], how_to_record }
  }
  if (!hasForces) return undefined
  const how_to_record =
    'send bodies[].forces only for forces that act: their work is not part of the budget; free_motion and contact_momentum include the forces'
  return { missing: ['work of external forces'], how_to_record }
}

/** Returns the quantities that need more digits if rounding hides what the law detects. */
export function describeCoarseData(
  law: CheckedLaw,
  scene: Scene,
): { readonly missing: readonly string[]; readonly how_to_record: string } | undefined {
  if (scene.rounding.isExact) return undefined
  const problems = (requirements[law] ?? []).flatMap(({ quantity, scale }) => {
    const grid = getGrid(scene, quantity)
    const { size, unit, meaning } = scale(scene)
    const error = 2 * Math.sqrt(3) * getError(grid, 0) * (quantity === 'orientations' ? 2 : 1)
    if (!(error > size)) return []
    const text = `${quantity} are rounded to ${formatNumber(grid.absolute)}; their error of ${formatNumber(Number(error.toPrecision(2)))} ${unit} exceeds ${formatNumber(Number(size.toPrecision(2)))} ${unit}, ${meaning}: record more decimals`
    return [{ missing: `${quantity} with more decimals`, text }]
  })
  if (problems.length === 0) return undefined
  return {
    missing: problems.map(({ missing }) => missing),
    how_to_record: problems.map(({ text }) => text).join('; '),
  }
}

function getGrid({ rounding }: Scene, quantity: Quantity): Grid {
  if (quantity === 'positions') return rounding.position
  if (quantity === 'velocities') return rounding.velocity
  if (quantity === 'orientations') return rounding.orientation
  return quantity === 'impulses' ? rounding.impulse : rounding.spin
}
