import { setImmediate as nextTurn } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import type { BodyId, Columns, Recording } from '@causeway/recording'
import type { CallOptions } from '@causeway/worker'
import { matchBodies, matchEnvironment } from '../domain/bodies/body-mapping.ts'
import { type FrameColumns, RecordingComparison, type Tolerance } from '../domain/recordings/comparison.ts'
import { readFrameTimes } from './series.ts'

interface CompareOptions extends CallOptions {
  readonly tolerance: Tolerance
  readonly align: 'frame' | 'time'
  readonly firstOnly: boolean
}

/** Body states per turn of the event loop, about a millisecond of work. */
const statesPerBatch = 2000

/** Minimum number of frames that are read together. */
const minFrames = 16

export interface ComparedRecordings {
  readonly comparison: RecordingComparison
  readonly matching: ReturnType<typeof matchBodies>
  readonly environment: ReturnType<typeof matchEnvironment>
}

/** Throws `INVALID_ARGUMENTS` if the recordings do not share frames. */
export async function compareRecordings(
  a: Recording,
  b: Recording,
  options: CompareOptions,
): Promise<ComparedRecordings> {
  const { signal, progress } = options
  const matching = matchBodies(a.summary.bodies, b.summary.bodies)
  const environment = matchEnvironment(a.summary, b.summary)
  const comparison = new RecordingComparison(matching.matches, options.tolerance)
  const idByA = new Map([...matching.matches, ...environment].map((match) => [match.a, match.b]))
  const pairs = await pairFrames(a, b, options)
  if (pairs.length === 0)
    throw new CausewayError('INVALID_ARGUMENTS', 'the recordings have no frame in common', {
      remedy: 'compare two runs of the same scene, or align by time',
      data: { a: a.summary.frames, b: b.summary.frames },
    })
  const readFrames = (
    recording: Recording,
    frames: readonly number[],
    newIds = new Map<BodyId, BodyId>(),
  ) => {
    const range = { start: frames[0] ?? 0, end: frames.at(-1) ?? 0 }
    return recording.analyse<FrameColumns>('frameColumns', { range, newIds }, { signal })
  }
  const framesPerBatch = Math.max(1, Math.floor(statesPerBatch / Math.max(1, matching.matches.length)))
  const batchSize = Math.max(minFrames, framesPerBatch)
  for (let start = 0; start < pairs.length; start += batchSize) {
    signal?.throwIfAborted()
    const batch = pairs.slice(start, start + batchSize)
    const [columnsA, columnsB] = await Promise.all([
      readFrames(
        a,
        batch.map(([frame]) => frame),
        idByA,
      ),
      readFrames(
        b,
        batch.map(([, frame]) => frame),
      ),
    ])
    let [nextA, nextB] = [0, 0]
    for (const [index, [frameA, frameB]] of batch.entries()) {
      if (index > 0 && index % framesPerBatch === 0) await nextTurn()
      const rowA = columnsA.frames.indexOf(frameA, nextA)
      const rowB = columnsB.frames.indexOf(frameB, nextB)
      if (rowA === -1 || rowB === -1) continue
      comparison.compare(columnsA, rowA, columnsB, rowB)
      ;[nextA, nextB] = [rowA + 1, rowB + 1]
    }
    progress?.(Math.min(start + batchSize, pairs.length), pairs.length, 'comparing frames')
    if (options.firstOnly && comparison.listDivergences().length > 0) break
  }
  return { comparison, matching, environment }
}

/** Pairs frames by id, or by times at most half the smaller step apart. */
async function pairFrames(
  a: Recording,
  b: Recording,
  options: CompareOptions,
): Promise<readonly (readonly [number, number])[]> {
  const [timesA, timesB] = await Promise.all([readFrameTimes(a, options), readFrameTimes(b, options)])
  const isTimeAligned = options.align === 'time'
  const tolerance = isTimeAligned ? Math.min(a.summary.dt_s ?? 0, b.summary.dt_s ?? 0) / 2 : 0
  const getValue = ({ data }: Columns, row: number, column: number): number =>
    data[row * 2 + column] ?? Number.NaN
  const getKey = (columns: Columns, row: number): number => getValue(columns, row, isTimeAligned ? 1 : 0)
  const pairs: [number, number][] = []
  let rowB = 0
  for (let row = 0; row < timesA.length && rowB < timesB.length; row++) {
    while (rowB < timesB.length && getKey(timesB, rowB) < getKey(timesA, row) - tolerance) rowB += 1
    if (rowB === timesB.length || !(Math.abs(getKey(timesB, rowB) - getKey(timesA, row)) <= tolerance))
      continue
    pairs.push([getValue(timesA, row, 0), getValue(timesB, rowB, 0)])
    if (isTimeAligned) rowB += 1
  }
  return pairs
}
