/** Which recording a call speaks of: the one it names, else the one that its client loaded. */
import type { ToolContext } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import type { OpenCall, Recording } from '@causeway/recording'
import type { Replay } from './store.ts'

/** State of one client. */
export interface ReplaySession {
  /** real path of the active recording */
  recording?: string
}

/** What tools get with each call. */
export type ReplayContext = ToolContext<Replay, ReplaySession>

/** What every answer carries: the recording that it was taken from, and whether its file had changed. */
export interface Stamp {
  readonly recording: string
  readonly reloaded?: true
}

/** An open recording and the stamp of answers from it. */
export interface Opened {
  readonly recording: Recording
  readonly stamp: Stamp
}

/** Opens the recording asked for, else the active one, which stays as it is; throws `NO_RECORDING`. */
export async function opened(
  ctx: ReplayContext,
  asked: string | undefined,
  how: Pick<OpenCall, 'maxCopyBytes'> = {},
): Promise<Opened> {
  const wanted = asked ?? ctx.session.recording
  if (wanted === undefined) throw new CausewayError('NO_RECORDING', 'no recording loaded')
  return open(ctx, wanted, how)
}

/** Opens a recording and makes it the active one; a failure leaves the active one as it was. */
export async function activated(ctx: ReplayContext, asked: string): Promise<Opened> {
  const result = await open(ctx, asked)
  ctx.session.recording = result.recording.identity.path
  return result
}

async function open(
  ctx: ReplayContext,
  wanted: string,
  how: Pick<OpenCall, 'maxCopyBytes'> = {},
): Promise<Opened> {
  const { recording, reloaded } = await ctx.store.open(wanted, {
    ...how,
    signal: ctx.signal,
    progress: (done, total, message) => ctx.progress(done, total, message),
  })
  const { id } = recording.identity
  return { recording, stamp: reloaded ? { recording: id, reloaded } : { recording: id } }
}
