import type { Columns, Recording } from '@causeway/recording'
import { z } from 'zod'
import { paginate } from '../domain/cursor.ts'
import { isCompleteFrame, summarizeTail, toTailFrame } from '../domain/frames/tail.ts'
import { summarizeList, summarizeLoad, summarizeMetadata } from '../domain/recordings/recording-summary.ts'
import { getColumn } from '../domain/series/columns.ts'
import { findFrame } from '../session/frames.ts'
import { readSeries } from '../session/series.ts'
import { type AnswerStamp, createOpenOptions, loadRecording, type ReplayContext } from '../session/session.ts'
import type { ReplayStore } from '../store/store.ts'
import { pageArguments, type Registration, readOnly, recordingTool, rows } from './recording-tool.ts'

/** Limited in bytes, because each call copies the file. */
const maxFollowedBytes = 64 * 1024 ** 2

const clampTail = (frames: number): number => Math.min(Math.max(frames, 1), 200)

/** Maximum number of incomplete frames at the end of a file. */
const maxPartialFrames = 64

const exampleMapping = {
  time: 't',
  bodies: {
    top: {
      position: ['x', 'y', 'z'],
      quaternion: { columns: ['q0', 'q1', 'q2', 'q3'], order: 'xyzw' },
      velocity: ['vx', 'vy', 'vz'],
      angular_velocity: { columns: ['wx', 'wy', 'wz'], frame: 'body' },
      mass: 2,
    },
  },
}

export const recordingTools: readonly Registration[] = [
  (app) =>
    app.tool('list_recordings', {
      title: 'List recordings',
      about:
        'List recordings with the ids that other tools take. Use it first; list_runs filters by date or verdict.',
      searchHint: 'which runs, simulations, files exist',
      hints: readOnly,
      input: {
        directory: z.string().nullish().describe('Folder. Default: all'),
        ...pageArguments,
      },
      output: { recordings: rows() },
      isCore: true,
      example: { args: {} },
      async run({ directory, cursor, max_points }, { store }) {
        const { searched, listings } = await store.list(directory || undefined)
        const recordings = listings
          .filter((listing) => listing.is_recording)
          .map(
            ({ id, path, name, size_bytes, modified_ms, total_frames, bodies, duration_s, era, status }) => ({
              recording: id,
              path,
              name,
              size_bytes,
              modified: new Date(modified_ms).toISOString(),
              total_frames: total_frames ?? null,
              ...(bodies === undefined ? {} : { bodies }),
              ...(duration_s === undefined ? {} : { duration_s }),
              ...(era === undefined ? {} : { era }),
              ...(status === undefined ? {} : { status }),
            }),
          )
        const otherFiles = listings
          .filter((listing) => !listing.is_recording)
          .map(({ path, name, reason }) => ({ path, name, reason: reason ?? 'NOT_A_RECORDING' }))
        const page = paginate(recordings, (_, index) => index, { cursor, limit: max_points })
        const summary = summarizeList({
          recordings: recordings.length,
          others: otherFiles.length,
          folders: searched.length,
        })
        return {
          directory: directory ?? null,
          searched,
          recordings: page.items,
          others: otherFiles.slice(0, max_points),
          count: recordings.length,
          truncated: page.items.length < recordings.length,
          next_cursor: page.next_cursor,
          summary,
        }
      },
    }),

  (app) =>
    app.tool('load_recording', {
      title: 'Load recording',
      about:
        'Open a recording as the default of this client and return its size. Call it before other tools, or pass `recording` to each.',
      searchHint: 'open file, database, simulation run',
      hints: readOnly,
      input: { path: z.string().min(1).describe('Id, or path of a file') },
      output: { loaded: z.boolean(), total_frames: z.int() },
      task: 'optional',
      isCore: true,
      example: { args: { path: 'drop' } },
      async run({ path }, ctx) {
        const { recording, stamp } = await loadRecording(ctx, path)
        const { identity, summary } = recording
        return {
          ...stamp,
          loaded: true,
          path: identity.path,
          bodies: summary.bodies.length,
          total_frames: summary.frames?.total_frames ?? 0,
          capabilities: summary.capabilities,
          missing: summary.missing,
          summary: summarizeLoad(recording, ctx.sharedSession),
        }
      },
    }),

  (app) =>
    app.tool('import_recording', {
      title: 'Import recording',
      about:
        'Load a ROS 2 bag, CSV, Parquet, npz or HDF5 file. Without a mapping it fails with MAPPING_NEEDED, which proposes one.',
      hints: { idempotent: true, destructive: false },
      input: {
        path: z.string().min(1).describe('File, or folder of a bag'),
        mapping: z.record(z.string(), z.unknown()).optional().describe('Columns of each body'),
      },
      output: { total_frames: z.int() },
      task: 'optional',
      example: { args: { path: 'tumble.csv', mapping: exampleMapping } },
      async run({ path, mapping }, ctx) {
        const { recording, notes } = await ctx.store.importFile(path, mapping, createOpenOptions(ctx))
        const { identity, summary } = recording
        ctx.session.recording = identity.path
        return {
          recording: identity.id,
          path: identity.path,
          bodies: summary.bodies.length,
          total_frames: summary.frames?.total_frames ?? 0,
          missing: summary.missing,
          notes,
          summary: summarizeLoad(recording, ctx.sharedSession),
        }
      },
    }),

  recordingTool('get_metadata', {
    title: 'Get metadata',
    about:
      'Return bodies (mass, restitution, friction), frames, time step, gravity, force unit, and what is missing.',
    searchHint: 'objects, how heavy, weigh, bounciness',
    input: {},
    output: { bodies: rows(), total_frames: z.int() },
    example: { args: { recording: 'drop' } },
    run: (_, { recording, stamp }) => getMetadata(recording, stamp),
  }),

  recordingTool('tail_recording', {
    title: 'Follow recording',
    about:
      'Return brief rows of the newest frames. To watch a running simulation, pass next_frame as after_frame.',
    searchHint: 'live, still running, follow, latest',
    input: {
      after_frame: z.int().nullish().describe('Default: the last frames'),
      limit: z.int().overwrite(clampTail).default(20).describe('Maximum frames'),
    },
    maxCopyBytes: maxFollowedBytes,
    example: { args: { recording: 'drop', after_frame: 290 } },
    async run({ after_frame, limit }, { recording, ctx }) {
      const { first_frame = 1, last_frame: recorded = 0 } = recording.summary.frames ?? {}
      const last_frame = await findLastComplete(recording, recorded)
      const after = Math.max(after_frame ?? last_frame - limit, first_frame - 1)
      const ids = await listFrameIds(recording, { start: after + 1, end: last_frame }, limit, ctx)
      const frames = await Promise.all(ids.map((id) => recording.frame(id)))
      const status = await getStatus(recording, ctx.store)
      const next_frame = ids.at(-1) ?? Math.min(after, last_frame)
      return {
        status,
        last_frame,
        frames: frames.map((frame) => toTailFrame(frame, recording.summary)),
        next_frame,
        more: next_frame < last_frame,
        summary: summarizeTail({ status, last_frame, frames: ids.length, next_frame }),
      }
    },
  }),
]

export function getMetadata(recording: Recording, stamp: AnswerStamp) {
  const { frames, ...metadata } = recording.summary
  return {
    ...stamp,
    ...metadata,
    name: recording.identity.name,
    size_bytes: recording.identity.size_bytes,
    total_frames: frames?.total_frames ?? 0,
    first_frame: frames?.first_frame ?? null,
    last_frame: frames?.last_frame ?? null,
    contiguous: frames?.contiguous ?? true,
    summary: summarizeMetadata(recording.summary),
  }
}

/** Returns `file` for files of other recorders, which may still grow. */
const getStatus = async ({ identity }: Recording, { recorder }: ReplayStore): Promise<string> =>
  identity.run === undefined ? 'file' : (await recorder.state(identity.run)).status

/** The C++ recorder may flush in the middle of a frame. Causeway's recorder stores only complete frames. */
async function findLastComplete(recording: Recording, last: number): Promise<number> {
  if (recording.identity.run !== undefined) return last
  for (let id = last; id > Math.max(0, last - maxPartialFrames); id--) {
    const frame = await findFrame(recording, id)
    if (frame !== undefined && isCompleteFrame(frame, recording.summary)) return id
  }
  return last
}

async function listFrameIds(
  recording: Recording,
  range: { readonly start: number; readonly end: number },
  limit: number,
  ctx: ReplayContext,
): Promise<readonly number[]> {
  const { start, end } = range
  const length = Math.max(0, Math.min(limit, end - start + 1))
  if (length === 0) return []
  if (recording.summary.frames?.contiguous) return Array.from({ length }, (_, i) => start + i)
  const columns: Columns = await readSeries(recording, { plans: [], range, limit: length }, ctx)
  const ids = getColumn(columns, 'frame_id')
  return Array.from({ length: ids.size }, (_, i) => ids.get(i))
}
