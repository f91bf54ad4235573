/**
 * Law `rest` (docs/laws.md, Contacts). `jitter`: the velocity change reverses in every frame. `creep`: the
 * contact point moves although friction is below its limit.
 */

import { stateAt } from '@causeway/recording'
import { createFinding } from '../../findings/finding.ts'
import { getOffset, getOffsetBefore, num, readWorldSpin } from '../../steps/block.ts'
import { RunCollector } from '../../steps/run.ts'
import { isEnvironment } from '../../steps/scene.ts'
import type { Step } from '../../steps/step.ts'
import type { Touch } from '../../steps/touch.ts'
import { mayRock, measureTurning, readTurnRate } from '../../steps/turning.ts'
import { add, dot3, type Point3 } from '../../vector.ts'
import type { Law } from '../law.ts'

/** Speeds in m/s. `maxUtilization` is relative to the friction limit. */
const restRule = {
  minJitterFrames: 8,
  minCreepFrames: 10,
  minCreepSpeed: 2.5e-3,
  maxUtilization: 0.95,
} as const

/** m/s */
const maxRestSpeed = 0.1

const minContactFrames = 10

export function restLaw(): Law {
  const jitter = new RunCollector()
  const creep = new RunCollector()
  const change = new Map<number, readonly [number, number, number]>()
  return {
    observe(step) {
      if (Number.isNaN(step.dt)) return
      const { scene, frame, window } = step
      const s = window.states.data
      for (let column = 0; column < scene.bodies.length; column++) {
        const body = scene.bodies[column] ?? 0
        if (step.touching[column] !== 1 || step.touchedBefore[column] !== 1) {
          if (change.size > 0) change.delete(body)
          continue
        }
        const [at, was] = [
          getOffset(step, column) + stateAt.velocity,
          getOffsetBefore(step, column) + stateAt.velocity,
        ]
        const now = [
          num(s, at) - num(s, was),
          num(s, at + 1) - num(s, was + 1),
          num(s, at + 2) - num(s, was + 2),
        ] as const
        const previous = change.get(body)
        change.set(body, now)
        const size = Math.hypot(...now)
        const limit = Math.max(1e-3, 0.05 * scene.g * step.dt) + num(step.errors.velocityChange, column)
        const speed = Math.hypot(num(s, at), num(s, at + 1), num(s, at + 2))
        if (
          !previous ||
          !(size > limit) ||
          !(Math.hypot(...previous) > limit) ||
          speed > maxRestSpeed + 2 * scene.g * step.dt
        )
          continue
        const cosine =
          (now[0] * previous[0] + now[1] * previous[1] + now[2] * previous[2]) /
          (size * Math.hypot(...previous))
        if (cosine < -0.8) jitter.add(body, frame, { value: size, limit }, { bodies: [body], pair: null })
      }
      for (const touch of step.touches) {
        if (touch.limit <= 0 || frame - touch.firstFrame < minContactFrames) continue
        if (!(Math.hypot(...touch.tangent) <= restRule.maxUtilization * touch.limit)) continue
        if (mayRock(step, touch)) continue
        const speed = getSlipSpeed(step, touch)
        const limit = restRule.minCreepSpeed + getTurningError(step, touch) + getSpeedError(step, touch)
        if (!(speed > limit) || speed > maxRestSpeed) continue
        const subject = { bodies: [touch.a, touch.b].filter((id) => !isEnvironment(scene, id)), pair: null }
        creep.add(touch.key, frame, { value: speed, limit }, subject)
      }
    },
    findings: () => [
      ...jitter.runs
        .filter(({ frames }) => frames >= restRule.minJitterFrames)
        .map((run) =>
          createFinding(
            { ...run, first: run.first - 1 },
            { kind: 'jitter', severity: 'warning', unit: 'm/s', confidence: 0.85 },
          ),
        ),
      ...creep.runs
        .filter(({ frames }) => frames >= restRule.minCreepFrames)
        .map((run) =>
          createFinding(run, { kind: 'creep', severity: 'warning', unit: 'm/s', confidence: 0.8 }),
        ),
    ],
  }
}

/** Returns w² r dt in m/s. */
function getTurningError(step: Step, touch: Touch): number {
  const rate = (column: number): number => (column < 0 ? 0 : readTurnRate(step, column))
  return measureTurning(step, touch) * Math.max(rate(touch.columnA), rate(touch.columnB)) * step.dt
}

/** Returns the rounding error in m/s. */
function getSpeedError({ errors, dt }: Step, { columnA, columnB, leverA, leverB }: Touch): number {
  const measure = (column: number, lever: Point3): number =>
    column < 0
      ? 0
      : num(errors.displacement, column) / dt + num(errors.spinChange, column) * Math.hypot(...lever)
  return measure(columnA, leverA) + measure(columnB, leverB)
}

/** In m/s. Ignores motion along normals of other contacts, by which solvers correct overlaps. */
function getSlipSpeed(step: Step, touch: Touch): number {
  const { normal, columnA, columnB, leverA, leverB } = touch
  const a = getPointVelocity(step, columnA, leverA)
  const b = getPointVelocity(step, columnB, leverB)
  let v = removeComponent(add(a, b, -1), normal)
  for (const other of step.touches) {
    const isShared = [other.columnA, other.columnB].some(
      (column) => column >= 0 && (column === columnA || column === columnB),
    )
    if (isShared && other !== touch) v = removeComponent(v, removeComponent(other.normal, normal))
  }
  return Math.hypot(...v)
}

/** `along` can have any length. */
function removeComponent(v: Point3, along: Point3): Point3 {
  const square = dot3(along, along)
  return square > 1e-6 ? add(v, along, -dot3(v, along) / square) : v
}

function getPointVelocity(
  step: Step,
  column: number,
  lever: readonly [number, number, number],
): readonly [number, number, number] {
  if (column < 0) return [0, 0, 0]
  const s = step.window.states.data
  const [at, was] = [getOffset(step, column), getOffsetBefore(step, column)]
  const w = readWorldSpin(s, at)
  const v = [0, 1, 2].map((i) => (num(s, at + i) - num(s, was + i)) / step.dt) as [number, number, number]
  return [
    v[0] + w[1] * lever[2] - w[2] * lever[1],
    v[1] + w[2] * lever[0] - w[0] * lever[2],
    v[2] + w[0] * lever[1] - w[1] * lever[0],
  ]
}
