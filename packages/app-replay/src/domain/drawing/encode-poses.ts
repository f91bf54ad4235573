import type { BodyId } from '@causeway/recording'
import type { Point3 } from '../vector.ts'

/** Position x y z, orientation w x y z. */
export const poseWidth = 7

export interface Poses {
  readonly bodies: readonly BodyId[]
  /** Shape [frames]. */
  readonly frames: Float64Array
  /** Times in s, shape [frames]. */
  readonly times: Float64Array
  /** Subtracted from all positions, m. */
  readonly origin: Point3
  /** Bits: 1 recorded, 2 not finite, 4 too far away; shape [frames, bodies]. */
  readonly states: Uint8Array
  /** Shape [frames, bodies, 7], row-major. */
  readonly values: Float32Array
}

const headerBytes = 56

/**
 * Returns poses in the format `CWP1`, little-endian: `u32` magic, version, frames, bodies; `f64` origin[3];
 * padding to 56 bytes; `f64` frame ids; `f64` times; `u32` body ids; `u8` states, padded to 4 bytes; `f32`
 * values.
 */
export function encodePoses({ bodies, frames, times, origin, states, values }: Poses): Uint8Array {
  const stateBytes = Math.ceil(states.length / 4) * 4
  const size = headerBytes + 2 * frames.length * 8 + bodies.length * 4 + stateBytes + values.length * 4
  const bytes = new Uint8Array(size)
  const view = new DataView(bytes.buffer)
  bytes.set([0x43, 0x57, 0x50, 0x31])
  for (const [index, value] of [1, frames.length, bodies.length].entries())
    view.setUint32(4 + index * 4, value, true)
  for (const [axis, value] of origin.entries()) view.setFloat64(16 + axis * 8, value, true)
  let at = headerBytes
  for (const value of [...frames, ...times]) {
    view.setFloat64(at, value, true)
    at += 8
  }
  for (const body of bodies) {
    view.setUint32(at, body, true)
    at += 4
  }
  bytes.set(states, at)
  at += stateBytes
  for (const value of values) {
    view.setFloat32(at, value, true)
    at += 4
  }
  return bytes
}

/** Coordinate in m up to which float32 is precise enough without an origin. */
const maxAbsoluteExtent = 1000

/** Returns the rounded position of the first known body, or zero if its coordinates are small. */
export function chooseOrigin(rows: readonly Float64Array[], maxDistance: number): Point3 {
  for (const row of rows)
    for (let at = 0; at < row.length; at += poseWidth) {
      const [x = Number.NaN, y = Number.NaN, z = Number.NaN] = row.subarray(at, at + 3)
      const distance = Math.max(Math.abs(x), Math.abs(y), Math.abs(z))
      if (Number.isNaN(distance) || distance > maxDistance) continue
      return distance > maxAbsoluteExtent ? [Math.round(x), Math.round(y), Math.round(z)] : [0, 0, 0]
    }
  return [0, 0, 0]
}
