/** Recordings as resources: metadata, any frame, the latest frame. */
import type { Registrar, Variables } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import type { Recording } from '@causeway/recording'
import { opened, type ReplayContext, type ReplaySession } from './session.ts'
import type { Replay } from './store.ts'
import { frameAnswer } from './tools/frame-tools.ts'
import { metadata } from './tools/recording-tools.ts'

const latest = 'latest'

/** Most frame ids that completion offers; beyond it the first and the last. */
const mostFrameIds = 10_000

/** Declares the resources; loaded recordings are listed. */
export function recordingResources(app: Registrar<Replay, ReplaySession>): void {
  app.resource('replay://recordings/{recording}/metadata', {
    name: 'recording metadata',
    about: 'Bodies, frames, step and capabilities of a recording.',
    list: loaded('metadata'),
    complete: { recording: recordingIds },
    async read(variables, ctx) {
      const { recording, stamp } = await opened(ctx, named(variables, 'recording'))
      return { json: metadata(recording, stamp) }
    },
  })

  app.resource(`replay://recordings/{recording}/frames/${latest}`, {
    name: 'latest frame',
    about: 'The last frame of a recording.',
    list: loaded(`frames/${latest}`),
    complete: { recording: recordingIds },
    read: (variables, ctx) => readFrame(named(variables, 'recording'), latest, ctx),
  })

  app.resource('replay://recordings/{recording}/frames/{frame_id}', {
    name: 'frame',
    about: 'States, contacts, solver and energies of one frame.',
    complete: { recording: recordingIds, frame_id: frameIds },
    read: (variables, ctx) => readFrame(named(variables, 'recording'), named(variables, 'frame_id'), ctx),
  })
}

const loaded =
  (part: string) =>
  async ({ store }: ReplayContext) =>
    store.loaded().map(({ id }) => ({
      uri: `replay://recordings/${encodeURIComponent(id)}/${part}`,
      name: `${id} ${part}`,
    }))

async function readFrame(asked: string, frameId: string, ctx: ReplayContext) {
  const { recording, stamp } = await opened(ctx, asked)
  return { json: frameAnswer(recording, await recording.frame(frameNumber(frameId, recording)), stamp) }
}

function frameNumber(text: string, { identity, summary: { frames } }: Recording): number {
  if (text === latest && frames !== null) return frames.last_frame
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new CausewayError('RESOURCE_NOT_FOUND', `no such frame of ${identity.id}: ${text}`, {
    data: { recording: identity.id, frame_id: text },
  })
}

async function recordingIds(_chosen: Variables, { store }: ReplayContext): Promise<readonly string[]> {
  const { listings } = await store.list()
  return listings.filter(({ is_recording }) => is_recording).map(({ id }) => id)
}

async function frameIds({ recording: asked }: Variables, ctx: ReplayContext): Promise<readonly string[]> {
  if (asked === undefined) return [latest]
  const { frames } = (await opened(ctx, asked)).recording.summary
  if (frames === null) return []
  const { first_frame, last_frame, total_frames, contiguous } = frames
  if (!contiguous || total_frames > mostFrameIds) return [latest, String(first_frame), String(last_frame)]
  return [latest, ...Array.from({ length: total_frames }, (_, index) => String(first_frame + index))]
}

/** A variable of the template: present, because the URI matched. */
const named = (variables: Variables, name: string): string => variables[name] ?? ''
