import { type ColumnSelection, type FrameRange, stateAt } from '@causeway/recording'
import type { AnalysisContext } from '@causeway/recording/worker'
import { chooseOrigin, type Poses, poseWidth } from '../domain/drawing/encode-poses.ts'

/** Bodies with a larger coordinate, in m, are marked as too far away. */
const maxDistance = 1e6

const selection: ColumnSelection = { parts: ['position', 'orientation'] }

/** Returns positions relative to `origin`, which is near the bodies. */
export async function readPoses(
  { range }: { readonly range: FrameRange },
  { windows, signal, progress }: AnalysisContext,
): Promise<Poses> {
  const frames: number[] = []
  const times: number[] = []
  const rows: Float64Array[] = []
  const present: number[] = []
  let bodies: readonly number[] = []
  for await (const window of windows.over(range, { signal, progress }, selection)) {
    bodies = window.bodies
    for (let row = window.from; row < window.to; row++) {
      frames.push(window.frames[row] ?? Number.NaN)
      times.push(window.times[row] ?? Number.NaN)
      const poses = new Float64Array(bodies.length * poseWidth)
      for (let body = 0; body < bodies.length; body++) {
        present.push(window.present[row * bodies.length + body] === 0 ? 0 : 1)
        for (let field = 0; field < 3; field++)
          poses[body * poseWidth + field] = window.states.get(row, body, stateAt.position + field)
        for (let field = 0; field < 4; field++)
          poses[body * poseWidth + 3 + field] = window.states.get(row, body, stateAt.orientation + field)
      }
      rows.push(poses)
    }
  }
  const origin = chooseOrigin(rows, maxDistance)
  const values = new Float32Array(rows.length * bodies.length * poseWidth)
  const states = new Uint8Array(rows.length * bodies.length)
  for (const [row, poses] of rows.entries())
    for (let body = 0; body < bodies.length; body++) {
      const at = row * bodies.length + body
      const pose = poses.subarray(body * poseWidth, (body + 1) * poseWidth)
      const isKnown = pose.every(Number.isFinite)
      const isWithinRange = pose.subarray(0, 3).every((value) => Math.abs(value) <= maxDistance)
      states[at] = (present[at] ?? 0) | (isKnown ? 0 : 2) | (isWithinRange ? 0 : 4)
      for (let field = 0; field < poseWidth; field++)
        values[at * poseWidth + field] = (pose[field] ?? Number.NaN) - (origin[field] ?? 0)
    }
  return {
    bodies,
    frames: Float64Array.from(frames),
    times: Float64Array.from(times),
    origin,
    states,
    values,
  }
}
