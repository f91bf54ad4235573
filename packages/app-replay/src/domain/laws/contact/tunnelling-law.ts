/** Law `tunnelling` (docs/laws.md, Contacts). Without geometry, a motion of more than 1 m per frame is a warning. */
import { createFinding } from '../../findings/finding.ts'
import { type Pose, toSolid } from '../../shapes/solid.ts'
import { getOffset, getOffsetBefore, num, read3, readPose } from '../../steps/block.ts'
import { RunCollector } from '../../steps/run.ts'
import { isEnvironment, mayOverlap, type Scene } from '../../steps/scene.ts'
import type { Step } from '../../steps/step.ts'
import { add, type Point3, rotate, rotateInverse } from '../../vector.ts'
import type { Law } from '../law.ts'

/** Maximum displacement of a body of unknown size, m per frame. */
const maxUnknownMove = 1

interface Suspect {
  readonly frame: number
  readonly mover: number
  /** Id of the other body, or of the body to which the plane belongs. */
  readonly other: number
  readonly isPlane: boolean
  readonly way: number
  readonly size: number
}

interface Plane {
  readonly body: number
  /** Points into the environment. */
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
  let boxes: readonly FixedBox[] | undefined
  let shaped: ReadonlySet<number> | undefined
  let hasShapes: boolean | undefined
  let sizes: Float64Array | undefined
  const seen = new Map<number, number>()

  const confirm = (step: Step): void => {
    for (const { frame, mover, other, isPlane, way, size } of suspects) {
      if (areTouching(step.touches, mover, other) || step.frame !== frame + 1) continue
      if (isPlane && !step.scene.hasContacts && hasReturned(step, mover, planes.get(other))) continue
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
      if (boxes === undefined) {
        boxes = listFixedBoxes(scene)
        for (const plane of listRecordedPlanes(scene)) planes.set(plane.body, plane)
        known = [...planes.values()]
        shaped = new Set(listFixed(scene).map(({ body }) => body))
      }
      for (let column = 0; column < scene.bodies.length && !Number.isNaN(step.dt); column++) {
        const way = num(step.distance, column)
        const size = num(sizes, column)
        const mover = scene.bodies[column] ?? 0
        if (scene.extents[column] === undefined && way > size && step.touching[column] === 0)
          fast.add(mover, frame, { value: way, limit: size }, { bodies: [mover], pair: null })
        for (const plane of known)
          if (
            crossesPlane(step, column, plane) &&
            !areTouching(touches, mover, plane.body) &&
            !mayOverlap(scene, mover, plane.body)
          )
            suspects.push({ frame, mover, other: plane.body, isPlane: true, way, size })
        if (!(way > 0.25 * size)) continue
        suspects.push(...findPassedBoxes(step, column, boxes))
        if (hasShapes) suspects.push(...findPassedBodies(step, column))
      }
      if (findPlanes(step, { planes, seen, shaped })) known = [...planes.values()]
    },
    findings: () => [
      ...passed.runs.map((run) =>
        createFinding(run, { kind: 'tunnelling', unit: 'm/frame', confidence: 0.9 }),
      ),
      ...crossed.runs.map((run) =>
        createFinding(run, { kind: 'tunnelling', unit: 'm/frame', confidence: 0.6 }),
      ),
      ...fast.runs.map((run) =>
        createFinding(run, { kind: 'tunnelling', severity: 'warning', unit: 'm/frame', confidence: 0.3 }),
      ),
    ],
  }
}

/** Whether the body bounced: it left a plane that it had crossed. */
function hasReturned(step: Step, mover: number, plane: Plane | undefined): boolean {
  const at = getOffset(step, step.scene.columnById.get(mover) ?? -1)
  const [x, y, z] = read3(step.window.states.data, at)
  return plane !== undefined && x * plane.normal[0] + y * plane.normal[1] + z * plane.normal[2] < plane.offset
}

function findPassedBoxes(step: Step, column: number, boxes: readonly FixedBox[]): readonly Suspect[] {
  const { frame, scene, touches } = step
  const mover = scene.bodies[column] ?? 0
  const way = num(step.distance, column)
  return boxes.flatMap(({ body: other, half, pose }) =>
    passesThrough(step, column, [pose, pose], half) &&
    !areTouching(touches, mover, other) &&
    !mayOverlap(scene, mover, other)
      ? [{ frame, mover, other, isPlane: false, way, size: 2 * Math.min(...half) }]
      : [],
  )
}

/** Ignores faster bodies and those of unknown size. */
function findPassedBodies(step: Step, column: number): readonly Suspect[] {
  const { frame, scene, touches } = step
  const mover = scene.bodies[column] ?? 0
  const way = num(step.distance, column)
  const found: Suspect[] = []
  for (let against = 0; against < scene.bodies.length; against++) {
    const box = scene.extents[against]
    const other = scene.bodies[against] ?? 0
    if (against === column || box === undefined || way < num(step.distance, against)) continue
    if (mayOverlap(scene, mover, other)) continue
    const states = step.window.states.data
    const poses = [
      readPose(states, getOffsetBefore(step, against)),
      readPose(states, getOffset(step, against)),
    ] as const
    if (passesThrough(step, column, poses, box) && !areTouching(touches, mover, other))
      found.push({ frame, mover, other, isPlane: false, way, size: 2 * Math.min(...box) })
  }
  return found
}

/** Minimum number of contact frames for a plane. */
const minPlaneContacts = 3

const areTouching = (touches: Step['touches'], one: number, other: number): boolean =>
  touches.some(({ a, b }) => (a === one && b === other) || (b === one && a === other))

interface FoundPlanes {
  readonly planes: Map<number, Plane>
  /** Contact frames by environment body. */
  readonly seen: Map<number, number>
  /** Environment bodies whose shape was recorded. */
  readonly shaped: ReadonlySet<number> | undefined
}

/** Returns whether it found a new plane. */
function findPlanes(step: Step, { planes, seen, shaped }: FoundPlanes): boolean {
  const before = planes.size
  const { scene, touches, window } = step
  for (const { a, b, columnA, normal, normals, constraintRows, leverA } of touches) {
    if (
      planes.has(b) ||
      shaped?.has(b) ||
      !isEnvironment(scene, b) ||
      columnA < 0 ||
      constraintRows === 0 ||
      step.row === 0
    )
      continue
    // In a corner, the mean lever arm does not end on any of the planes.
    if (normals.count !== 1) continue
    const count = (seen.get(b) ?? 0) + 1
    seen.set(b, count)
    if (count < minPlaneContacts || a === b) continue
    const at = getOffsetBefore(step, columnA)
    const s = window.states.data
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
  const [at, was] = [getOffset(step, column), getOffsetBefore(step, column)]
  const side = (from: number): number =>
    num(s, from) * normal[0] + num(s, from + 1) * normal[1] + num(s, from + 2) * normal[2] - offset
  return side(was) < 0 && side(at) > 0
}

interface FixedBox {
  readonly body: number
  readonly half: Point3
  readonly pose: Pose
}

const listFixed = (scene: Scene) =>
  [...scene.geometry.values()].flatMap((geometry) => {
    const { body_id: body, position, orientation } = geometry
    const solid = toSolid(geometry)
    if (solid === undefined || position === null || !isEnvironment(scene, body)) return []
    const [x = 0, y = 0, z = 0] = position
    const [w = 1, i = 0, j = 0, k = 0] = orientation ?? []
    const pose: Pose = { at: [x, y, z], turn: [w, i, j, k] }
    return [{ body, solid, pose }]
  })

const listFixedBoxes = (scene: Scene): readonly FixedBox[] =>
  listFixed(scene).flatMap(({ body, solid, pose }) =>
    solid.kind === 'box' ? [{ body, half: solid.half, pose }] : [],
  )

const listRecordedPlanes = (scene: Scene): readonly Plane[] =>
  listFixed(scene).flatMap(({ body, solid, pose: { at, turn } }) => {
    if (solid.kind !== 'plane') return []
    const normal = rotate(turn, [0, 0, -1])
    return [{ body, normal, offset: normal[0] * at[0] + normal[1] * at[1] + normal[2] * at[2] }]
  })

/** Uses the slab method. */
function passesThrough(
  step: Step,
  column: number,
  [before, after]: readonly [Pose, Pose],
  box: Point3,
): boolean {
  const from = toLocal(read3(step.window.states.data, getOffsetBefore(step, column)), before)
  const to = toLocal(read3(step.window.states.data, getOffset(step, column)), after)
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

const toLocal = (point: Point3, { at, turn }: Pose): Point3 => rotateInverse(turn, add(point, at, -1))
