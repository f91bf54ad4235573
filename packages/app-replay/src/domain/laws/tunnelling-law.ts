/**
 * Nothing passes through anything: a body that was outside another one does not come out behind it without contact.
 *
 * Against bodies with recorded geometry: the way of the centre in the frame of the other body crosses its box. Against
 * the environment: the centre crosses a plane on which bodies were seen to rest. Where a body has no geometry, moving
 * further than 1 m in a frame is told as a risk. Contact in the frame or in the next one clears it.
 */

import { stateAt } from '@causeway/recording'
import { num } from './component.ts'
import { findingOf } from './finding.ts'
import type { Law } from './law.ts'
import { collectRuns } from './run.ts'
import type { Extents } from './scene.ts'
import type { Step } from './step.ts'

/** m, way in a frame from which on a body of unknown size may have passed through something. */
const unknownSize = 1

interface Suspect {
  readonly frame: number
  readonly mover: number
  /** id of the other body, or of the environment body whose plane was crossed */
  readonly other: number
  readonly isPlane: boolean
  readonly way: number
  readonly size: number
}

interface Plane {
  readonly body: number
  readonly normal: readonly [number, number, number]
  readonly offset: number
}

/** Makes the law. */
export function tunnellingLaw(): Law {
  const passed = collectRuns()
  const crossed = collectRuns()
  const fast = collectRuns()
  const planes = new Map<number, Plane>()
  let known: readonly Plane[] = []
  let suspects: Suspect[] = []
  let knowsShapes: boolean | undefined
  let sizes: Float64Array | undefined
  const seen = new Map<number, number>()

  const confirm = (step: Step): void => {
    for (const { frame, mover, other, isPlane, way, size } of suspects) {
      if (touch(step.touches, mover, other) || step.frame !== frame + 1) continue
      const bodies = isPlane ? [mover] : [mover, other]
      const runs = isPlane ? crossed : passed
      runs.hit(`${mover} ${other}`, frame, { value: way, limit: size }, { bodies, pair: [mover, other] })
    }
    suspects = []
  }

  return {
    see(step) {
      confirm(step)
      const { scene, frame, touches } = step
      knowsShapes ??= scene.extents.some((extents) => extents !== undefined)
      sizes ??= Float64Array.from(scene.extents, (extents) =>
        extents === undefined ? unknownSize : 2 * Math.min(...extents),
      )
      if (!Number.isNaN(step.dt)) {
        for (let column = 0; column < scene.bodies.length; column++) {
          const way = num(step.way, column)
          const extents = scene.extents[column]
          const size = num(sizes, column)
          const mover = scene.bodies[column] ?? 0
          if (extents === undefined && way > size && step.touching[column] === 0)
            fast.hit(mover, frame, { value: way, limit: size }, { bodies: [mover], pair: null })
          for (const plane of known)
            if (crosses(step, column, plane) && !touch(touches, mover, plane.body))
              suspects.push({ frame, mover, other: plane.body, isPlane: true, way, size })
          if (knowsShapes && way > 0.25 * size)
            for (let against = 0; against < scene.bodies.length; against++) {
              const box = scene.extents[against]
              const other = scene.bodies[against] ?? 0
              if (against === column || box === undefined || way < num(step.way, against)) continue
              if (passes(step, column, against, box) && !touch(touches, mover, other))
                suspects.push({ frame, mover, other, isPlane: false, way, size: 2 * Math.min(...box) })
            }
        }
      }
      if (learnPlanes(step, planes, seen)) known = [...planes.values()]
    },
    findings: () => [
      ...passed.all().map((run) => findingOf(run, { kind: 'tunnelling', unit: 'm/frame', confidence: 0.9 })),
      ...crossed.all().map((run) => findingOf(run, { kind: 'tunnelling', unit: 'm/frame', confidence: 0.7 })),
      ...fast
        .all()
        .map((run) =>
          findingOf(run, { kind: 'tunnelling', severity: 'warning', unit: 'm/frame', confidence: 0.3 }),
        ),
    ],
  }
}

/** Frames of contact after which a plane is believed. */
const believed = 3

const touch = (touches: Step['touches'], one: number, other: number): boolean =>
  touches.some(({ a, b }) => (a === one && b === other) || (b === one && a === other))

/** Planes of environment bodies, from the lever arms and normals of what rests on them; true where one was learned. */
function learnPlanes(step: Step, planes: Map<number, Plane>, seen: Map<number, number>): boolean {
  const before = planes.size
  const { scene, touches, window } = step
  for (const { a, b, columnA, normal, normals, constraintRows, leverA } of touches) {
    if (planes.has(b) || !scene.isEnvironment(b) || columnA < 0 || constraintRows === 0 || step.row === 0)
      continue
    // In a corner the mean lever arm ends on neither plane.
    if (normals.count !== 1) continue
    const count = (seen.get(b) ?? 0) + 1
    seen.set(b, count)
    if (count < believed || a === b) continue
    const at = step.atBefore(columnA)
    const s = window.states.data
    // The normal points into the environment: the free side has a smaller offset.
    const offset = [0, 1, 2].reduce(
      (sum, i) => sum + normal[i as 0 | 1 | 2] * (num(s, at + i) + leverA[i as 0 | 1 | 2]),
      0,
    )
    if (Number.isFinite(offset)) planes.set(b, { body: b, normal: [...normal], offset })
  }
  return planes.size > before
}

function crosses(step: Step, column: number, { normal, offset }: Plane): boolean {
  const s = step.window.states.data
  const [at, was] = [step.at(column), step.atBefore(column)]
  const side = (from: number): number =>
    num(s, from) * normal[0] + num(s, from + 1) * normal[1] + num(s, from + 2) * normal[2] - offset
  return side(was) < 0 && side(at) > 0
}

/** Does the centre of a body pass through the box of another one, from outside to outside? Slabs, in the box's frame. */
function passes(step: Step, column: number, against: number, box: Extents): boolean {
  const from = local(step, column, against, step.row - 1)
  const to = local(step, column, against, step.row)
  let [enter, leave] = [0, 1]
  for (const i of [0, 1, 2] as const) {
    const way = to[i] - from[i]
    if (way === 0) {
      if (Math.abs(from[i]) > box[i]) return false
      continue
    }
    const [one, two] = [(-box[i] - from[i]) / way, (box[i] - from[i]) / way]
    enter = Math.max(enter, Math.min(one, two))
    leave = Math.min(leave, Math.max(one, two))
  }
  return enter < leave && enter > 0 && leave < 1
}

function local(step: Step, column: number, against: number, row: number): readonly [number, number, number] {
  const count = step.scene.bodies.length
  const s = step.window.states.data
  const [at, of] = [(row * count + column) * stateAt.width, (row * count + against) * stateAt.width]
  const [a, b, c] = [
    num(s, at) - num(s, of),
    num(s, at + 1) - num(s, of + 1),
    num(s, at + 2) - num(s, of + 2),
  ]
  const q = of + stateAt.orientation
  const [w, x, y, z] = [num(s, q), -num(s, q + 1), -num(s, q + 2), -num(s, q + 3)]
  const [tx, ty, tz] = [2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)]
  return [a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx]
}
