/** A window as one buffer in native byte order, aligned to 8 bytes. Its entry determines the length. */
import ndarray from 'ndarray'
import type { BodyId } from '../types.ts'
import {
  collisionAt,
  constraintAt,
  energyAt,
  externalAt,
  type FlatRows,
  type FrameWindow,
  frictionAt,
  jointAt,
  solverAt,
  stateAt,
  systemAt,
} from './frame-window.ts'

const flatWidths = [
  ...[collisionAt.width, constraintAt.width, frictionAt.width, externalAt.width, jointAt.width],
] as const
const frameWidths = [systemAt.width, solverAt.width] as const
const bodyWidths = [stateAt.width, energyAt.width] as const

export const windowLayout = [...bodyWidths, ...frameWidths, ...flatWidths].join()

/** Counts: frames including context, frames of context, and rows of each flat part. */
type WindowEntry = ArrayLike<number>

export const entryLength = 2 + flatWidths.length

export interface PackedWindow {
  readonly entry: WindowEntry
  readonly bytes: Uint8Array<ArrayBuffer>
}

export function packWindow(window: FrameWindow): PackedWindow {
  const flat = [window.collisions, window.constraints, window.friction, window.externals, window.joints]
  const { frames, times, states, energies, system, solver, present } = window
  const blocks = [
    frames,
    times,
    ...[states, energies, system, solver].map(({ data }) => data),
    ...flat.map(({ data }) => data.data),
    ...flat.map(({ offset }) => offset),
    present,
  ]
  const length = blocks.reduce((sum, { byteLength }) => sum + byteLength, 0)
  const bytes = new Uint8Array(length + (-length & 7))
  let at = 0
  for (const { buffer, byteOffset, byteLength } of blocks) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at)
    at += byteLength
  }
  return { entry: [frames.length, window.from, ...flat.map(({ data }) => data.shape[0] ?? 0)], bytes }
}

/** Excludes the padding at the end. */
export function countWindowBytes(entry: WindowEntry, bodies: number): number {
  const frames = entry[0] ?? 0
  const numbers =
    frames * (2 + frameWidths[0] + frameWidths[1]) +
    frames * bodies * (bodyWidths[0] + bodyWidths[1]) +
    flatWidths.reduce((sum, width, part) => sum + width * (entry[2 + part] ?? 0), 0)
  return numbers * 8 + flatWidths.length * (frames + 1) * 4 + frames * bodies
}

/** The window shares memory with the buffer. */
export function unpackWindow(entry: WindowEntry, bytes: ArrayBuffer, bodies: readonly BodyId[]): FrameWindow {
  const [frames, context] = [entry[0] ?? 0, entry[1] ?? 0]
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
    ndarray(doubles(width * (entry[2 + part] ?? 0)), [entry[2 + part] ?? 0, width]),
  )
  const [collisions, constraints, friction, externals, joints] = data.map((block): FlatRows => {
    const offset = new Uint32Array(bytes, at, frames + 1)
    at += offset.byteLength
    return { offset, data: block }
  }) as [FlatRows, FlatRows, FlatRows, FlatRows, FlatRows]
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
    joints,
  }
}
