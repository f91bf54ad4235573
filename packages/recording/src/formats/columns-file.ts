/**
 * The columns of a recording in a file next to its private copy, because SQLite needs seconds to join 20 million rows.
 * Layout in native byte order: the blocks of each window, aligned to 8 bytes; one entry per window; the trailer.
 */
import { closeSync, fstatSync, openSync, readSync, renameSync, writeSync } from 'node:fs'
import ndarray from 'ndarray'
import type { ReadWindow } from '../reader/cpp/window-reader.ts'
import type { BodyId } from '../types.ts'
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
} from './frame-window.ts'

/** Returns the path of the columns file of a private copy. */
export const columnsFilePath = (copy: string): string => `${copy}-columns`

const flatWidths = [collisionAt.width, constraintAt.width, frictionAt.width, externalAt.width] as const
const frameWidths = [systemAt.width, solverAt.width] as const
const bodyWidths = [stateAt.width, energyAt.width] as const

/** Identifies the layout; 64 bytes at the end of the file. */
const trailer = Buffer.alloc(
  64,
  `causeway columns 1 ${[...bodyWidths, ...frameWidths, ...flatWidths].join()}`,
)

/** Length of an entry: first frame, offset, frames with context, context, and rows of each flat part. */
const entryLength = 8

/** Writes the windows of a recording in frame order. Renames the file into place when it is complete. */
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
    const write = (block: ArrayBufferView): void => {
      const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength)
      for (let done = 0; done < bytes.length; ) done += writeSync(target, bytes, done)
      at += bytes.length
    }
    for await (const window of windows) {
      const flat = flatParts(window)
      entries.push(window.frames[0] ?? Number.NaN, at, window.frames.length, window.from)
      entries.push(...flat.map(({ data }) => data.shape[0] ?? 0))
      for (const block of listBlocks(window, flat)) write(block)
      write(new Uint8Array(-at & 7))
    }
    const index = at
    write(Float64Array.from(bodies))
    write(Float64Array.from(entries))
    write(Float64Array.of(index, bodies.length, entries.length / entryLength))
    write(trailer)
  } finally {
    closeSync(target)
  }
  renameSync(part, file)
}

const flatParts = ({ collisions, constraints, friction, externals }: FrameWindow) =>
  [collisions, constraints, friction, externals] as const

function listBlocks(window: FrameWindow, flat: readonly FlatRows[]): readonly ArrayBufferView[] {
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

export interface ColumnsFile {
  /** Returns the window that begins with these frames, if the file has it. */
  readonly read: (...args: Parameters<ReadWindow>) => FrameWindow | undefined
  close(): void
}

/** Opens a columns file; `undefined` if it is missing, or has another layout or other bodies. */
export function openColumns(file: string, bodies: readonly BodyId[]): ColumnsFile | undefined {
  const descriptor = openIfExists(file)
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

function openIfExists(file: string): number | undefined {
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
    if (read === 0) throw new Error('the columns file is truncated')
    done += read
  }
  return bytes.buffer
}

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
  const hasSameBodies = bodyCount === bodies.length && bodies.every((id, column) => numbers[column] === id)
  if (!hasSameBodies) return undefined
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
  const readBodyBlock = (width: number) =>
    ndarray(doubles(frames * bodies.length * width), [frames, bodies.length, width])
  const readFrameBlock = (width: number) => ndarray(doubles(frames * width), [frames, width])
  const header = { frames: doubles(frames), times: doubles(frames) }
  const states = readBodyBlock(bodyWidths[0])
  const energies = readBodyBlock(bodyWidths[1])
  const system = readFrameBlock(frameWidths[0])
  const solver = readFrameBlock(frameWidths[1])
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
    ...header,
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
