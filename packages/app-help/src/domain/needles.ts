/** Length in bytes. Shorter needles would match by chance. */
const needleBytes = 24

/** Returns parts of 24 bytes, one every 16 bytes, so that a boundary of database pages cannot split all of them. */
export function cutNeedles(texts: Iterable<Uint8Array>): Uint8Array[] {
  const found: Uint8Array[] = []
  for (const text of texts)
    for (let at = 0; at + needleBytes <= text.length; at += 16)
      found.push(text.subarray(at, at + needleBytes))
  return found
}

const base = 257
const modulus = 16_777_213
/** `base` to the power of `needleBytes - 1`, modulo `modulus`. */
const leadingPower = Array.from({ length: needleBytes - 1 }).reduce<number>(
  (power) => (power * base) % modulus,
  1,
)

/** Returns the needles that occur in the bytes (Rabin and Karp, 1987). */
export function findNeedles(bytes: Uint8Array, wanted: readonly Uint8Array[]): ReadonlySet<Uint8Array> {
  const found = new Set<Uint8Array>()
  const byHash = new Map<number, Uint8Array[]>()
  for (const needle of wanted) {
    const hash = hashBytes(needle)
    byHash.set(hash, [...(byHash.get(hash) ?? []), needle])
  }
  if (byHash.size === 0 || bytes.length < needleBytes) return found
  let hash = hashBytes(bytes.subarray(0, needleBytes))
  for (let at = 0; ; at++) {
    for (const needle of byHash.get(hash) ?? []) if (isAt(bytes, at, needle)) found.add(needle)
    if (at + needleBytes >= bytes.length) return found
    const without = (hash + modulus - (((bytes[at] ?? 0) * leadingPower) % modulus)) % modulus
    hash = (without * base + (bytes[at + needleBytes] ?? 0)) % modulus
  }
}

function hashBytes(bytes: Uint8Array): number {
  let hash = 0
  for (const byte of bytes) hash = (hash * base + byte) % modulus
  return hash
}

const isAt = (bytes: Uint8Array, at: number, needle: Uint8Array): boolean =>
  needle.every((byte, i) => bytes[at + i] === byte)
