/**
 * Numbers, clock and frame ids, whatever the motion.
 *
 * A state must be finite; a quaternion has length 1 within 1e-6; the clock goes on by the usual step within 0.1 %; frame
 * ids follow each other. Sources: IEEE 754 (the recorder writes NaN as NULL); unit quaternions as rotations.
 */
import { stateAt, systemAt } from '@causeway/recording'
import { absentNumbers } from './absent-numbers.ts'
import { num } from './component.ts'
import { type Finding, findingOf } from './finding.ts'
import type { Law } from './law.ts'
import { collectRuns, type Run } from './run.ts'

/** |‖q‖ - 1| that rounding explains. */
const quaternionTolerance = 1e-6

/** Part of the usual step by which a step may differ. */
const clockTolerance = 1e-3

/** Makes the law. */
export function recordLaw(): Law {
  const absent = absentNumbers()
  const unknown = collectRuns()
  const norms = collectRuns()
  const frozen = collectRuns()
  const uneven = collectRuns()
  const gaps = collectRuns()
  const everyone = { bodies: [], pair: null }
  let hasTotal = false
  return {
    see(step) {
      const { scene, window, row, frame, recordedDt } = step
      const states = window.states.data
      for (let column = 0; column < scene.bodies.length; column++) {
        const body = scene.bodies[column] ?? 0
        if (window.present[row * scene.bodies.length + column] !== 1) continue
        const at = step.at(column)
        let sum = 0
        for (let i = 0; i < stateAt.width; i++) sum += num(states, at + i)
        const subject = () => ({ bodies: [body], pair: null })
        // A sum is finite only where every part is, or nearly overflows; those are counted one by one.
        if (!absent.areAllSent || !Number.isFinite(sum)) absent.see(states, at, body, frame)
        const q = at + stateAt.orientation
        const [w, x, y, z] = [num(states, q), num(states, q + 1), num(states, q + 2), num(states, q + 3)]
        const square = w * w + x * x + y * y + z * z
        if (Math.abs(square - 1) <= quaternionTolerance) continue
        const off = Math.abs(Math.sqrt(square) - 1)
        if (off > quaternionTolerance)
          norms.hit(body, frame, { value: off, limit: quaternionTolerance }, subject())
      }
      const total = window.system.data[row * systemAt.width + systemAt.total]
      hasTotal ||= !Number.isNaN(total)
      const hasSystem = window.system.data.length > 0 && isRecorded(window.system.data, row)
      if (hasSystem && !Number.isFinite(total))
        unknown.hit('', frame, { value: 1, limit: 0, excess: 0 }, everyone)
      const before = window.frames[row - 1]
      if (before !== undefined && frame - before > 1)
        gaps.hit('', frame, { value: frame - before - 1, limit: 0 }, everyone)
      if (Number.isNaN(recordedDt)) return
      if (recordedDt === 0) frozen.hit('', frame, { value: 0, limit: scene.dt, excess: 0 }, everyone)
      else {
        const off = Math.abs(recordedDt - scene.dt)
        if (off > clockTolerance * scene.dt)
          uneven.hit('', frame, { value: recordedDt, limit: scene.dt, excess: off }, everyone)
      }
    },
    findings(): readonly Finding[] {
      const own = absent.all()
      // The energy of the system has no number because that of a body has none.
      const isOwn = (run: Run): boolean => own.some((one) => one.first <= run.last && run.first <= one.last)
      const system = hasTotal ? unknown.all().filter((run) => !isOwn(run)) : []
      return [
        ...[...own, ...system].map((run) =>
          findingOf(run, { kind: 'nan', unit: 'absent numbers', confidence: 1 }),
        ),
        ...gaps.all().map((run) => findingOf(run, { kind: 'missing_frames', unit: 'frames', confidence: 1 })),
        ...frozen.all().map((run) => findingOf(run, { kind: 'frozen_time', unit: 's', confidence: 1 })),
        ...uneven.all().map((run) => findingOf(run, { kind: 'nonuniform_dt', unit: 's', confidence: 1 })),
        ...norms.all().map((run) => findingOf(run, { kind: 'quaternion_norm', unit: '1', confidence: 1 })),
      ]
    },
  }
}

/** A row in which every number is absent was never written. */
function isRecorded(data: Float64Array, row: number): boolean {
  for (let i = 0; i < systemAt.width; i++)
    if (!Number.isNaN(data[row * systemAt.width + i] ?? Number.NaN)) return true
  return false
}
