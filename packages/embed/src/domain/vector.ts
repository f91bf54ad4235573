/**
 * The vector at length 1, a copy; undefined where it has no direction: all zero, or a component that is not finite.
 */
export function unit(vector: ArrayLike<number>): Float32Array | undefined {
  let sum = 0
  for (let i = 0; i < vector.length; i++) sum += (vector[i] ?? 0) ** 2
  const length = Math.sqrt(sum)
  if (!(length > 1e-12) || !Number.isFinite(length)) return undefined
  return Float32Array.from(vector, (value) => value / length)
}

/** The bytes of a vector, little-endian float32, four for each component. */
export function vectorBytes(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(vector.length * 4)
  const view = new DataView(bytes.buffer)
  for (const [i, value] of vector.entries()) view.setFloat32(i * 4, value, true)
  return bytes
}

/** The vector of such bytes, wherever they lie in memory. */
export function vectorOf(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Float32Array.from({ length: bytes.byteLength >> 2 }, (_, i) => view.getFloat32(i * 4, true))
}
