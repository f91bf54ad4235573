/** How bodies and ground of a recording look, told by meshes and contacts, in the worker of the recording. */
import {
  type BodyId,
  constraintAt,
  type FlatRows,
  type FrameWindow,
  frictionAt,
  stateAt,
} from '@causeway/recording'
import type { AnalysisContext } from '@causeway/recording/worker'
import { environmentTest } from '../domain/body.ts'
import {
  type Ground,
  type Looks,
  type Shape,
  shapeOfContacts,
  type Turn,
  unturned,
} from '../domain/scene-view/shape.ts'
import { add, type Place } from '../domain/scene-view/view.ts'

/** Contact points of a body that are looked at. */
const mostPoints = 200

/** Frames that are looked at, from the one that is drawn on. */
const mostFrames = 5000

/** Shapes of bodies, and the planes that the environment touches them with; the latest before or at the frame. */
export async function looks(
  { frame }: { readonly frame: number },
  { windows, summary, reader, signal, progress }: AnalysisContext,
): Promise<Looks> {
  const isEnvironment = environmentTest(summary)
  const points = new Map<BodyId, Place[]>()
  const grounds = new Map<BodyId, Ground>()
  const first = summary.frames?.first_frame ?? 0
  const range = { start: Math.max(first, frame - mostFrames), end: Math.max(frame, first + mostFrames) }
  for await (const window of windows.over(range, { signal, progress })) {
    for (let row = Math.max(1, window.from); row < window.to; row++) {
      for (const touch of touches(window, row)) {
        const found = points.get(touch.body) ?? []
        if (found.length < mostPoints) points.set(touch.body, [...found, unturned(touch.turn, touch.lever)])
        const isPast = (window.frames[row] ?? 0) <= frame
        if (isEnvironment(touch.other) && (isPast || !grounds.has(touch.other)))
          grounds.set(touch.other, {
            body: touch.other,
            at: add(touch.at, touch.lever),
            normal: touch.outward,
          })
      }
    }
  }
  const shapes = new Map<BodyId, Shape>([...reader.extents()].map(([body, box]) => [body, { box }]))
  for (const [body, found] of points) {
    const shape = shapes.has(body) ? null : shapeOfContacts(found)
    if (shape !== null) shapes.set(body, shape)
  }
  return { shapes, grounds: [...grounds.values()] }
}

/** A contact point as one of its bodies has it; the pose is that before the step. */
interface Touch {
  readonly body: BodyId
  readonly other: BodyId
  readonly at: Place
  readonly turn: Turn
  readonly lever: Place
  /** from the other body to this one */
  readonly outward: Place
}

function touches(window: FrameWindow, row: number): Touch[] {
  const { constraints, friction } = window
  const isPlain = (constraints.offset[row + 1] ?? 0) > (constraints.offset[row] ?? 0)
  return isPlain ? sides(window, row, constraints, constraintAt) : sides(window, row, friction, frictionAt)
}

function sides(
  window: FrameWindow,
  row: number,
  { offset, data }: FlatRows,
  columns: Readonly<Record<'a' | 'b' | 'normal' | 'leverA' | 'leverB', number>>,
): Touch[] {
  const found: Touch[] = []
  for (let at = offset[row] ?? 0; at < (offset[row + 1] ?? 0); at++) {
    const vector = (column: number): Place => [
      data.get(at, column),
      data.get(at, column + 1),
      data.get(at, column + 2),
    ]
    const [a, b] = [data.get(at, columns.a), data.get(at, columns.b)]
    const normal = vector(columns.normal)
    for (const [body, other, lever, sign] of [
      [a, b, columns.leverA, -1],
      [b, a, columns.leverB, 1],
    ] as const) {
      const pose = poseOf(window, row - 1, body)
      const touch = { body, other, lever: vector(lever), outward: add([0, 0, 0], normal, sign) }
      if (pose !== null && [...touch.lever, ...normal].every(Number.isFinite))
        found.push({ ...touch, ...pose })
    }
  }
  return found
}

function poseOf(
  { bodies, states }: FrameWindow,
  row: number,
  body: BodyId,
): Pick<Touch, 'at' | 'turn'> | null {
  const column = bodies.indexOf(body)
  if (column === -1) return null
  const value = (field: number): number => states.get(row, column, field)
  const at: Place = [value(stateAt.position), value(stateAt.position + 1), value(stateAt.position + 2)]
  const q = stateAt.orientation
  const turn: Turn = [value(q), value(q + 1), value(q + 2), value(q + 3)]
  return [...at, ...turn].every(Number.isFinite) ? { at, turn } : null
}
