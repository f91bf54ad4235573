/**
 * Positions follow velocities: x(N) - x(N-1) lies between v(N-1) dt and v(N) dt.
 *
 * Integrators differ by |dv| dt at most, a correction of overlap by the overlap; what is beyond that and beyond 1 mm
 * (11 mm in contact) is a jump.
 */

import { stateAt } from '@causeway/recording'
import { num } from './component.ts'
import { findingOf } from './finding.ts'
import type { Law } from './law.ts'
import { collectRuns } from './run.ts'

/** m, free and in contact. */
export const jumpTolerance = { free: 1e-3, contact: 0.011 } as const

/** Makes the law. */
export function teleportLaw(): Law {
  const jumps = collectRuns()
  return {
    see(step) {
      const { scene, window, frame } = step
      if (Number.isNaN(step.dt)) return
      const s = window.states.data
      for (const [column, body] of scene.bodies.entries()) {
        const [at, was] = [step.at(column), step.atBefore(column)]
        const p = stateAt.position
        const v = stateAt.velocity
        const [dx, dy, dz] = [
          num(s, at + p) - num(s, was + p),
          num(s, at + p + 1) - num(s, was + p + 1),
          num(s, at + p + 2) - num(s, was + p + 2),
        ]
        const [vx, vy, vz] = [num(s, at + v), num(s, at + v + 1), num(s, at + v + 2)]
        const change = Math.hypot(vx - num(s, was + v), vy - num(s, was + v + 1), vz - num(s, was + v + 2))
        const off = Math.min(
          Math.hypot(dx - vx * step.dt, dy - vy * step.dt, dz - vz * step.dt),
          Math.hypot(dx - vx * scene.dt, dy - vy * scene.dt, dz - vz * scene.dt),
        )
        const isTouching = step.touching[column] === 1 || step.touchedBefore[column] === 1
        let limit =
          1.05 * change * step.dt + 1e-6 * Math.hypot(num(s, at + p), num(s, at + p + 1), num(s, at + p + 2))
        limit += isTouching ? jumpTolerance.contact : jumpTolerance.free
        if (!(off > limit)) continue
        if (isTouching)
          for (const { columnA, columnB, depth } of step.touches)
            if ((columnA === column || columnB === column) && depth > 0) limit += 2 * depth
        if (off > limit) jumps.hit(body, frame, { value: off, limit }, { bodies: [body], pair: null })
      }
    },
    findings: () =>
      jumps.all().map((run) => findingOf(run, { kind: 'teleport', unit: 'm', confidence: 0.95 })),
  }
}
