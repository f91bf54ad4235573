/**
 * Law `contact_duration` (docs/laws.md, Contacts). Counts losses of contact without a bounce: the bodies separate at
 * less than 0.25 g dt.
 */

import { stateAt } from '@causeway/recording'
import { createFinding } from '../../findings/finding.ts'
import { getOffset, num } from '../../steps/block.ts'
import type { Run } from '../../steps/run.ts'
import type { Touch } from '../../steps/touch.ts'
import { mayRock } from '../../steps/turning.ts'
import type { Law } from '../law.ts'

/** Maximum numbers of frames between losses (`maxInterval`) and of a loss (`maxGap`). */
const chatterRule = { maxInterval: 10, minLosses: 3, maxGap: 5 } as const

interface LossState {
  readonly touch: Touch
  /** First frame of the last loss. */
  last: number
  /** Separation speed after the last frame of contact, m/s. */
  separationSpeed: number
}

export function chatterLaw(): Law {
  const pairs = new Map<number, LossState>()
  const runs: Run[] = []
  /** Frame of the last pause or reset. */
  let breachFrame = Number.NEGATIVE_INFINITY
  return {
    observe(step) {
      const { frame, touches, scene, window } = step
      if (step.breach !== null) breachFrame = frame
      for (const touch of touches) {
        const { key, previousFrame, columnA, columnB, normal } = touch
        const loss = pairs.get(key) ?? { touch, last: Number.NEGATIVE_INFINITY, separationSpeed: 0 }
        pairs.set(key, loss)
        const gap = frame - previousFrame - 1
        const isLost = gap >= 1 && gap <= chatterRule.maxGap && previousFrame >= breachFrame
        if (isLost && loss.separationSpeed < 0.25 * scene.g * scene.dt)
          recordLoss(loss, previousFrame + 1, runs)
        const measureAlong = (column: number): number => {
          if (column < 0) return 0
          const at = getOffset(step, column) + stateAt.velocity
          const v = window.states.data
          return num(v, at) * normal[0] + num(v, at + 1) * normal[1] + num(v, at + 2) * normal[2]
        }
        loss.separationSpeed = mayRock(step, touch)
          ? Number.POSITIVE_INFINITY
          : measureAlong(columnB) - measureAlong(columnA)
      }
    },
    findings: () =>
      runs
        .filter(({ frames }) => frames >= chatterRule.minLosses)
        .map((run) =>
          createFinding(run, {
            kind: 'contact_chatter',
            unit: 'losses',
            confidence: 0.85,
            value: run.frames,
            limit: chatterRule.minLosses - 1,
          }),
        ),
  }
}

function recordLoss(loss: LossState, frame: number, runs: Run[]): void {
  const { a, b } = loss.touch
  const isNear = frame - loss.last <= chatterRule.maxInterval
  loss.last = frame
  const run = isNear ? runs.findLast(({ pair }) => pair?.[0] === a && pair[1] === b) : undefined
  if (run) {
    run.last = frame
    run.frames += 1
    return
  }
  runs.push({
    bodies: [a, b],
    pair: [a, b],
    first: frame,
    last: frame,
    peak: frame,
    value: 1,
    limit: 0,
    frames: 1,
  })
}
