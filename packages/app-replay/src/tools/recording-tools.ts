/** Which recordings there are, and what is known of the one in use. */
import type { Registrar } from '@causeway/app-kit'
import type { Recording } from '@causeway/recording'
import { z } from 'zod'
import { page } from '../domain/cursor.ts'
import { listSummary, loadSummary, metadataSummary } from '../domain/recording-summary.ts'
import { activated, opened, type ReplaySession, type Stamp } from '../session.ts'
import type { Replay } from '../store.ts'
import { hints, partArguments, recordingArgument, rows, stamp } from './shape.ts'

/** Declares list_recordings, load_recording and get_metadata. */
export function recordingTools(app: Registrar<Replay, ReplaySession>): void {
  app.tool('list_recordings', {
    about: 'Recordings of a folder, or of all, with the ids that other tools take.',
    hints,
    input: {
      directory: z.string().min(1).nullish().describe('folder; default: all'),
      ...partArguments,
    },
    output: {
      ...stamp,
      recordings: rows(),
    },
    example: { args: {} },
    async run({ directory, cursor, max_points }, { store }) {
      const { searched, listings } = await store.list(directory ?? undefined)
      const recordings = listings
        .filter((listing) => listing.is_recording)
        .map(({ id, path, name, size_bytes, total_frames, status }) => ({
          recording: id,
          path,
          name,
          size_bytes,
          total_frames: total_frames ?? null,
          ...(status === undefined ? {} : { status }),
        }))
      const others = listings
        .filter((listing) => !listing.is_recording)
        .map(({ path, name, reason }) => ({ path, name, reason: reason ?? 'NOT_A_RECORDING' }))
      const part = page(recordings, (_, index) => index, { cursor, limit: max_points })
      return {
        directory: directory ?? null,
        searched,
        recordings: part.items,
        others: others.slice(0, max_points),
        count: recordings.length,
        truncated: part.items.length < recordings.length,
        next_cursor: part.next_cursor,
        summary: listSummary({
          recordings: recordings.length,
          others: others.length,
          folders: searched.length,
        }),
      }
    },
  })

  app.tool('load_recording', {
    about: 'Makes a recording the active one: other tools then need not name it.',
    hints,
    input: {
      path: z.string().min(1).describe('path of a .db file, or an id'),
    },
    output: {
      ...stamp,
      loaded: z.boolean(),
      total_frames: z.int(),
    },
    task: 'optional',
    example: { args: { path: 'drop' } },
    async run({ path }, ctx) {
      const { recording, stamp } = await activated(ctx, path)
      const { identity, summary } = recording
      return {
        ...stamp,
        loaded: true,
        path: identity.path,
        bodies: summary.bodies.length,
        total_frames: summary.frames?.total_frames ?? 0,
        capabilities: summary.capabilities,
        missing: summary.missing,
        summary: loadSummary(recording, ctx.sharedSession),
      }
    },
  })

  app.tool('get_metadata', {
    about: 'Bodies (kg, restitution, friction), frames, step, gravity, unit of forces; what the file lacks.',
    hints,
    input: recordingArgument,
    output: {
      ...stamp,
      bodies: rows(),
      total_frames: z.int(),
    },
    example: { args: { recording: 'drop' } },
    async run({ recording }, ctx) {
      const found = await opened(ctx, recording)
      return metadata(found.recording, found.stamp)
    },
  })
}

/** What is known of a recording, for the tool and for the resource. */
export function metadata(recording: Recording, stamp: Stamp) {
  const { frames, ...known } = recording.summary
  return {
    ...stamp,
    ...known,
    name: recording.identity.name,
    size_bytes: recording.identity.size_bytes,
    total_frames: frames?.total_frames ?? 0,
    first_frame: frames?.first_frame ?? null,
    last_frame: frames?.last_frame ?? null,
    contiguous: frames?.contiguous ?? true,
    summary: metadataSummary(recording.summary),
  }
}
