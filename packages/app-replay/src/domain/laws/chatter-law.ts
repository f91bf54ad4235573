/**
 * A contact that lasts does not come and go.
 *
 * A loss counts when the pair touches again within 5 frames although it did not part: its speed along the normal was
 * below a quarter of g dt when contact was lost, so it is no bounce. Chatter: 3 losses and more, each within 10 frames of
 * the one before. The flag `chatter` of get_contact_history is another one: it counts every begin and end of contact within
 * 30 frames, bounces too, and judges nothing.
 */

import { stateAt } from '@causeway/recording'
import { num } from './component.ts'
import { findingOf } from './finding.ts'
import type { Law } from './law.ts'
import type { Run } from './run.ts'
import type { Touch } from './touch.ts'

/** Most frames from a loss to the next one, losses from which on contact chatters, most frames without contact in a loss. */
const chatterRule = { near: 10, losses: 3, gap: 5 } as const

interface Losses {
  readonly touch: Touch
  /** first frame without contact of the last loss */
  last: number
  /** speed at which the bodies part, m/s, after the last frame of contact */
  parting: number
}

/** Makes the law. */
export function chatterLaw(): Law {
  const pairs = new Map<number, Losses>()
  const found: Run[] = []
  return {
    see(step) {
      const { frame, touches, scene, window } = step
      for (const touch of touches) {
        const { key, before, columnA, columnB, normal } = touch
        const losses = pairs.get(key) ?? { touch, last: Number.NEGATIVE_INFINITY, parting: 0 }
        pairs.set(key, losses)
        const gap = frame - before - 1
        if (gap >= 1 && gap <= chatterRule.gap && losses.parting < 0.25 * scene.g * scene.dt)
          count(losses, before + 1, found)
        const along = (column: number): number => {
          if (column < 0) return 0
          const at = step.at(column) + stateAt.velocity
          const v = window.states.data
          return num(v, at) * normal[0] + num(v, at + 1) * normal[1] + num(v, at + 2) * normal[2]
        }
        losses.parting = along(columnB) - along(columnA)
      }
    },
    findings: () =>
      found
        .filter(({ frames }) => frames >= chatterRule.losses)
        .map((run) =>
          findingOf(run, {
            kind: 'contact_chatter',
            unit: 'losses',
            confidence: 0.85,
            value: run.frames,
            limit: chatterRule.losses - 1,
          }),
        ),
  }
}

/** Counts a loss of contact: it goes on with the run of the pair where that is near. */
function count(losses: Losses, frame: number, found: Run[]): void {
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
    sum: 1,
  })
}
