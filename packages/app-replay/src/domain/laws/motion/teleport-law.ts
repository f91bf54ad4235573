/**
 * Positions follow velocities: x(N) - x(N-1) lies between v(N-1) dt and v(N) dt. Integrators differ by at most |dv|
 * dt, and by g dt^2 if they apply gravity before a change of velocity; position corrections of contacts and joints by the overlap. A jump is more than 1 mm beyond that, or 11 mm if the body has
 * joints or is or may be in contact. A jump in 10 consecutive frames or more is a `velocity_mismatch`.
 */

import { stateAt } from '@causeway/recording'
import { createFinding } from '../../findings/finding.ts'
import { length3, num } from '../../steps/block.ts'
import { RunCollector } from '../../steps/run.ts'
import type { Law } from '../law.ts'

/** m */
const jumpTolerance = { free: 1e-3, contact: 0.011 } as const

/** Minimum frames of a velocity that disagrees with the motion. */
const lasting = 10

export function teleportLaw(): Law {
  const jumps = new RunCollector()
  return {
    observe(step) {
      const { scene, window, frame, moved } = step
      if (Number.isNaN(step.dt)) return
      const s = window.states.data
      for (let column = 0; column < scene.bodies.length; column++) {
        const at = step.at(column) + stateAt.position
        const v = at - stateAt.position + stateAt.velocity
        const vx = num(s, v)
        const vy = num(s, v + 1)
        const vz = num(s, v + 2)
        const dx = num(moved, 3 * column)
        const dy = num(moved, 3 * column + 1)
        const dz = num(moved, 3 * column + 2)
        const ox = dx - vx * step.dt
        const oy = dy - vy * step.dt
        const oz = dz - vz * step.dt
        // Most bodies continue here, without computing a square root.
        if (!(ox * ox + oy * oy + oz * oz > jumpTolerance.free ** 2)) continue
        let off = length3(ox, oy, oz)
        if (step.dt !== scene.dt)
          off = Math.min(off, length3(dx - vx * scene.dt, dy - vy * scene.dt, dz - vz * scene.dt))
        const u = step.atBefore(column) + stateAt.velocity
        const change = length3(vx - num(s, u), vy - num(s, u + 1), vz - num(s, u + 2))
        const isTouching =
          !scene.hasContacts || step.touching[column] === 1 || step.touchedBefore[column] === 1
        const isCorrected = isTouching || step.joints.isJointed[column] === 1
        const [x, y, z] = [num(s, at), num(s, at + 1), num(s, at + 2)]
        let limit = 1.05 * (change + (scene.g || 0) * step.dt) * step.dt + 1e-6 * length3(x, y, z)
        limit += isCorrected ? jumpTolerance.contact : jumpTolerance.free
        limit += 2 * num(step.joints.error, column)
        const body = scene.bodies[column] ?? 0
        if (!(off > limit)) continue
        if (isTouching)
          for (const { columnA, columnB, depth } of step.touches)
            if ((columnA === column || columnB === column) && depth > 0) limit += 2 * depth
        if (off > limit) jumps.add(body, frame, { value: off, limit }, { bodies: [body], pair: null })
      }
    },
    findings: () =>
      jumps.runs.map((run) =>
        createFinding(run, {
          kind: run.frames >= lasting ? 'velocity_mismatch' : 'teleport',
          unit: 'm',
          confidence: 0.95,
        }),
      ),
  }
}
