/**
 * Orientations follow spins: dq/dt = q w / 2 with w in the body frame. The rotation from q(N-1) to q(N) is compared with
 * w dt of both frames.
 *
 * Tolerance: 2 % and (w dt)^2 for integrators, the change of the spin, 1e-4 rad, and 0.02 rad in contact, where engines
 * correct positions. `frozen_orientation`: less than 2 % of the rotation for 3 frames or more; an orientation that does not
 * change at all has no tolerance. `unit_mismatch`: 57.3 times or 1/57.3 of it
 * for 3 frames or more. Steps of more than a quarter turn are not judged.
 */
import { stateAt } from '@causeway/recording'
import { createFinding, type Finding } from '../../findings/finding.ts'
import { length3, num } from '../../steps/block.ts'
import { read3 } from '../../steps/momentum.ts'
import { type Run, RunCollector } from '../../steps/run.ts'
import type { Step } from '../../steps/step.ts'
import type { Point3 } from '../../vector.ts'
import type { Law } from '../law.ts'

/** rad */
const slack = { free: 1e-4, contact: 0.02 } as const

/** A stop in contact can cancel a rotation for a frame. */
const minFrozenFrames = 3

const degreesPerRadian = 180 / Math.PI

interface Ratio {
  sum: number
  count: number
}

export function rotationLaw(): Law {
  const runs = new RunCollector(2)
  const ratios = new Map<Run, Ratio>()
  return {
    observe(step) {
      if (Number.isNaN(step.dt)) return
      for (let column = 0; column < step.scene.bodies.length; column++) {
        const found = compareRotation(step, column)
        if (found === null) continue
        const body = step.scene.bodies[column] ?? 0
        const run = runs.add(body, step.frame, found, { bodies: [body], pair: null })
        const ratio = ratios.get(run) ?? { sum: 0, count: 0 }
        ratios.set(run, ratio)
        if (!Number.isFinite(found.ratio)) continue
        ratio.sum += found.ratio
        ratio.count += 1
      }
    },
    findings: () =>
      runs.runs
        .map((run) => ({ run, finding: toFinding(run, ratios.get(run) ?? { sum: 0, count: 0 }) }))
        .filter(({ run, finding }) => finding.kind !== 'frozen_orientation' || run.frames >= minFrozenFrames)
        .map(({ finding }) => finding),
  }
}

function toFinding(run: Run, { sum, count }: Ratio): Finding {
  const ratio = count === 0 ? Number.NaN : sum / count
  const isScaled = (factor: number): boolean => count >= 3 && Math.abs(ratio / factor - 1) < 0.1
  if (isScaled(degreesPerRadian) || isScaled(1 / degreesPerRadian))
    return createFinding(run, {
      kind: 'unit_mismatch',
      unit: 'times',
      value: ratio,
      limit: 1,
      confidence: 0.95,
      text: 'turns 57.3 times as fast or slow as its angular velocity: degrees instead of radians',
    })
  const kind = Math.abs(ratio) < 0.02 ? 'frozen_orientation' : 'spin_mismatch'
  return createFinding(run, { kind, unit: 'rad', confidence: 0.9 })
}

interface Mismatch {
  readonly value: number
  readonly limit: number
  /** Rotation along the spin divided by w dt. */
  readonly ratio: number
}

function compareRotation(step: Step, column: number): Mismatch | null {
  const s = step.window.states.data
  const [at, was] = [step.at(column), step.atBefore(column)]
  const [spin, before] = [read3(s, at + stateAt.spin), read3(s, was + stateAt.spin)]
  const turn = step.dt * Math.max(length3(...spin), length3(...before))
  const moved = readTurn(s, was + stateAt.orientation, at + stateAt.orientation)
  if (moved === null) return null
  const isTouching =
    !step.scene.hasContacts || step.touching[column] === 1 || step.touchedBefore[column] === 1
  const expected = spin.map((part) => part * step.dt) as unknown as Point3
  const off = length3(moved[0] - expected[0], moved[1] - expected[1], moved[2] - expected[2])
  const change = length3(spin[0] - before[0], spin[1] - before[1], spin[2] - before[2]) * step.dt
  const isFrozen = length3(...moved) <= 1e-3 * turn && turn > 1e-6
  const limit =
    (isTouching && !isFrozen ? slack.contact : isFrozen ? 1e-6 : slack.free) +
    0.02 * turn +
    Math.min(turn, 1) * turn +
    1.05 * change
  if (!(off > limit)) return null
  const size = length3(...expected)
  const along = moved[0] * expected[0] + moved[1] * expected[1] + moved[2] * expected[2]
  const ratio = along / size ** 2
  const isDegrees = Math.abs(Math.log(Math.abs(ratio) / degreesPerRadian)) < 0.1
  // Beyond a quarter turn, the direction of the rotation is ambiguous.
  if (turn > Math.PI / 2 && !isDegrees) return null
  return { value: off, limit, ratio }
}

/** Returns the rotation vector from one quaternion to another in the body frame, rad; `null` if they are not rotations. */
function readTurn(s: Float64Array, from: number, to: number): Point3 | null {
  const [aw, ax, ay, az] = [num(s, from), -num(s, from + 1), -num(s, from + 2), -num(s, from + 3)]
  const [bw, bx, by, bz] = [num(s, to), num(s, to + 1), num(s, to + 2), num(s, to + 3)]
  const sizes = (aw * aw + ax * ax + ay * ay + az * az) * (bw * bw + bx * bx + by * by + bz * bz)
  if (!(Math.abs(sizes - 1) < 0.01)) return null
  const w = aw * bw - ax * bx - ay * by - az * bz
  const x = aw * bx + ax * bw + ay * bz - az * by
  const y = aw * by - ax * bz + ay * bw + az * bx
  const z = aw * bz + ax * by - ay * bx + az * bw
  const size = length3(x, y, z)
  if (size === 0) return [0, 0, 0]
  const angle = (2 * Math.atan2(size, Math.abs(w)) * Math.sign(w || 1)) / size
  return [x * angle, y * angle, z * angle]
}
