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
  readonly distance: number
  readonly size: number
}

interface Plane {
  readonly body: number
  /** Points into the environment. */
  readonly normal: readonly [number, number, number]
  readonly offset: number
}

export function tunnellingLaw(): Law {
  const passedBodies = new RunCollector()
  const crossedPlanes = new RunCollector()
  const fastBodies = new RunCollector()
  const planes = new Map<number, Plane>()
  let knownPlanes: readonly Plane[] = []
  let suspects: Suspect[] = []
  let boxes: readonly FixedBox[] | undefined
  let bodiesWithShape: ReadonlySet<number> | undefined
  let hasShapes: boolean | undefined
  let sizes: Float64Array | undefined
  const contactFrames = new Map<number, number>()

  const confirmSuspects = (step: Step): void => {
    for (const { frame, mover, other, isPlane, distance, size } of suspects) {
      if (areTouching(step.touches, mover, other) || step.frame !== frame + 1) continue
      if (isPlane && !step.scene.hasContacts && hasReturned(step, mover, planes.get(other))) continue
      const bodies = isPlane ? [mover] : [mover, other]
      const runs = isPlane ? crossedPlanes : passedBodies
      runs.add(`${mover} ${other}`, frame, { value: distance, limit: size }, { bodies, pair: [mover, other] })
    }
    suspects = []
  }

  return {
    observe(step) {
      confirmSuspects(step)
      const { scene, frame, touches } = step
      hasShapes ??= scene.extents.some((extents) => extents !== undefined)
      sizes ??= Float64Array.from(scene.extents, (extents) =>
        extents === undefined ? maxUnknownMove : 2 * Math.min(...extents),
      )
      if (boxes === undefined) {
        boxes = listFixedBoxes(scene)
        for (const plane of listRecordedPlanes(scene)) planes.set(plane.body, plane)
        knownPlanes = [...planes.values()]
        bodiesWithShape = new Set(listFixed(scene).map(({ body }) => body))
      }
      for (let column = 0; column < scene.bodies.length && !Number.isNaN(step.dt); column++) {
        const distance = num(step.distance, column)
        const size = num(sizes, column)
        const mover = scene.bodies[column] ?? 0
        if (scene.extents[column] === undefined && distance > size && step.touching[column] === 0)
          fastBodies.add(mover, frame, { value: distance, limit: size }, { bodies: [mover], pair: null })
        for (const plane of knownPlanes)
          if (
            crossesPlane(step, column, plane) &&
            !areTouching(touches, mover, plane.body) &&
            !mayOverlap(scene, mover, plane.body)
          )
            suspects.push({ frame, mover, other: plane.body, isPlane: true, distance, size })
        if (!(distance > 0.25 * size)) continue
        suspects.push(...findPassedBoxes(step, column, boxes))
        if (hasShapes) suspects.push(...findPassedBodies(step, column))
      }
      if (findPlanes(step, { planes, contactFrames, bodiesWithShape })) knownPlanes = [...planes.values()]
    },
    findings: () => [
      ...passedBodies.runs.map((run) =>
        createFinding(run, { kind: 'tunnelling', unit: 'm/frame', confidence: 0.9 }),
      ),
      ...crossedPlanes.runs.map((run) =>
        createFinding(run, { kind: 'tunnelling', unit: 'm/frame', confidence: 0.6 }),
      ),
      ...fastBodies.runs.map((run) =>
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
  const distance = num(step.distance, column)
  return boxes.flatMap(({ body: other, half, pose }) =>
    passesThrough(step, column, [pose, pose], half) &&
    !areTouching(touches, mover, other) &&
    !mayOverlap(scene, mover, other)
      ? [{ frame, mover, other, isPlane: false, distance, size: 2 * Math.min(...half) }]
      : [],
  )
}

/** Returns slower bodies of known size through which the body moved without contact. */
function findPassedBodies(step: Step, column: number): readonly Suspect[] {
  const { frame, scene, touches } = step
  const mover = scene.bodies[column] ?? 0
  const distance = num(step.distance, column)
  const suspects: Suspect[] = []
  for (let otherColumn = 0; otherColumn < scene.bodies.length; otherColumn++) {
    const box = scene.extents[otherColumn]
    const other = scene.bodies[otherColumn] ?? 0
    if (otherColumn === column || box === undefined || distance < num(step.distance, otherColumn)) continue
    if (mayOverlap(scene, mover, other)) continue
    const states = step.window.states.data
    const poses = [
      readPose(states, getOffsetBefore(step, otherColumn)),
      readPose(states, getOffset(step, otherColumn)),
    ] as const
    if (passesThrough(step, column, poses, box) && !areTouching(touches, mover, other))
      suspects.push({ frame, mover, other, isPlane: false, distance, size: 2 * Math.min(...box) })
  }
  return suspects
}

const minPlaneContacts = 3

const areTouching = (touches: Step['touches'], bodyA: number, bodyB: number): boolean =>
  touches.some(({ a, b }) => (a === bodyA && b === bodyB) || (b === bodyA && a === bodyB))

interface FoundPlanes {
  readonly planes: Map<number, Plane>
  /** Contact frames by environment body. */
  readonly contactFrames: Map<number, number>
  readonly bodiesWithShape: ReadonlySet<number> | undefined
}

/** Returns whether it found a new plane. */
function findPlanes(step: Step, { planes, contactFrames, bodiesWithShape }: FoundPlanes): boolean {
  const previousCount = planes.size
  const { scene, touches, window } = step
  for (const { a, b, columnA, normal, normals, constraintRows, leverA } of touches) {
    if (
      planes.has(b) ||
      bodiesWithShape?.has(b) ||
      !isEnvironment(scene, b) ||
      columnA < 0 ||
      constraintRows === 0 ||
      step.row === 0
    )
      continue
    // In a corner, the mean lever arm does not end on any of the planes.
    if (normals.count !== 1) continue
    const count = (contactFrames.get(b) ?? 0) + 1
    contactFrames.set(b, count)
    if (count < minPlaneContacts || a === b) continue
    const at = getOffsetBefore(step, columnA)
    const s = window.states.data
    const offset = [0, 1, 2].reduce(
      (sum, i) => sum + normal[i as 0 | 1 | 2] * (num(s, at + i) + leverA[i as 0 | 1 | 2]),
      0,
    )
    if (Number.isFinite(offset)) planes.set(b, { body: b, normal: [...normal], offset })
  }
  return planes.size > previousCount
}

function crossesPlane(step: Step, column: number, { normal, offset }: Plane): boolean {
  const s = step.window.states.data
  const [at, previousAt] = [getOffset(step, column), getOffsetBefore(step, column)]
  const measureSide = (from: number): number =>
    num(s, from) * normal[0] + num(s, from + 1) * normal[1] + num(s, from + 2) * normal[2] - offset
  return measureSide(previousAt) < 0 && measureSide(at) > 0
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
    const pose: Pose = { at: [x, y, z], rotation: [w, i, j, k] }
    return [{ body, solid, pose }]
  })

const listFixedBoxes = (scene: Scene): readonly FixedBox[] =>
  listFixed(scene).flatMap(({ body, solid, pose }) =>
    solid.kind === 'box' ? [{ body, half: solid.half, pose }] : [],
  )

const listRecordedPlanes = (scene: Scene): readonly Plane[] =>
  listFixed(scene).flatMap(({ body, solid, pose: { at, rotation } }) => {
    if (solid.kind !== 'plane') return []
    const normal = rotate(rotation, [0, 0, -1])
    return [{ body, normal, offset: normal[0] * at[0] + normal[1] * at[1] + normal[2] * at[2] }]
  })

/** Whether the path crosses the box (slab method). */
function passesThrough(
  step: Step,
  column: number,
  [before, after]: readonly [Pose, Pose],
  box: Point3,
): boolean {
  const from = toLocal(read3(step.window.states.data, getOffsetBefore(step, column)), before)
  const to = toLocal(read3(step.window.states.data, getOffset(step, column)), after)
  let [entry, exit] = [0, 1]
  for (const i of [0, 1, 2] as const) {
    const extent = to[i] - from[i]
    if (extent === 0) {
      if (Math.abs(from[i]) > box[i]) return false
      continue
    }
    const [one, two] = [(-box[i] - from[i]) / extent, (box[i] - from[i]) / extent]
    entry = Math.max(entry, Math.min(one, two))
    exit = Math.min(exit, Math.max(one, two))
  }
  return entry < exit && entry > 0 && exit < 1
}

const toLocal = (point: Point3, { at, rotation }: Pose): Point3 => rotateInverse(rotation, add(point, at, -1))
