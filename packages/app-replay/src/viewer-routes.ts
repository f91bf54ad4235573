import { readArguments } from '@causeway/app-kit'
import { z } from 'zod'
import { maxPoseFrames, readPoses, readScene } from './session/scene.ts'
import { openRecording } from './session/session.ts'
import type { ReplayRegistrar } from './tools/recording-tool.ts'

const frameId = z.coerce.number().int().min(0)
const posesQuery = z.strictObject({ from: frameId, to: frameId })
const sceneQuery = z.strictObject({ frame: frameId })

export function registerViewerRoutes(app: ReplayRegistrar): void {
  app.route('GET', '/recordings/{recording}/poses', {
    about: `Returns the poses of all bodies in the frames from ?from= to ?to=, at most ${maxPoseFrames}, as binary CWP1.`,
    async handle(request, { recording: id }, ctx) {
      const range = readQuery('poses', posesQuery, request)
      const { recording } = await openRecording(ctx, id)
      return new Response(await readPoses(recording, range, ctx.signal), {
        headers: { 'content-type': 'application/vnd.causeway.poses', 'cache-control': 'no-store' },
      })
    },
  })

  app.route('GET', '/recordings/{recording}/scene', {
    about:
      'Returns the shapes of bodies (m), planes of the environment, and contacts of frame ?frame=: forces (N), the used share of the friction limit, and the names of environment bodies.',
    async handle(request, { recording: id }, ctx) {
      const { frame } = readQuery('scene', sceneQuery, request)
      const { recording } = await openRecording(ctx, id)
      return Response.json(await readScene(recording, frame, ctx.signal))
    },
  })
}

const readQuery = <T extends z.ZodObject>(owner: string, schema: T, { url }: Request): z.output<T> =>
  readArguments(owner, schema, Object.fromEntries(new URL(url).searchParams))
