import { readArguments } from '@causeway/app-kit'
import { z } from 'zod'
import { createEnvironmentTest } from './domain/bodies/body.ts'
import { chooseCarriedBody, contactForces } from './domain/drawing/contact-force.ts'
import { encodePoses, type Poses } from './domain/drawing/encode-poses.ts'
import type { SceneGeometry } from './domain/drawing/shape.ts'
import { toPoint3 } from './domain/drawing/view.ts'
import { getForceScale } from './session/frames.ts'
import { openRecording } from './session/session.ts'
import type { ReplayRegistrar } from './tools/recording-tool.ts'

/** Maximum number of frames of a response. */
const maxFrames = 4096

const frameId = z.coerce.number().int().min(0)
const posesQuery = z.strictObject({ from: frameId, to: frameId })
const sceneQuery = z.strictObject({ frame: frameId })

/** Declares the routes that viewers read in addition to the tools: binary poses, and shapes with contact forces. */
export function viewerRoutes(app: ReplayRegistrar): void {
  app.route('GET', '/recordings/{recording}/poses', {
    about: `Returns the poses of all bodies in the frames from ?from= to ?to=, at most ${maxFrames}, as binary CWP1.`,
    async handle(request, { recording: id }, ctx) {
      const { from, to } = readQuery('poses', posesQuery, request)
      const { recording } = await openRecording(ctx, id)
      const range = { start: from, end: Math.min(to, from + maxFrames - 1) }
      const { signal } = ctx
      const poses = await recording.analyse<Poses>('poses', { range }, { signal })
      return new Response(new Uint8Array(encodePoses(poses)), {
        headers: { 'content-type': 'application/vnd.causeway.poses', 'cache-control': 'no-store' },
      })
    },
  })

  app.route('GET', '/recordings/{recording}/scene', {
    about:
      'Returns the shapes of bodies (m), planes of the environment, and contact forces (N) of frame ?frame=.',
    async handle(request, { recording: id }, ctx) {
      const { frame: frameId } = readQuery('scene', sceneQuery, request)
      const { recording } = await openRecording(ctx, id)
      const { signal } = ctx
      const frame = await recording.frame(frameId)
      // Shapes are estimated from all contacts of a long range, which is the same for most frames.
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
      return Response.json({
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
      })
    },
  })
}

const readQuery = <T extends z.ZodObject>(owner: string, schema: T, { url }: Request): z.output<T> =>
  readArguments(owner, schema, Object.fromEntries(new URL(url).searchParams))
