import {
  type BodyId,
  type ColumnSelection,
  constraintAt,
  type FlatRows,
  type FrameWindow,
  frictionAt,
  stateAt,
} from '@causeway/recording'
import type { AnalysisContext } from '@causeway/recording/worker'
import { createEnvironmentTest } from '../domain/bodies/body.ts'
import {
  type FixedBody,
  type Ground,
  inferShape,
  type SceneGeometry,
  type Shape,
  toEnvironment,
  toShape,
} from '../domain/drawing/shape.ts'
import { add, type Point3, type Rotation, rotateInverse } from '../domain/vector.ts'

const maxPoints = 200

/** Number of frames to search: those before `frame`, or the first ones. */
const maxFrames = 5000

const selection: ColumnSelection = {
  parts: ['position', 'orientation', 'constraints', 'friction', 'frictionVectors'],
}

/** Returns recorded shapes, planes and names. Infers missing shapes and planes from contacts. */
export async function findGeometry(
  { frame }: { readonly frame: number },
  context: AnalysisContext,
): Promise<SceneGeometry> {
  const { summary, reader } = context
  const { points, grounds } = await collectContacts(frame, context)
  const outlines = reader.outlines()
  const shapes = new Map<BodyId, Shape>(
    [...reader.extents()].map(([body, box]) => {
      const outline = outlines.get(body)
      return [body, outline === undefined ? { box } : { box, outline }]
    }),
  )
  const fixed: FixedBody[] = []
  const names = new Map<BodyId, string>()
  for (const geometry of summary.geometry) {
    const { body_id, name } = geometry
    if (name !== null) names.set(body_id, name)
    const shape = toShape(geometry)
    if (shape !== null && !(geometry.shape === null && outlines.has(body_id))) shapes.set(body_id, shape)
    const environment = toEnvironment(geometry)
    if (environment === null) continue
    if ('normal' in environment) grounds.set(body_id, environment)
    else {
      fixed.push(environment)
      grounds.delete(body_id)
    }
  }
  for (const [body, contactPoints] of points) {
    const shape = shapes.has(body) ? null : inferShape(contactPoints)
    if (shape !== null) shapes.set(body, shape)
  }
  return { shapes, grounds: [...grounds.values()], fixed, names }
}

/** Returns contact points in the axes of their bodies, and contact planes of the environment. */
async function collectContacts(frame: number, { windows, summary, signal, progress }: AnalysisContext) {
  const isEnvironment = createEnvironmentTest(summary)
  const points = new Map<BodyId, Point3[]>()
  const grounds = new Map<BodyId, Ground>()
  const first = summary.frames?.first_frame ?? 0
  const range = { start: Math.max(first, frame - maxFrames), end: Math.max(frame, first + maxFrames) }
  for await (const window of windows.over(range, { signal, progress }, selection)) {
    for (let row = Math.max(1, window.from); row < window.to; row++) {
      for (const touch of listContacts(window, row)) {
        const contactPoints = points.get(touch.body) ?? []
        if (contactPoints.length < maxPoints)
          points.set(touch.body, [...contactPoints, rotateInverse(touch.rotation, touch.lever)])
        const hasReachedFrame = (window.frames[row] ?? 0) <= frame
        if (isEnvironment(touch.other) && (hasReachedFrame || !grounds.has(touch.other)))
          grounds.set(touch.other, {
            body: touch.other,
            at: add(touch.at, touch.lever),
            normal: touch.normal,
          })
      }
    }
  }
  return { points, grounds }
}

/** A contact point at `lever` from the body's centre `at`, before the step. */
interface ContactPoint {
  readonly body: BodyId
  readonly other: BodyId
  readonly at: Point3
  readonly rotation: Rotation
  readonly lever: Point3
  /** Normal from the other body to this body. */
  readonly normal: Point3
}

function listContacts(window: FrameWindow, row: number): ContactPoint[] {
  const { constraints, friction } = window
  const hasConstraints = (constraints.offset[row + 1] ?? 0) > (constraints.offset[row] ?? 0)
  return hasConstraints
    ? readRows(window, row, constraints, constraintAt)
    : readRows(window, row, friction, frictionAt)
}

function readRows(
  window: FrameWindow,
  row: number,
  { offset, data }: FlatRows,
  columns: Readonly<Record<'a' | 'b' | 'normal' | 'leverA' | 'leverB', number>>,
): ContactPoint[] {
  const contactPoints: ContactPoint[] = []
  for (let at = offset[row] ?? 0; at < (offset[row + 1] ?? 0); at++) {
    const readVector = (column: number): Point3 => [
      data.get(at, column),
      data.get(at, column + 1),
      data.get(at, column + 2),
    ]
    const [a, b] = [data.get(at, columns.a), data.get(at, columns.b)]
    const normal = readVector(columns.normal)
    for (const [body, other, lever, sign] of [
      [a, b, columns.leverA, -1],
      [b, a, columns.leverB, 1],
    ] as const) {
      const pose = getPose(window, row - 1, body)
      const touch = { body, other, lever: readVector(lever), normal: add([0, 0, 0], normal, sign) }
      if (pose !== null && [...touch.lever, ...normal].every(Number.isFinite))
        contactPoints.push({ ...touch, ...pose })
    }
  }
  return contactPoints
}

function getPose(
  { bodies, states }: FrameWindow,
  row: number,
  body: BodyId,
): Pick<ContactPoint, 'at' | 'rotation'> | null {
  const column = bodies.indexOf(body)
  if (column === -1) return null
  const readValue = (field: number): number => states.get(row, column, field)
  const at: Point3 = [
    readValue(stateAt.position),
    readValue(stateAt.position + 1),
    readValue(stateAt.position + 2),
  ]
  const q = stateAt.orientation
  const rotation: Rotation = [readValue(q), readValue(q + 1), readValue(q + 2), readValue(q + 3)]
  return [...at, ...rotation].every(Number.isFinite) ? { at, rotation } : null
}
