/**
 * Law `friction_opposes_sliding` (docs/laws.md, Contacts). Skips static friction of jointed bodies, which opposes the
 * slip that joints would cause.
 */
import { createFinding, type Finding } from '../../findings/finding.ts'
import { length3 } from '../../steps/block.ts'
import { getMinSlip, getTouchError, readSlip } from '../../steps/momentum.ts'
import type { MovingSurface, MovingSurfaces } from '../../steps/motion.ts'
import { alongCosine } from '../../steps/moving-surfaces.ts'
import { RunCollector } from '../../steps/run.ts'
import { getImpulseFactor, type Scene } from '../../steps/scene.ts'
import type { Step } from '../../steps/step.ts'
import type { Touch } from '../../steps/touch.ts'
import type { Law } from '../law.ts'

/** Ratio to the friction limit above which friction is kinetic. */
const minKineticShare = 0.9

export function frictionWorkLaw(): Law {
  const runs = new RunCollector(2)
  let surfaces: MovingSurfaces | undefined
  let declared: Scene['surfaceVelocities'] = new Map()
  return {
    observe(step) {
      surfaces = step.surfaces
      declared = step.scene.surfaceVelocities
      if (Number.isNaN(step.dt)) return
      for (const touch of step.touches) {
        if (touch.frictionRows === 0 || touch.leverRows === 0) continue
        const work = measureWork(step, touch)
        if (work === null) continue
        const { a, b } = touch
        runs.add(touch.key, step.frame, { value: work, limit: 0 }, { bodies: [a, b], pair: [a, b] })
      }
    },
    findings: () => [
      ...runs.runs
        .filter(({ bodies }) => surfaces?.has(bodies) !== true)
        .map((run) => createFinding(run, { kind: 'friction_energy', unit: 'J', confidence: 0.9 })),
      ...(surfaces?.all ?? []).map((surface) => toSurfaceFinding(surface, declared.has(surface.body))),
    ],
  }
}

const toSurfaceFinding = ({ body, first, last, speed }: MovingSurface, isDeclared: boolean): Finding =>
  createFinding(
    { first, last, peak: first, value: speed, limit: 0, bodies: [body], pair: null },
    {
      kind: 'friction_energy',
      severity: 'info',
      unit: 'm/s',
      confidence: 0.8,
      text: isDeclared
        ? 'drives bodies as if its surface moved relative to its recorded surface_velocity'
        : 'drives bodies as if its surface moved',
      advice: isDeclared
        ? 'Correct bodies[].surface_velocity.'
        : 'If it is a conveyor, record bodies[].surface_velocity.',
    },
  )

/** Returns the work in J; `null` unless friction acts along the slip. */
function measureWork(step: Step, touch: Touch): number | null {
  const { tangent, normalImpulse } = touch
  const size = length3(...tangent)
  if (!(size > 0.02 * length3(...normalImpulse))) return null
  const { isJointed } = step.joints
  const hasJoints = isJointed[touch.columnA] === 1 || isJointed[touch.columnB] === 1
  if (hasJoints && size < minKineticShare * touch.limit) return null
  const limit = getMinSlip(step, touch)
  if (size * 0.5 < getTouchError(step, touch)) return null
  let work = 0
  for (const row of [step.row - 1, step.row]) {
    const slip = readSlip(step, row, touch)
    const speed = length3(...slip)
    const along = slip[0] * tangent[0] + slip[1] * tangent[1] + slip[2] * tangent[2]
    if (!(speed > limit) || !(along > alongCosine * speed * size)) return null
    work += along / 2
  }
  const factor = getImpulseFactor(step.scene, step.dt)
  return Number.isNaN(factor) ? work : work * factor
}
