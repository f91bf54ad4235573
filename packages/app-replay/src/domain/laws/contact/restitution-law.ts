/**
 * Law `restitution` (docs/laws.md, Contacts). Skips impacts if spins move the contact point along the normal at 0.1 of
 * the closing speed or more.
 */

import { stateAt } from '@causeway/recording'
import { createFinding } from '../../findings/finding.ts'
import { num } from '../../steps/block.ts'
import { RunCollector } from '../../steps/run.ts'
import type { Step } from '../../steps/step.ts'
import type { Touch } from '../../steps/touch.ts'
import { measureTurningAlong } from '../../steps/turning.ts'
import type { Law } from '../law.ts'

/** m/s. Slower impacts may stick. */
const minBounceSpeed = 1

/** Minimum closing speed in m/s, in addition to four steps of gravity. */
const minImpactSpeed = 0.05

const slack = { sharp: 0.05, soft: 0.3 } as const

/** Bodies with a longer contact rest on each other. */
const maxContactFrames = 12

interface Impact {
  readonly touch: Touch
  readonly frame: number
  readonly closingSpeed: number
  readonly restitution: number
  readonly normal: readonly [number, number, number]
  isAlone: boolean
  lastFrame: number
  /** Separation speed after the last frame, m/s. */
  separationSpeed: number
  /** Separation speed after the last pushing frame, m/s. */
  reboundSpeed: number
  /** Frames up to the last push. */
  pushFrames: number
}

export function restitutionLaw(): Law {
  const runs = new RunCollector()
  const openImpacts = new Map<number, Impact>()

  const recordExcess = (impact: Impact, { scene }: Step): void => {
    const result = findExcess(impact, scene)
    if (result === undefined) return
    const { touch, frame, restitution } = impact
    const { measured, excess } = result
    const bodies = [touch.a, touch.b] as const
    runs.add(touch.key, frame, { value: measured, limit: restitution, excess }, { bodies, pair: bodies })
  }

  return {
    observe(step) {
      const { frame, touches } = step
      for (const [key, impact] of openImpacts) {
        if (impact.lastFrame === frame - 1 && impact.touch.frame === frame) continue
        openImpacts.delete(key)
        if (impact.lastFrame === frame - 1) recordExcess(impact, step)
      }
      for (const touch of touches) {
        if (Number.isNaN(step.dt)) continue
        const impact = openImpacts.get(touch.key)
        if (impact === undefined) {
          const impact = startImpact(step, touch)
          if (impact !== undefined)
            openImpacts.set(touch.key, { ...impact, isAlone: impact.isAlone && isAlone(step, touch) })
        } else if (frame - impact.frame > maxContactFrames) openImpacts.delete(touch.key)
        else {
          impact.isAlone &&= isAlone(step, touch)
          continueImpact(step, touch, impact)
        }
      }
    },
    findings: () =>
      runs.runs.map((run) => createFinding(run, { kind: 'restitution', unit: 'e', confidence: 0.65 })),
  }
}

/** Returns `undefined` if the deviation is within the integrator's error or cannot be measured. */
function findExcess(impact: Impact, { g, dt }: Step['scene']) {
  const { frame, lastFrame, closingSpeed, restitution, reboundSpeed, pushFrames } = impact
  if (!impact.isAlone || Number.isNaN(reboundSpeed)) return undefined
  const measured = Math.max(0, reboundSpeed / closingSpeed)
  const contactFrames = lastFrame - frame + 1
  const isSharp = pushFrames === 1 && (measured < restitution || contactFrames <= 2)
  const pushingFrames = isSharp || pushFrames > 1 ? pushFrames : contactFrames
  const tolerance = (isSharp ? slack.sharp : slack.soft) + (2 * g * dt * pushingFrames) / closingSpeed
  const excess = Math.abs(measured - restitution)
  if (!(excess > tolerance)) return undefined
  if (closingSpeed < minBounceSpeed && !(isSharp && measured > 1 + tolerance)) return undefined
  return { measured, excess }
}

const isAlone = ({ partners, joints }: Step, { columnA, columnB }: Touch): boolean =>
  [columnA, columnB].every(
    (column) => column < 0 || (partners[column] === 1 && joints.isJointed[column] !== 1),
  )

function startImpact(step: Step, touch: Touch): Impact | undefined {
  const { frame, row, scene, dt } = step
  if (touch.firstFrame !== frame || Number.isNaN(touch.restitution)) return undefined
  const closingSpeed = -getSeparationSpeed(step, touch, row - 1, touch.normal)
  if (!(closingSpeed > minImpactSpeed + 4 * scene.g * dt)) return undefined
  const reboundSpeed = getSeparationSpeed(step, touch, row, touch.normal)
  return {
    touch,
    frame,
    closingSpeed,
    restitution: touch.restitution,
    normal: [...touch.normal],
    isAlone: isCentral(step, touch, closingSpeed),
    lastFrame: frame,
    separationSpeed: reboundSpeed,
    reboundSpeed,
    pushFrames: 1,
  }
}

function continueImpact(step: Step, touch: Touch, impact: Impact): void {
  impact.lastFrame = step.frame
  impact.isAlone &&= isCentral(step, touch, impact.closingSpeed)
  const separationSpeed = getSeparationSpeed(step, touch, step.row, impact.normal)
  const wasPushed = !isFree(step, impact, separationSpeed)
  impact.separationSpeed = separationSpeed
  if (!wasPushed) return
  impact.reboundSpeed = separationSpeed
  impact.pushFrames = step.frame - impact.frame + 1
}

/** Whether gravity explains the change of the separation speed, within 1 % of g dt. */
function isFree(
  { scene, dt }: Step,
  { touch: { columnA, columnB }, normal, separationSpeed: before }: Impact,
  separationSpeed: number,
): boolean {
  const fall =
    dt * (scene.gravity[0] * normal[0] + scene.gravity[1] * normal[1] + scene.gravity[2] * normal[2])
  const expected = before + (columnB < 0 ? 0 : fall) - (columnA < 0 ? 0 : fall)
  return Math.abs(separationSpeed - expected) <= 0.01 * scene.g * dt + 1e-6 * Math.abs(before)
}

/** Returns the relative speed of the centres of mass along the normal in m/s. */
function getSeparationSpeed(
  { window, scene }: Step,
  { columnA, columnB }: Touch,
  row: number,
  normal: readonly [number, number, number],
): number {
  const measureAlong = (column: number): number => {
    if (column < 0) return 0
    const at = (row * scene.bodies.length + column) * stateAt.width + stateAt.velocity
    const v = window.states.data
    return num(v, at) * normal[0] + num(v, at + 1) * normal[1] + num(v, at + 2) * normal[2]
  }
  return measureAlong(columnB) - measureAlong(columnA)
}

const isCentral = (step: Step, touch: Touch, closingSpeed: number): boolean =>
  measureTurningAlong(step, touch, step.row - 1) < 0.1 * closingSpeed &&
  measureTurningAlong(step, touch, step.row) < 0.1 * closingSpeed
