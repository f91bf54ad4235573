import type { Recording } from '@causeway/recording'
import { createEnvironmentTest } from '../domain/bodies/body.ts'
import { chooseCarriedBody, contactForces } from '../domain/drawing/contact-force.ts'
import { encodePoses, type Poses } from '../domain/drawing/encode-poses.ts'
import type { SceneGeometry } from '../domain/drawing/shape.ts'
import { toPoint3 } from '../domain/drawing/view.ts'
import { getForceScale } from './frames.ts'

export const maxPoseFrames = 4096

/** Encodes at most `maxPoseFrames` frames. */
export async function readPoses(
  recording: Recording,
  { from, to }: { readonly from: number; readonly to: number },
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const range = { start: from, end: Math.min(to, from + maxPoseFrames - 1) }
  return new Uint8Array(encodePoses(await recording.analyse<Poses>('poses', { range }, { signal })))
}

/** Returns a frame's shapes (m), environment planes, and contact forces (N). */
export async function readScene(recording: Recording, frameId: number, signal: AbortSignal) {
  const frame = await recording.frame(frameId)
  // All contacts of a long range yield shapes that are the same for most frames.
  const first = { frame: recording.summary.frames?.first_frame ?? 0 }
  const geometry = await recording.analyse<SceneGeometry>('geometry', first, { signal, isCached: true })
  const isEnvironment = createEnvironmentTest(recording.summary)
  const heights = new Map(
    frame.states.map(({ body_id, position }) => [body_id, toPoint3(position)?.[2] ?? Number.NaN]),
  )
  const forces = contactForces(
    frame,
    await getForceScale(recording, frame),
    chooseCarriedBody(heights, isEnvironment),
  )
  return {
    recording: recording.identity.id,
    frame_id: frameId,
    shapes: Object.fromEntries(geometry.shapes),
    grounds: geometry.grounds,
    contacts: forces.map(({ points, at, on, normal, friction, body_a_id, body_b_id }) => ({
      body_a_id,
      body_b_id,
      on,
      at,
      points,
      normal_n: normal,
      friction_n: friction,
    })),
  }
}
