/** Two recordings side by side: their workers read, the main thread compares a few frames at a time. */
import { CausewayError } from '@causeway/protocol'
import type { Columns, Recording } from '@causeway/recording'
import type { CallOptions } from '@causeway/worker'
import { matchBodies } from './domain/body-mapping.ts'
import { type Chunk, type Comparer, comparer, type Tolerance } from './domain/comparison.ts'

/** How two recordings are compared. */
export interface CompareOptions extends CallOptions {
  readonly tolerance: Tolerance
  readonly align: 'frame' | 'time'
  /** ends with the first difference */
  readonly untilFirst: boolean
}

/** States in a step of the comparison: it takes about a millisecond of the main thread. */
const statesAtOnce = 2000

/** What was compared, and what differs. */
export interface Compared {
  readonly comparer: Comparer
  readonly matching: ReturnType<typeof matchBodies>
}

/** Compares the frames that both recordings have. Throws `INVALID_ARGUMENTS` where they share no body or no frame. */
export async function compareRecordings(
  a: Recording,
  b: Recording,
  options: CompareOptions,
): Promise<Compared> {
  const matching = matchBodies(a.summary.bodies, b.summary.bodies)
  const found = comparer(matching.matches, options.tolerance)
  const pairs = await framePairs(a, b, options)
  if (pairs.length === 0)
    throw new CausewayError('INVALID_ARGUMENTS', 'the recordings have no frame in common', {
      remedy: 'compare two runs of one scene, or align by time',
      data: { a: a.summary.frames, b: b.summary.frames },
    })
  const step = Math.max(16, Math.floor(statesAtOnce / Math.max(1, matching.matches.length)))
  for (let start = 0; start < pairs.length; start += step) {
    options.signal?.throwIfAborted()
    const part = pairs.slice(start, start + step)
    const [chunkA, chunkB] = await Promise.all([
      readChunk(
        a,
        part.map(([one]) => one),
        options,
      ),
      readChunk(
        b,
        part.map(([, other]) => other),
        options,
      ),
    ])
    for (const [frameA, frameB] of part) {
      const [rowA, rowB] = [rowOf(chunkA, frameA), rowOf(chunkB, frameB)]
      if (rowA !== -1 && rowB !== -1) found.see(chunkA, rowA, chunkB, rowB)
    }
    options.progress?.(Math.min(start + step, pairs.length), pairs.length, 'comparing frames')
    if (options.untilFirst && found.divergences().length > 0) break
  }
  return { comparer: found, matching }
}

const readChunk = (
  recording: Recording,
  frames: readonly number[],
  { signal }: CallOptions,
): Promise<Chunk> =>
  recording.analyse<Chunk>('chunk', { range: { start: frames[0] ?? 0, end: frames.at(-1) ?? 0 } }, { signal })

/** Frame ids ascend. */
function rowOf({ frames }: Chunk, frame: number): number {
  let [low, high] = [0, frames.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((frames[middle] ?? 0) < frame) low = middle + 1
    else high = middle
  }
  return frames[low] === frame ? low : -1
}

/** Frames that are compared with each other: of one id, or of one time within half of the smaller step. */
async function framePairs(
  a: Recording,
  b: Recording,
  { align, signal }: CompareOptions,
): Promise<readonly (readonly [number, number])[]> {
  const read = (recording: Recording) =>
    recording.analyse<Columns>('series', { plans: [], range: { start: null, end: null } }, { signal })
  const [left, right] = await Promise.all([read(a), read(b)])
  const field = align === 'frame' ? 0 : 1
  const within = align === 'frame' ? 0 : Math.min(a.summary.dt_s ?? 0, b.summary.dt_s ?? 0) / 2
  const pairs: [number, number][] = []
  let other = 0
  const at = ({ data }: Columns, row: number, column: number): number => data[row * 2 + column] ?? Number.NaN
  for (let row = 0; row < left.length && other < right.length; row++) {
    const wanted = at(left, row, field)
    while (other < right.length && at(right, other, field) < wanted - within) other += 1
    const isNear = other < right.length && Math.abs(at(right, other, field) - wanted) <= within
    if (isNear) pairs.push([at(left, row, 0), at(right, other, 0)])
    if (isNear && field === 1) other += 1
  }
  return pairs
}
