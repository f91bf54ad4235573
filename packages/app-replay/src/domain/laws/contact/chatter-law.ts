/**
 * Law `contact_duration` (docs/laws.md, Contacts). Counts losses of contact without a bounce, in which the pair
 * separates at less than 0.25 g dt.
 */

import { stateAt } from '@causeway/recording'
import { createFinding } from '../../findings/finding.ts'
import { getOffset, num } from '../../steps/block.ts'
import type { Run } from '../../steps/run.ts'
import type { Touch } from '../../steps/touch.ts'
import { isRocking } from '../../steps/turning.ts'
import type { Law } from '../law.ts'

/** `near`: maximum frames between losses. `gap`: maximum frames of a loss. */
const chatterRule = { near: 10, losses: 3, gap: 5 } as const

interface Losses {
  readonly touch: Touch
  /** First frame of the last loss. */
  last: number
  /** Separation speed after the last frame of contact, m/s. */
  parting: number
}

export function chatterLaw(): Law {
  const pairs = new Map<number, Losses>()
  const found: Run[] = []
  /** Frame of the last pause or reset. */
  let breach = Number.NEGATIVE_INFINITY
  return {
    observe(step) {
      const { frame, touches, scene, window } = step
      if (step.breach !== null) breach = frame
      for (const touch of touches) {
        const { key, before, columnA, columnB, normal } = touch
        const losses = pairs.get(key) ?? { touch, last: Number.NEGATIVE_INFINITY, parting: 0 }
        pairs.set(key, losses)
        const gap = frame - before - 1
        const isLost = gap >= 1 && gap <= chatterRule.gap && before >= breach
        if (isLost && losses.parting < 0.25 * scene.g * scene.dt) recordLoss(losses, before + 1, found)
        const measureAlong = (column: number): number => {
          if (column < 0) return 0
          const at = getOffset(step, column) + stateAt.velocity
          const v = window.states.data
          return num(v, at) * normal[0] + num(v, at + 1) * normal[1] + num(v, at + 2) * normal[2]
        }
        losses.parting = isRocking(step, touch)
          ? Number.POSITIVE_INFINITY
          : measureAlong(columnB) - measureAlong(columnA)
      }
    },
    findings: () =>
      found
        .filter(({ frames }) => frames >= chatterRule.losses)
        .map((run) =>
          createFinding(run, {
            kind: 'contact_chatter',
            unit: 'losses',
            confidence: 0.85,
            value: run.frames,
            limit: chatterRule.losses - 1,
          }),
        ),
  }
}

function recordLoss(losses: Losses, frame: number, found: Run[]): void {
  const { a, b } = losses.touch
  const isNear = frame - losses.last <= chatterRule.near
  losses.last = frame
  const run = isNear ? found.findLast(({ pair }) => pair?.[0] === a && pair[1] === b) : undefined
  if (run) {
    run.last = frame
    run.frames += 1
    return
  }
  found.push({
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
