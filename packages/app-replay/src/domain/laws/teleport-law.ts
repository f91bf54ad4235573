/**
 * Positions follow velocities: x(N) - x(N-1) lies between v(N-1) dt and v(N) dt.
 *
 * Integrators differ by |dv| dt at most, a correction of overlap by the overlap; what is beyond that and beyond 1 mm
 * (11 mm in contact, or where the recording does not tell of contacts) is a jump.
 */

import { stateAt } from '@causeway/recording'
import { length3, num } from './component.ts'
import { findingOf } from './finding.ts'
import type { Law } from './law.ts'
import { collectRuns } from './run.ts'

/** m, free and in contact. */
const jumpTolerance = { free: 1e-3, contact: 0.011 } as const

/** Makes the law. */
export function teleportLaw(): Law {
  const jumps = collectRuns()
  return {
    see(step) {
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
        // Nearly every body of every frame ends here: no root is taken.
        if (!(ox * ox + oy * oy + oz * oz > jumpTolerance.free ** 2)) continue
        let off = length3(ox, oy, oz)
        if (step.dt !== scene.dt)
          off = Math.min(off, length3(dx - vx * scene.dt, dy - vy * scene.dt, dz - vz * scene.dt))
        const u = step.atBefore(column) + stateAt.velocity
        const change = length3(vx - num(s, u), vy - num(s, u + 1), vz - num(s, u + 2))
        const isTouching =
          !scene.knowsContacts || step.touching[column] === 1 || step.touchedBefore[column] === 1
        const [x, y, z] = [num(s, at), num(s, at + 1), num(s, at + 2)]
        let limit = 1.05 * change * step.dt + 1e-6 * length3(x, y, z)
        limit += isTouching ? jumpTolerance.contact : jumpTolerance.free
        const body = scene.bodies[column] ?? 0
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
