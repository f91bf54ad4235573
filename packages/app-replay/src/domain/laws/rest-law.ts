/**
 * What rests stays where it is.
 *
 * Jitter: in contact, its change of velocity turns about in every frame, for 8 frames or more, each change above 1 mm/s
 * and 5 % of g dt. Creep: its friction is below 95 % of the limit, and yet the point of contact moves along the surface
 * at 2.5 mm/s or more for 10 frames or more.
 */

import { stateAt } from '@causeway/recording'
import { num, worldSpin } from './component.ts'
import { findingOf } from './finding.ts'
import type { Law } from './law.ts'
import { collectRuns } from './run.ts'
import type { Step } from './step.ts'
import type { Touch } from './touch.ts'

/** Frames that make a jitter and a creep; m/s that a creeping contact moves at least. */
const restRule = { jitterFrames: 8, creepFrames: 10, creepSpeed: 2.5e-3, used: 0.95 } as const

/** m/s, faster bodies do not rest. */
const slow = 0.1

/** Frames of contact before a body counts as resting. */
const settled = 10

/** Makes the law. */
export function restLaw(): Law {
  const jitter = collectRuns()
  const creep = collectRuns()
  const change = new Map<number, readonly [number, number, number]>()
  return {
    see(step) {
      if (Number.isNaN(step.dt)) return
      const { scene, frame, window } = step
      const s = window.states.data
      for (let column = 0; column < scene.bodies.length; column++) {
        const body = scene.bodies[column] ?? 0
        if (step.touching[column] !== 1 || step.touchedBefore[column] !== 1) {
          if (change.size > 0) change.delete(body)
          continue
        }
        const [at, was] = [step.at(column) + stateAt.velocity, step.atBefore(column) + stateAt.velocity]
        const now = [
          num(s, at) - num(s, was),
          num(s, at + 1) - num(s, was + 1),
          num(s, at + 2) - num(s, was + 2),
        ] as const
        const then = change.get(body)
        change.set(body, now)
        const size = Math.hypot(...now)
        const limit = Math.max(1e-3, 0.05 * scene.g * step.dt)
        const speed = Math.hypot(num(s, at), num(s, at + 1), num(s, at + 2))
        if (
          !then ||
          !(size > limit) ||
          !(Math.hypot(...then) > limit) ||
          speed > slow + 2 * scene.g * step.dt
        )
          continue
        const cosine = (now[0] * then[0] + now[1] * then[1] + now[2] * then[2]) / (size * Math.hypot(...then))
        if (cosine < -0.8) jitter.hit(body, frame, { value: size, limit }, { bodies: [body], pair: null })
      }
      for (const touch of step.touches) {
        if (touch.limit <= 0 || frame - touch.since < settled) continue
        if (!(Math.hypot(...touch.tangent) <= restRule.used * touch.limit)) continue
        const speed = slip(step, touch)
        if (!(speed > restRule.creepSpeed) || speed > slow) continue
        const subject = { bodies: [touch.a, touch.b].filter((id) => !scene.isEnvironment(id)), pair: null }
        creep.hit(touch.key, frame, { value: speed, limit: restRule.creepSpeed }, subject)
      }
    },
    findings: () => [
      ...jitter
        .all()
        .filter(({ frames }) => frames >= restRule.jitterFrames)
        .map((run) =>
          findingOf(
            { ...run, first: run.first - 1 },
            { kind: 'jitter', severity: 'warning', unit: 'm/s', confidence: 0.85 },
          ),
        ),
      ...creep
        .all()
        .filter(({ frames }) => frames >= restRule.creepFrames)
        .map((run) => findingOf(run, { kind: 'creep', severity: 'warning', unit: 'm/s', confidence: 0.8 })),
    ],
  }
}

/** Speed of the bodies past each other at their contact, m/s: positions over the step, spins across the lever arms. */
function slip(step: Step, touch: Touch): number {
  const { normal, columnA, columnB, leverA, leverB } = touch
  const a = pointMotion(step, columnA, leverA)
  const b = pointMotion(step, columnB, leverB)
  const v = [a[0] - b[0], a[1] - b[1], a[2] - b[2]] as const
  const along = v[0] * normal[0] + v[1] * normal[1] + v[2] * normal[2]
  return Math.hypot(v[0] - along * normal[0], v[1] - along * normal[1], v[2] - along * normal[2])
}

function pointMotion(
  step: Step,
  column: number,
  lever: readonly [number, number, number],
): readonly [number, number, number] {
  if (column < 0) return [0, 0, 0]
  const s = step.window.states.data
  const [at, was] = [step.at(column), step.atBefore(column)]
  const w = worldSpin(s, at)
  const v = [0, 1, 2].map((i) => (num(s, at + i) - num(s, was + i)) / step.dt) as [number, number, number]
  return [
    v[0] + w[1] * lever[2] - w[2] * lever[1],
    v[1] + w[2] * lever[0] - w[0] * lever[2],
    v[2] + w[0] * lever[1] - w[1] * lever[0],
  ]
}
