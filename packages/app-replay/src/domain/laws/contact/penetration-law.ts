/**
 * Law `penetration` (docs/laws.md, Contacts). Allows another 1.5 v dt in impacts, and a depth of 1.2 (5 mm of slop +
 * g dt² / 0.2) for bodies that a velocity bias supports.
 */
import { stateAt } from '@causeway/recording'
import { createFinding } from '../../findings/finding.ts'
import { getOffset, num } from '../../steps/block.ts'
import { readVelocityBefore } from '../../steps/momentum.ts'
import { type Run, RunCollector } from '../../steps/run.ts'
import { mayOverlap } from '../../steps/scene.ts'
import type { Step } from '../../steps/step.ts'
import type { Touch } from '../../steps/touch.ts'
import { measureTurning } from '../../steps/turning.ts'
import type { Law } from '../law.ts'

/** m */
export const depthLimit = 0.01

/** Minimum closing speed of an impact, m/s. */
const impactSpeed = 0.5

/** Shorter overlaps are informational. */
const minErrorFrames = 3

/** `strictLimit`, in m, replaces the usual limit and its exceptions. */
export function penetrationLaw(strictLimit?: number): Law {
  const limit = strictLimit ?? depthLimit
  const runs = new RunCollector(2)
  const maxImpactByPair = new Map<number, number>()
  const loadedPairs = new Set<number>()
  /** Pair keys of runs in which a body lacks a shape, as sensors usually do. */
  const keyByRun = new Map<Run, number>()
  return {
    observe(step) {
      const { frame, touches, dt, scene } = step
      for (const touch of touches) {
        const { a, b, key, depth, firstFrame } = touch
        if (mayOverlap(scene, a, b)) continue
        if (!isUnloaded(touch)) loadedPairs.add(key)
        const previousImpact = firstFrame === frame ? 0 : (maxImpactByPair.get(key) ?? 0)
        const closing = Number.isNaN(touch.closingSpeed)
          ? getMaxClosingSpeed(step, touch)
          : touch.closingSpeed
        const impact = Math.abs(closing) >= impactSpeed ? Math.abs(closing) : 0
        maxImpactByPair.set(key, Math.max(previousImpact, impact))
        if (!(depth > limit)) continue
        const usualDt = Number.isNaN(dt) ? scene.dt : dt
        const allowed =
          strictLimit ??
          Math.max(
            limit + 1.5 * usualDt * Math.max(previousImpact, impact),
            getBiasDepth(step, touch, usualDt),
          )
        if (!(depth > allowed)) continue
        const run = runs.add(key, frame, { value: depth, limit }, { bodies: [a, b], pair: [a, b] })
        const hasBothShapes = scene.geometry.get(a)?.shape != null && scene.geometry.get(b)?.shape != null
        if (!hasBothShapes) keyByRun.set(run, key)
      }
    },
    findings: () =>
      runs.runs.map((run) => {
        const options = { kind: 'penetration', unit: 'm', confidence: 0.9 } as const
        const key = keyByRun.get(run)
        if (key !== undefined && !loadedPairs.has(key))
          return createFinding(run, { ...options, severity: 'info', ...sensorFinding })
        return createFinding(run, { ...options, severity: run.frames >= minErrorFrames ? 'error' : 'info' })
      }),
  }
}

const sensorFinding = {
  text: 'overlap without an impulse in any frame, as a sensor does',
  advice: 'If it is a sensor, list it in bodies[].ignores.',
} as const

/** Whether impulses are recorded and all 0. */
const isUnloaded = ({ frictionRows, normalImpulse }: Touch): boolean =>
  frictionRows > 0 && normalImpulse.every((part) => part === 0)

/** Returns an upper bound in m/s, from the states before the step; 0 if unknown. */
function getMaxClosingSpeed(step: Step, touch: Touch): number {
  if (step.row === 0) return 0
  const { columnA, columnB, normal } = touch
  const measureAlong = (column: number): number => {
    if (column < 0) return 0
    const [x, y, z] = readVelocityBefore(step, column)
    return x * normal[0] + y * normal[1] + z * normal[2]
  }
  return Math.abs(measureAlong(columnA) - measureAlong(columnB)) + (measureTurning(step, touch) || 0) || 0
}

/** Returns the allowed depth in m; 0 unless the recorded speed towards the contact is about g dt. */
function getBiasDepth(step: Step, { columnA, normal }: Touch, dt: number): number {
  const { scene, window } = step
  if (columnA < 0) return 0
  const v = getOffset(step, columnA) + stateAt.velocity
  const s = window.states.data
  const speed = [0, 1, 2].reduce((sum, i) => sum + num(s, v + i) * (normal[i] ?? 0), 0)
  const gained = scene.g * dt
  return speed >= 0.5 * gained && speed <= 1.5 * gained ? 1.2 * (0.005 + 5 * scene.g * dt * dt) : 0
}
