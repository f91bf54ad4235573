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
const statesPerTurn = 2000

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
  const idsOfB = new Map([...matching.matches, ...environment].map((match) => [match.a, match.b]))
  const pairs = await pairFrames(a, b, options)
  if (pairs.length === 0)
    throw new CausewayError('INVALID_ARGUMENTS', 'the recordings have no frame in common', {
      remedy: 'compare two runs of the same scene, or align by time',
      data: { a: a.summary.frames, b: b.summary.frames },
    })
  const read = (recording: Recording, frames: readonly number[], newIds = new Map<BodyId, BodyId>()) => {
    const range = { start: frames[0] ?? 0, end: frames.at(-1) ?? 0 }
    return recording.analyse<FrameColumns>('frameColumns', { range, newIds }, { signal })
  }
  const framesPerTurn = Math.max(1, Math.floor(statesPerTurn / Math.max(1, matching.matches.length)))
  const step = Math.max(minFrames, framesPerTurn)
  for (let start = 0; start < pairs.length; start += step) {
    signal?.throwIfAborted()
    const part = pairs.slice(start, start + step)
    const [columnsA, columnsB] = await Promise.all([
      read(
        a,
        part.map(([frame]) => frame),
        idsOfB,
      ),
      read(
        b,
        part.map(([, frame]) => frame),
      ),
    ])
    let [nextA, nextB] = [0, 0]
    for (const [index, [frameA, frameB]] of part.entries()) {
      if (index > 0 && index % framesPerTurn === 0) await nextTurn()
      const rowA = columnsA.frames.indexOf(frameA, nextA)
      const rowB = columnsB.frames.indexOf(frameB, nextB)
      if (rowA === -1 || rowB === -1) continue
      comparison.compare(columnsA, rowA, columnsB, rowB)
      ;[nextA, nextB] = [rowA + 1, rowB + 1]
    }
    progress?.(Math.min(start + step, pairs.length), pairs.length, 'comparing frames')
    if (options.firstOnly && comparison.listDivergences().length > 0) break
  }
  return { comparison, matching, environment }
}

/** Pairs frames with the same id, or frames whose times differ by at most half of the smaller step. */
async function pairFrames(
  a: Recording,
  b: Recording,
  options: CompareOptions,
): Promise<readonly (readonly [number, number])[]> {
  const [left, right] = await Promise.all([readFrameTimes(a, options), readFrameTimes(b, options)])
  const byTime = options.align === 'time'
  const tolerance = byTime ? Math.min(a.summary.dt_s ?? 0, b.summary.dt_s ?? 0) / 2 : 0
  const getValue = ({ data }: Columns, row: number, column: number): number =>
    data[row * 2 + column] ?? Number.NaN
  const key = (columns: Columns, row: number): number => getValue(columns, row, byTime ? 1 : 0)
  const pairs: [number, number][] = []
  let other = 0
  for (let row = 0; row < left.length && other < right.length; row++) {
    while (other < right.length && key(right, other) < key(left, row) - tolerance) other += 1
    if (other === right.length || !(Math.abs(key(right, other) - key(left, row)) <= tolerance)) continue
    pairs.push([getValue(left, row, 0), getValue(right, other, 0)])
    if (byTime) other += 1
  }
  return pairs
}
