/** Length in bytes. Shorter needles would match by chance. */
const needleBytes = 24

/** Returns parts of 24 bytes, one every 16 bytes, so that a boundary of database pages cannot split all of them. */
export function cutNeedles(texts: Iterable<Uint8Array>): Uint8Array[] {
  const needles: Uint8Array[] = []
  for (const text of texts)
    for (let offset = 0; offset + needleBytes <= text.length; offset += 16)
      needles.push(text.subarray(offset, offset + needleBytes))
  return needles
}

const base = 257
const modulus = 16_777_213
const leadingPower = Array.from({ length: needleBytes - 1 }).reduce<number>(
  (power) => (power * base) % modulus,
  1,
)

/** Returns the needles that occur in the bytes (Rabin and Karp, 1987). */
export function findNeedles(bytes: Uint8Array, needles: readonly Uint8Array[]): ReadonlySet<Uint8Array> {
  const foundNeedles = new Set<Uint8Array>()
  const needlesByHash = new Map<number, Uint8Array[]>()
  for (const needle of needles) {
    const hash = hashBytes(needle)
    needlesByHash.set(hash, [...(needlesByHash.get(hash) ?? []), needle])
  }
  if (needlesByHash.size === 0 || bytes.length < needleBytes) return foundNeedles
  let hash = hashBytes(bytes.subarray(0, needleBytes))
  for (let offset = 0; ; offset++) {
    for (const needle of needlesByHash.get(hash) ?? [])
      if (matchesAt(bytes, offset, needle)) foundNeedles.add(needle)
    if (offset + needleBytes >= bytes.length) return foundNeedles
    const remainingHash = (hash + modulus - (((bytes[offset] ?? 0) * leadingPower) % modulus)) % modulus
    hash = (remainingHash * base + (bytes[offset + needleBytes] ?? 0)) % modulus
  }
}

function hashBytes(bytes: Uint8Array): number {
  let hash = 0
  for (const byte of bytes) hash = (hash * base + byte) % modulus
  return hash
}

const matchesAt = (bytes: Uint8Array, offset: number, needle: Uint8Array): boolean =>
  needle.every((byte, i) => bytes[offset + i] === byte)
