import type { ToolContext } from '@causeway/app-kit'
import type { OpenOptions, Recording } from '@causeway/recording'
import { ReplayError } from '../errors.ts'
import type { ReplayStore } from '../store/store.ts'

export interface ReplaySession {
  /** Real path of the loaded recording. */
  recording?: string
}

export type ReplayContext = ToolContext<ReplayStore, ReplaySession>

/** `reloaded` is set if the file changed since the last call. */
export interface AnswerStamp {
  readonly recording: string
  readonly reloaded?: true
}

export interface OpenedRecording {
  readonly recording: Recording
  readonly stamp: AnswerStamp
}

/** Opens a recording by id or path, by default the client's loaded one, or throws `NO_RECORDING`. */
export async function openRecording(
  ctx: ReplayContext,
  idOrPath: string | undefined = ctx.session.recording,
  options: Pick<OpenOptions, 'maxCopyBytes'> = {},
): Promise<OpenedRecording> {
  if (idOrPath === undefined) throw new ReplayError('NO_RECORDING', 'no recording loaded')
  const { recording, reloaded } = await ctx.store.open(idOrPath, { ...options, ...createOpenOptions(ctx) })
  const { id } = recording.identity
  return { recording, stamp: reloaded ? { recording: id, reloaded } : { recording: id } }
}

export const createOpenOptions = (ctx: ReplayContext): OpenOptions => ({
  signal: ctx.signal,
  progress: (done, total, message) => ctx.progress(done, total, message),
})

export async function loadRecording(ctx: ReplayContext, idOrPath: string): Promise<OpenedRecording> {
  const opened = await openRecording(ctx, idOrPath)
  ctx.session.recording = opened.recording.identity.path
  return opened
}

export async function listRecordingIds({ store }: ReplayContext): Promise<readonly string[]> {
  const { listings } = await store.list()
  return listings.filter(({ is_recording }) => is_recording).map(({ id }) => id)
}
