/** Following a recording while it is made. */
import type { Registrar } from '@causeway/app-kit'
import { isCausewayError } from '@causeway/protocol'
import type { Columns, Frame, Recording } from '@causeway/recording'
import type { CallOptions } from '@causeway/worker'
import { z } from 'zod'
import type { SeriesArgs } from '../analysis/series.ts'
import { column } from '../domain/columns.ts'
import { completeFrame, tailFrame, tailSummary } from '../domain/tail.ts'
import { opened, type ReplaySession } from '../session.ts'
import type { Replay } from '../store.ts'
import { hints, recordingArgument, stamp } from './shape.ts'

/** A growing file of somebody else is copied again each time, so it must be small. */
const maxCopyBytes = 64 * 1024 ** 2

/** Frames without one of their parts at the end of a foreign file that is being written. */
const mostPartial = 64

/** Declares tail_recording. */
export function recorderTools(app: Registrar<Replay, ReplaySession>): void {
  app.tool('tail_recording', {
    about:
      'New complete frames of a recording that grows, briefly. Call again with next_frame as after_frame.',
    hints,
    input: {
      after_frame: z.int().nullish().describe('default: the last'),
      limit: z.int().min(1).max(200).default(20).describe('most frames'),
      ...recordingArgument,
    },
    output: stamp,
    example: { args: { recording: 'drop', after_frame: 290 } },
    async run({ recording: asked, after_frame, limit }, ctx) {
      const { recording, stamp } = await opened(ctx, asked, { maxCopyBytes })
      const { first_frame = 1, last_frame: recorded = 0 } = recording.summary.frames ?? {}
      const last_frame = await lastComplete(recording, recorded)
      const after = Math.max(after_frame ?? last_frame - limit, first_frame - 1)
      const ids = await idsOf(recording, { start: after + 1, end: last_frame }, limit, ctx)
      const frames = await Promise.all(ids.map((id) => recording.frame(id)))
      const status = await statusOf(recording, ctx.store)
      const next_frame = ids.at(-1) ?? Math.min(after, last_frame)
      return {
        ...stamp,
        status,
        last_frame,
        frames: frames.map((frame) => tailFrame(frame, recording.summary)),
        next_frame,
        more: next_frame < last_frame,
        summary: tailSummary({ status, last_frame, frames: ids.length, next_frame }),
      }
    },
  })
}

/** `file` for a recording that somebody else makes: whether it still grows is not known. */
const statusOf = async ({ identity }: Recording, { recorder }: Replay): Promise<string> =>
  identity.run === undefined ? 'file' : (await recorder.state(identity.run)).status

/** Flushes of the C++ recorder may end in the middle of a frame; ours hold whole frames. */
async function lastComplete(recording: Recording, last: number): Promise<number> {
  if (recording.identity.run !== undefined) return last
  for (let id = last; id > Math.max(0, last - mostPartial); id--) {
    const frame = await frameIfThere(recording, id)
    if (frame !== undefined && completeFrame(frame, recording.summary)) return id
  }
  return last
}

async function frameIfThere(recording: Recording, id: number): Promise<Frame | undefined> {
  try {
    return await recording.frame(id)
  } catch (error) {
    if (isCausewayError(error) && error.code === 'FRAME_NOT_FOUND') return undefined
    throw error
  }
}

/** The first ids of a range. Frames count, whatever they hold: a run may have no energies and no solver. */
async function idsOf(
  recording: Recording,
  range: { readonly start: number; readonly end: number },
  most: number,
  call: CallOptions,
): Promise<readonly number[]> {
  const { start, end } = range
  const length = Math.max(0, Math.min(most, end - start + 1))
  if (length === 0) return []
  if (recording.summary.frames?.contiguous) return Array.from({ length }, (_, i) => start + i)
  const args: SeriesArgs = { plans: [], range, most: length }
  const ids = column(await recording.analyse<Columns>('series', args, call), 'frame_id')
  return Array.from({ length: ids.size }, (_, i) => ids.get(i))
}
