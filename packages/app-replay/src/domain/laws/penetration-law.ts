/**
 * Bodies do not stay inside each other: depth <= 10 mm.
 *
 * Two habits of engines are allowed, unless the caller says what is too deep. A body that hits at v, 0.5 m/s or more, is
 * found up to v dt deep (1.5 v dt is let pass while that contact lasts). A body that is held by a velocity bias and
 * recorded at rest with -g dt, within a half of it, sinks until the bias makes good what gravity adds: 5 mm of slop +
 * g dt^2 / 0.2, and 20 % on top.
 */
import { stateAt } from '@causeway/recording'
import { num } from './component.ts'
import { findingOf } from './finding.ts'
import type { Law } from './law.ts'
import { collectRuns } from './run.ts'
import type { Step } from './step.ts'
import type { Touch } from './touch.ts'

/** m, deeper overlap is too deep. */
export const depthLimit = 0.01

/** m/s, slower approaches are no impacts. */
const impactSpeed = 0.5

/** Frames from which on an overlap is more than a moment of an impact. */
const lasting = 3

/** Makes the law; `strict`, m, takes the place of the usual limit with all that it allows. */
export function penetrationLaw(strict?: number): Law {
  const limit = strict ?? depthLimit
  const runs = collectRuns(2)
  const hardest = new Map<number, number>()
  return {
    see(step) {
      const { frame, touches, dt, scene } = step
      for (const touch of touches) {
        const { a, b, key, depth, since, closing } = touch
        const before = since === frame ? 0 : (hardest.get(key) ?? 0)
        const impact = Math.abs(closing) >= impactSpeed ? Math.abs(closing) : 0
        hardest.set(key, Math.max(before, impact))
        if (!(depth > limit)) continue
        const usual = Number.isNaN(dt) ? scene.dt : dt
        const allowed =
          strict ?? Math.max(limit + 1.5 * usual * Math.max(before, impact), biasDepth(step, touch, usual))
        if (depth > allowed) runs.hit(key, frame, { value: depth, limit }, { bodies: [a, b], pair: [a, b] })
      }
    },
    findings: () =>
      runs.all().map((run) =>
        findingOf(run, {
          kind: 'penetration',
          severity: run.frames >= lasting ? 'error' : 'info',
          unit: 'm',
          confidence: 0.9,
        }),
      ),
  }
}

/** Depth at which a velocity bias holds a body that is recorded with g dt towards the contact; 0 for any other. */
function biasDepth({ scene, window, at }: Step, { columnA, normal }: Touch, dt: number): number {
  if (columnA < 0) return 0
  const v = at(columnA) + stateAt.velocity
  const s = window.states.data
  const speed = [0, 1, 2].reduce((sum, i) => sum + num(s, v + i) * (normal[i] ?? 0), 0)
  const gained = scene.g * dt
  return speed >= 0.5 * gained && speed <= 1.5 * gained ? 1.2 * (0.005 + 5 * scene.g * dt * dt) : 0
}
