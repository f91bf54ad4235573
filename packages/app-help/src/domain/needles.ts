/** Whether bytes hold anything of a list of texts: one pass over the bytes, however many texts there are. */

/** Bytes of a text that are looked for together; shorter texts are told apart too badly. */
const needleBytes = 24

/** Parts of 24 bytes of each text, every 16 bytes, so that one of them lies whole within a page of a database. */
export function needles(texts: Iterable<Uint8Array>): Uint8Array[] {
  const found: Uint8Array[] = []
  for (const text of texts)
    for (let at = 0; at + needleBytes <= text.length; at += 16)
      found.push(text.subarray(at, at + needleBytes))
  return found
}

const base = 257
const modulus = 16_777_213
/** base^(needleBytes - 1) modulo the modulus. */
const leading = Array.from({ length: needleBytes - 1 }).reduce<number>((power) => (power * base) % modulus, 1)

/** Those of the needles, all of `needleBytes` bytes, that the bytes hold (Rabin and Karp, 1987). */
export function heldNeedles(bytes: Uint8Array, wanted: readonly Uint8Array[]): ReadonlySet<Uint8Array> {
  const held = new Set<Uint8Array>()
  const byHash = new Map<number, Uint8Array[]>()
  for (const needle of wanted) {
    const hash = hashOf(needle)
    byHash.set(hash, [...(byHash.get(hash) ?? []), needle])
  }
  if (byHash.size === 0 || bytes.length < needleBytes) return held
  let hash = hashOf(bytes.subarray(0, needleBytes))
  for (let at = 0; ; at++) {
    for (const needle of byHash.get(hash) ?? []) if (isAt(bytes, at, needle)) held.add(needle)
    if (at + needleBytes >= bytes.length) return held
    const without = (hash + modulus - (((bytes[at] ?? 0) * leading) % modulus)) % modulus
    hash = (without * base + (bytes[at + needleBytes] ?? 0)) % modulus
  }
}

function hashOf(bytes: Uint8Array): number {
  let hash = 0
  for (const byte of bytes) hash = (hash * base + byte) % modulus
  return hash
}

const isAt = (bytes: Uint8Array, at: number, needle: Uint8Array): boolean =>
  needle.every((byte, i) => bytes[at + i] === byte)
