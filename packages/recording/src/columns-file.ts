/**
 * The columns of a recording as a file beside its private copy: SQLite takes seconds to join 20 million rows, the same
 * numbers come out of this file at the speed of memory.
 *
 * Layout: the blocks of one window behind those of another, each window at a multiple of 8 bytes; then an entry a window;
 * then the trailer. All numbers in the byte order of the machine, which wrote the file for itself.
 */
import { closeSync, fstatSync, openSync, readSync, renameSync, writeSync } from 'node:fs'
import ndarray from 'ndarray'
import type { BodyId } from './types.ts'
import type { ReadWindow } from './window-reader.ts'
import {
  collisionAt,
  constraintAt,
  energyAt,
  externalAt,
  type FlatRows,
  type FrameWindow,
  frictionAt,
  solverAt,
  stateAt,
  systemAt,
} from './window-types.ts'

/** The file that holds the columns of a private copy. */
export const columnsFileOf = (copy: string): string => `${copy}-columns`

const flatWidths = [collisionAt.width, constraintAt.width, frictionAt.width, externalAt.width] as const
const frameWidths = [systemAt.width, solverAt.width] as const
const bodyWidths = [stateAt.width, energyAt.width] as const

/** Tells files of other layouts apart; 64 bytes at the end of the file. */
const trailer = Buffer.alloc(
  64,
  `causeway columns 1 ${[...bodyWidths, ...frameWidths, ...flatWidths].join()}`,
)

/** What is known of a window: its first frame, place, frames with context, context, and rows of each flat part. */
const entryLength = 8

/** Writes the windows of a recording, in frame order, and puts the file in place when it is whole. */
export async function writeColumns(
  file: string,
  bodies: readonly BodyId[],
  windows: AsyncIterable<FrameWindow>,
): Promise<void> {
  const part = `${file}.part`
  const target = openSync(part, 'w', 0o600)
  try {
    const entries: number[] = []
    let at = 0
    const put = (block: ArrayBufferView): void => {
      const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength)
      for (let done = 0; done < bytes.length; ) done += writeSync(target, bytes, done)
      at += bytes.length
    }
    for await (const window of windows) {
      const flat = flatParts(window)
      entries.push(window.frames[0] ?? Number.NaN, at, window.frames.length, window.from)
      entries.push(...flat.map(({ data }) => data.shape[0] ?? 0))
      for (const block of blocksOf(window, flat)) put(block)
      put(new Uint8Array(-at & 7))
    }
    const index = at
    put(Float64Array.from(bodies))
    put(Float64Array.from(entries))
    put(Float64Array.of(index, bodies.length, entries.length / entryLength))
    put(trailer)
  } finally {
    closeSync(target)
  }
  renameSync(part, file)
}

const flatParts = ({ collisions, constraints, friction, externals }: FrameWindow) =>
  [collisions, constraints, friction, externals] as const

function blocksOf(window: FrameWindow, flat: readonly FlatRows[]): readonly ArrayBufferView[] {
  const { frames, times, states, energies, system, solver, present } = window
  const rows = flat.map(({ data }) => data.data)
  const offsets = flat.map(({ offset }) => offset)
  return [
    frames,
    times,
    ...[states, energies, system, solver].map(({ data }) => data),
    ...rows,
    ...offsets,
    present,
  ]
}

/** An open file of columns. */
export interface ColumnsFile {
  /** The window that begins with these frames, or undefined where the file has none that does. */
  readonly read: (...args: Parameters<ReadWindow>) => FrameWindow | undefined
  close(): void
}

/** Opens a file of columns; undefined where there is none, or one of another layout or of other bodies. */
export function openColumns(file: string, bodies: readonly BodyId[]): ColumnsFile | undefined {
  const descriptor = openIfThere(file)
  if (descriptor === undefined) return undefined
  const entries = readEntries(descriptor, bodies)
  if (entries === undefined) {
    closeSync(descriptor)
    return undefined
  }
  return {
    read(ids, context) {
      const entry = entries.get(ids[0] ?? Number.NaN)
      if (entry === undefined || entry[2] !== ids.length || entry[3] !== context) return undefined
      return readWindow(descriptor, entry, bodies)
    },
    close: () => closeSync(descriptor),
  }
}

function openIfThere(file: string): number | undefined {
  try {
    return openSync(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function readBytes(descriptor: number, length: number, from: number): ArrayBuffer {
  const bytes = new Uint8Array(length)
  for (let done = 0; done < length; ) {
    const read = readSync(descriptor, bytes, done, length - done, from + done)
    if (read === 0) throw new Error('a file of columns ends early')
    done += read
  }
  return bytes.buffer
}

/** The entries by the first frame of their window. */
function readEntries(
  descriptor: number,
  bodies: readonly BodyId[],
): ReadonlyMap<number, Float64Array> | undefined {
  const { size } = fstatSync(descriptor)
  const tail = 3 * 8 + trailer.length
  if (size < tail) return undefined
  const end = readBytes(descriptor, tail, size - tail)
  if (!trailer.equals(new Uint8Array(end, 3 * 8))) return undefined
  const [index = 0, bodyCount = 0, count = 0] = new Float64Array(end, 0, 3)
  const numbers = new Float64Array(readBytes(descriptor, size - tail - index, index))
  const isOfThese = bodyCount === bodies.length && bodies.every((id, column) => numbers[column] === id)
  if (!isOfThese) return undefined
  const entries = new Map<number, Float64Array>()
  for (let i = 0; i < count; i++) {
    const entry = numbers.subarray(bodyCount + i * entryLength, bodyCount + (i + 1) * entryLength)
    entries.set(entry[0] ?? Number.NaN, entry)
  }
  return entries
}

function readWindow(descriptor: number, entry: Float64Array, bodies: readonly BodyId[]): FrameWindow {
  const [, from = 0, frames = 0, context = 0] = entry
  const rows = [...entry.subarray(4)]
  const numbers =
    frames * (2 + frameWidths[0] + frameWidths[1]) +
    frames * bodies.length * (bodyWidths[0] + bodyWidths[1]) +
    flatWidths.reduce((sum, width, part) => sum + width * (rows[part] ?? 0), 0)
  const offsets = flatWidths.length * (frames + 1)
  const bytes = readBytes(descriptor, numbers * 8 + offsets * 4 + frames * bodies.length, from)
  let at = 0
  const doubles = (length: number): Float64Array => {
    const block = new Float64Array(bytes, at, length)
    at += block.byteLength
    return block
  }
  const ofBodies = (width: number) =>
    ndarray(doubles(frames * bodies.length * width), [frames, bodies.length, width])
  const ofFrames = (width: number) => ndarray(doubles(frames * width), [frames, width])
  const head = { frames: doubles(frames), times: doubles(frames) }
  const states = ofBodies(bodyWidths[0])
  const energies = ofBodies(bodyWidths[1])
  const system = ofFrames(frameWidths[0])
  const solver = ofFrames(frameWidths[1])
  const data = flatWidths.map((width, part) =>
    ndarray(doubles(width * (rows[part] ?? 0)), [rows[part] ?? 0, width]),
  )
  const [collisions, constraints, friction, externals] = data.map((block): FlatRows => {
    const offset = new Uint32Array(bytes, at, frames + 1)
    at += offset.byteLength
    return { offset, data: block }
  }) as [FlatRows, FlatRows, FlatRows, FlatRows]
  const present = new Uint8Array(bytes, at, frames * bodies.length)
  return {
    from: context,
    to: frames,
    ...head,
    bodies,
    present,
    states,
    energies,
    system,
    solver,
    collisions,
    constraints,
    friction,
    externals,
  }
}
