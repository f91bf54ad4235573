/**
 * Nothing passes through anything without contact.
 *
 * Bodies with geometry: the path of a centre crosses the box of another body. Environment: the centre crosses a plane
 * on which bodies rested. Without geometry, moving more than 1 m per frame is a warning. Contact in this frame or the
 * next is not tunnelling.
 */

import { stateAt } from '@causeway/recording'
import { createFinding } from '../../findings/finding.ts'
import { num } from '../../steps/block.ts'
import { RunCollector } from '../../steps/run.ts'
import type { Step } from '../../steps/step.ts'
import type { Point3 } from '../../vector.ts'
import type { Law } from '../law.ts'

/** Maximum displacement per frame in m of a body of unknown size. */
const maxUnknownMove = 1

interface Suspect {
  readonly frame: number
  readonly mover: number
  /** Id of the other body, or of the environment body of the plane. */
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

export function tunnellingLaw(): Law {
  const passed = new RunCollector()
  const crossed = new RunCollector()
  const fast = new RunCollector()
  const planes = new Map<number, Plane>()
  let known: readonly Plane[] = []
  let suspects: Suspect[] = []
  let hasShapes: boolean | undefined
  let sizes: Float64Array | undefined
  const seen = new Map<number, number>()

  const confirm = (step: Step): void => {
    for (const { frame, mover, other, isPlane, way, size } of suspects) {
      if (areTouching(step.touches, mover, other) || step.frame !== frame + 1) continue
      const bodies = isPlane ? [mover] : [mover, other]
      const runs = isPlane ? crossed : passed
      runs.add(`${mover} ${other}`, frame, { value: way, limit: size }, { bodies, pair: [mover, other] })
    }
    suspects = []
  }

  return {
    observe(step) {
      confirm(step)
      const { scene, frame, touches } = step
      hasShapes ??= scene.extents.some((extents) => extents !== undefined)
      sizes ??= Float64Array.from(scene.extents, (extents) =>
        extents === undefined ? maxUnknownMove : 2 * Math.min(...extents),
      )
      if (!Number.isNaN(step.dt)) {
        for (let column = 0; column < scene.bodies.length; column++) {
          const way = num(step.distance, column)
          const extents = scene.extents[column]
          const size = num(sizes, column)
          const mover = scene.bodies[column] ?? 0
          if (extents === undefined && way > size && step.touching[column] === 0)
            fast.add(mover, frame, { value: way, limit: size }, { bodies: [mover], pair: null })
          for (const plane of known)
            if (crossesPlane(step, column, plane) && !areTouching(touches, mover, plane.body))
              suspects.push({ frame, mover, other: plane.body, isPlane: true, way, size })
          if (hasShapes && way > 0.25 * size)
            for (let against = 0; against < scene.bodies.length; against++) {
              const box = scene.extents[against]
              const other = scene.bodies[against] ?? 0
              if (against === column || box === undefined || way < num(step.distance, against)) continue
              if (passesThrough(step, column, against, box) && !areTouching(touches, mover, other))
                suspects.push({ frame, mover, other, isPlane: false, way, size: 2 * Math.min(...box) })
            }
        }
      }
      if (findPlanes(step, planes, seen)) known = [...planes.values()]
    },
    findings: () => [
      ...passed.runs.map((run) =>
        createFinding(run, { kind: 'tunnelling', unit: 'm/frame', confidence: 0.9 }),
      ),
      ...crossed.runs.map((run) =>
        createFinding(run, { kind: 'tunnelling', unit: 'm/frame', confidence: 0.7 }),
      ),
      ...fast.runs.map((run) =>
        createFinding(run, { kind: 'tunnelling', severity: 'warning', unit: 'm/frame', confidence: 0.3 }),
      ),
    ],
  }
}

/** Minimum frames of contact that define a plane. */
const minPlaneContacts = 3

const areTouching = (touches: Step['touches'], one: number, other: number): boolean =>
  touches.some(({ a, b }) => (a === one && b === other) || (b === one && a === other))

/** Derives planes of environment bodies from lever arms and normals of resting bodies. Returns whether there is a new one. */
function findPlanes(step: Step, planes: Map<number, Plane>, seen: Map<number, number>): boolean {
  const before = planes.size
  const { scene, touches, window } = step
  for (const { a, b, columnA, normal, normals, constraintRows, leverA } of touches) {
    if (planes.has(b) || !scene.isEnvironment(b) || columnA < 0 || constraintRows === 0 || step.row === 0)
      continue
    // In a corner, the mean lever arm ends on neither plane.
    if (normals.count !== 1) continue
    const count = (seen.get(b) ?? 0) + 1
    seen.set(b, count)
    if (count < minPlaneContacts || a === b) continue
    const at = step.atBefore(columnA)
    const s = window.states.data
    // The normal points into the environment, so the free side has a smaller offset.
    const offset = [0, 1, 2].reduce(
      (sum, i) => sum + normal[i as 0 | 1 | 2] * (num(s, at + i) + leverA[i as 0 | 1 | 2]),
      0,
    )
    if (Number.isFinite(offset)) planes.set(b, { body: b, normal: [...normal], offset })
  }
  return planes.size > before
}

function crossesPlane(step: Step, column: number, { normal, offset }: Plane): boolean {
  const s = step.window.states.data
  const [at, was] = [step.at(column), step.atBefore(column)]
  const side = (from: number): number =>
    num(s, from) * normal[0] + num(s, from + 1) * normal[1] + num(s, from + 2) * normal[2] - offset
  return side(was) < 0 && side(at) > 0
}

/** Whether the path of a centre enters and leaves a box, by the slab method in the frame of the box. */
function passesThrough(step: Step, column: number, against: number, box: Point3): boolean {
  const from = toLocalFrame(step, column, against, step.row - 1)
  const to = toLocalFrame(step, column, against, step.row)
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

function toLocalFrame(
  step: Step,
  column: number,
  against: number,
  row: number,
): readonly [number, number, number] {
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
