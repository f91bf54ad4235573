/**
 * A contact that lasts does not come and go.
 *
 * A loss counts when the pair touches again within 5 frames although it did not part: its speed along the normal was
 * below a quarter of g dt when contact was lost, so it is no bounce. Chatter: 3 losses within 30 frames.
 */

import { stateAt } from '@causeway/recording'
import { num } from './component.ts'
import { findingOf } from './finding.ts'
import type { Law } from './law.ts'
import type { Run } from './run.ts'
import type { Touch } from './touch.ts'

/** Frames looked at, losses in them from which on contact chatters, frames of a loss. */
export const chatterRule = { window: 30, losses: 3, gap: 5 } as const

interface Losses {
  readonly touch: Touch
  readonly frames: number[]
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
        const losses = pairs.get(key) ?? { touch, frames: [], parting: 0 }
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
function count({ touch: { a, b }, frames }: Losses, frame: number, found: Run[]): void {
  const last = frames.at(-1)
  frames.push(frame)
  const run = found.findLast(({ pair }) => pair?.[0] === a && pair[1] === b)
  if (run && last !== undefined && frame - last <= chatterRule.window / chatterRule.losses) {
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
