import type { Variables } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import type { Recording } from '@causeway/recording'
import { maxPoseFrames, readPoses, readScene } from './session/scene.ts'
import { listRecordingIds, openRecording, type ReplayContext } from './session/session.ts'
import { recordingUri } from './store/store.ts'
import { getFrameAnswer } from './tools/frame-tools.ts'
import type { ReplayRegistrar } from './tools/recording-tool.ts'
import { getMetadata } from './tools/recording-tools.ts'

const latest = 'latest'

/** For longer recordings, completions offer only the first and last frame id. */
const maxFrameIds = 10_000

const listIds = (_chosen: Variables, ctx: ReplayContext) => listRecordingIds(ctx)

export function registerResources(app: ReplayRegistrar): void {
  app.resource('replay://recordings/{recording}/metadata', {
    name: 'recording metadata',
    about: 'Bodies, frames, step and capabilities of a recording.',
    list: listOpenedRecordings('metadata'),
    complete: { recording: listIds },
    async read(variables, ctx) {
      const { recording, stamp } = await openRecording(ctx, getVariable(variables, 'recording'))
      return { json: getMetadata(recording, stamp) }
    },
  })

  app.resource(`replay://recordings/{recording}/frames/${latest}`, {
    name: 'latest frame',
    about: 'The last frame of a recording.',
    list: listOpenedRecordings(`frames/${latest}`),
    complete: { recording: listIds },
    read: (variables, ctx) => readFrame(getVariable(variables, 'recording'), latest, ctx),
  })

  app.resource('replay://recordings/{recording}/frames/{frame_id}', {
    name: 'frame',
    about: 'States, contacts, solver and energies of one frame.',
    complete: { recording: listIds, frame_id: listFrameIds },
    read: (variables, ctx) =>
      readFrame(getVariable(variables, 'recording'), getVariable(variables, 'frame_id'), ctx),
  })

  app.resource('replay://recordings/{recording}/scene/{frame_id}', {
    name: 'scene',
    about: 'Shapes (m), planes of the environment, and contact forces (N) of one frame.',
    complete: { recording: listIds, frame_id: listFrameIds },
    async read(variables, ctx) {
      const { recording } = await openRecording(ctx, getVariable(variables, 'recording'))
      const frameId = parseFrameId(getVariable(variables, 'frame_id'), recording)
      return { json: await readScene(recording, frameId, ctx.signal) }
    },
  })

  app.resource('replay://recordings/{recording}/poses/{first}/{last}', {
    name: 'poses',
    about: `Poses of all bodies in a range of at most ${maxPoseFrames} frames, as binary CWP1.`,
    mimeType: 'application/vnd.causeway.poses',
    complete: { recording: listIds },
    async read(variables, ctx) {
      const { recording } = await openRecording(ctx, getVariable(variables, 'recording'))
      const [from, to] = ['first', 'last'].map((name) =>
        parseFrameId(getVariable(variables, name), recording),
      ) as [number, number]
      return { bytes: await readPoses(recording, { from, to }, ctx.signal) }
    },
  })
}

const listOpenedRecordings =
  (part: string) =>
  async ({ store }: ReplayContext) =>
    store.opened.map(({ id }) => ({ uri: recordingUri(id, part), name: `${id} ${part}` }))

async function readFrame(idOrPath: string, frameId: string, ctx: ReplayContext) {
  const { recording, stamp } = await openRecording(ctx, idOrPath)
  const frame = await recording.frame(parseFrameId(frameId, recording))
  return { json: getFrameAnswer(recording, frame, stamp, { details: true }) }
}

function parseFrameId(text: string, { identity, summary: { frames } }: Recording): number {
  if (text === latest && frames !== null) return frames.last_frame
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new CausewayError('RESOURCE_NOT_FOUND', `no such frame of ${identity.id}: ${text}`, {
    data: { recording: identity.id, frame_id: text },
  })
}

async function listFrameIds(
  { recording: idOrPath }: Variables,
  ctx: ReplayContext,
): Promise<readonly string[]> {
  if (idOrPath === undefined) return [latest]
  const { frames } = (await openRecording(ctx, idOrPath)).recording.summary
  if (frames === null) return []
  const { first_frame, last_frame, total_frames, contiguous } = frames
  if (!contiguous || total_frames > maxFrameIds) return [latest, String(first_frame), String(last_frame)]
  return [latest, ...Array.from({ length: total_frames }, (_, index) => String(first_frame + index))]
}

const getVariable = (variables: Variables, name: string): string => variables[name] ?? ''
