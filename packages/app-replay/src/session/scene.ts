import type { Frame, Recording } from '@causeway/recording'
import { createEnvironmentTest, isSamePair, type Pair } from '../domain/bodies/body.ts'
import type { ForceScale } from '../domain/contacts/force.ts'
import { checkCone } from '../domain/contacts/friction-cone.ts'
import { createSupportedBodySelector, listContactForces } from '../domain/drawing/contact-force.ts'
import { encodePoses, type Poses } from '../domain/drawing/encode-poses.ts'
import type { SceneGeometry } from '../domain/drawing/shape.ts'
import { toPoint3 } from '../domain/drawing/view.ts'
import { readBodyNames } from './body-names.ts'
import { getForceScale } from './frames.ts'

export const maxPoseFrames = 4096

export async function readPoses(
  recording: Recording,
  { from, to }: { readonly from: number; readonly to: number },
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const range = { start: from, end: Math.min(to, from + maxPoseFrames - 1) }
  return new Uint8Array(encodePoses(await recording.analyse<Poses>('poses', { range }, { signal })))
}

/**
 * Returns the scene's shapes (m) and environment planes, a frame's contact forces (N), and the names of its
 * environment bodies.
 */
export async function readScene(recording: Recording, frameId: number, signal: AbortSignal) {
  const frame = await recording.frame(frameId)
  // Shapes rarely change, so those of the first frame serve all frames.
  const first = { frame: recording.summary.frames?.first_frame ?? 0 }
  const geometry = await recording.analyse<SceneGeometry>('geometry', first, { signal, isCached: true })
  const isEnvironment = createEnvironmentTest(recording.summary)
  const heights = new Map(
    frame.states.map(({ body_id, position }) => [body_id, toPoint3(position)?.[2] ?? Number.NaN]),
  )
  const scale = await getForceScale(recording, frame)
  const forces = listContactForces(frame, scale, createSupportedBodySelector(heights, isEnvironment))
  const environmentIds = forces
    .flatMap(({ body_a_id, body_b_id }) => [body_a_id, body_b_id])
    .filter(isEnvironment)
  const names = await readBodyNames(recording, environmentIds, { signal })
  return {
    recording: recording.identity.id,
    frame_id: frameId,
    shapes: Object.fromEntries(geometry.shapes),
    grounds: geometry.grounds,
    names: Object.fromEntries(
      environmentIds.flatMap((id) => (names[id] === undefined ? [] : [[id, names[id]]])),
    ),
    contacts: forces.map(({ points, at, body, normal, friction, body_a_id, body_b_id }) => ({
      body_a_id,
      body_b_id,
      on: body,
      at,
      points,
      normal_n: normal,
      friction_n: friction,
      utilization: findUtilization(frame, { body_a_id, body_b_id }, scale),
    })),
  }
}

/** Returns the largest |Ft| / (mu*Fn) of a pair's contact points; `null` if it was not recorded. */
function findUtilization(frame: Frame, pair: Pair, scale: ForceScale): number | null {
  const values = frame.friction_constraints
    .filter((row) => isSamePair(row, pair))
    .flatMap((row) => checkCone(row, scale).utilization ?? [])
  return values.length === 0 ? null : Math.max(...values)
}
