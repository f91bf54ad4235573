import { CausewayError } from './causeway-error.ts'

/** Limits of JSON from clients. Parsing and validating the largest body takes about 100 ms. */
export const jsonLimits = {
  /** Levels of arrays and objects. Real messages have about 10. */
  depth: 500,
  containers: 500_000,
  /** Items of arrays and members of objects. */
  values: 1_000_000,
  members: 200_000,
  /** Distinct member names. A new name costs as much as 20 numbers. */
  names: 50_000,
  /** Total size of the distinct names. */
  nameBytes: 2 * 2 ** 20,
} as const

export type JsonLimits = Readonly<Record<keyof typeof jsonLimits, number>>

interface CheckJsonOptions {
  readonly limits?: JsonLimits
  /** Receives the members of the two outer levels. */
  readonly onMember?: (member: OuterMember) => void
}

/** Positions are byte offsets. */
export interface OuterMember {
  /** 1 or 2. */
  readonly depth: number
  readonly nameStart: number
  readonly nameEnd: number
  readonly colon: number
}

/** Shorter JSON is not checked: it has at most 2,048 levels. */
const uncheckedBytes = 4096

/** Returns `undefined` for malformed JSON. Throws the errors of `checkJson`. */
export function parseJson(text: string): unknown {
  if (text.length > uncheckedBytes) checkJson(new TextEncoder().encode(text))
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Throws `INVALID_REQUEST` for too many levels and `BODY_TOO_LARGE` for the other limits. Does not check the
 * syntax.
 */
export function checkJson(json: Uint8Array, { limits = jsonLimits, onMember }: CheckJsonOptions = {}): void {
  const { length } = json
  if (length <= uncheckedBytes) return
  // Smaller JSON cannot exceed the limit of names: a member has at least four bytes.
  const names = length > 4 * limits.names ? new NameCounter(json, limits) : undefined
  let depth = 0
  let containerCount = 0
  let valueCount = 0
  let memberCount = 0
  let stringStart = 0
  let stringEnd = 0
  for (let index = 0; index < length; index += 1) {
    const byte = json[index] as number
    if (byte === quote) {
      stringStart = index + 1
      stringEnd = findStringEnd(json, stringStart)
      index = stringEnd
    } else if (byte === comma) {
      valueCount += 1
      if (valueCount > limits.values) throw createTooManyError('values', limits.values)
    } else if (byte === colon) {
      memberCount += 1
      if (memberCount > limits.members) throw createTooManyError('members of objects', limits.members)
      names?.add(stringStart, stringEnd)
      if (onMember !== undefined && depth <= 2)
        onMember({ depth, nameStart: stringStart, nameEnd: stringEnd, colon: index })
      // In malformed JSON, many colons can follow one string, which is hashed only once.
      stringStart = stringEnd
    } else if ((byte | caseBit) === openBrace) {
      depth += 1
      containerCount += 1
      if (depth > limits.depth) throw createTooDeepError(limits.depth)
      if (containerCount > limits.containers)
        throw createTooManyError('arrays and objects', limits.containers)
    } else if ((byte | caseBit) === closeBrace) depth -= 1
  }
}

/**
 * Returns the position of the quote that closes the string whose first byte is at `start`, or the length if it is
 * not closed.
 */
export function findStringEnd(json: Uint8Array, start: number): number {
  const { length } = json
  for (let index = start; index < length; ) {
    const blockEnd = Math.min(index + shortString, length)
    for (; index < blockEnd; index += 1) {
      const byte = json[index]
      if (byte === quote) return index
      if (byte === backslash) index += 1
    }
    const quoteIndex = json.indexOf(quote, index)
    if (quoteIndex === -1) return length
    let backslashes = 0
    while (quoteIndex - backslashes > index && json[quoteIndex - backslashes - 1] === backslash)
      backslashes += 1
    if (backslashes % 2 === 0) return quoteIndex
    index = quoteIndex + 1
  }
  return length
}

/** Length up to which a loop is faster than `indexOf`. */
const shortString = 64

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const caseBit = 0x20

/** Multiplier of MurmurHash2. */
const mixer = 0x5bd1e995

/** Counts distinct names. Hash collisions make the count a few percent too low. */
class NameCounter {
  readonly #json: Uint8Array
  readonly #limits: JsonLimits
  readonly #seen = new Uint8Array(2 ** 17)
  /** Random, so that a client cannot choose colliding names. */
  readonly #seed = Math.floor(Math.random() * 2 ** 32)
  #count = 0
  #bytes = 0

  constructor(json: Uint8Array, limits: JsonLimits) {
    this.#json = json
    this.#limits = limits
  }

  add(start: number, end: number): void {
    if (end - start > this.#limits.nameBytes)
      throw createTooManyError('bytes of names', this.#limits.nameBytes)
    const json = this.#json
    let hash = this.#seed ^ (end - start)
    for (let index = start; index < end; index += 1) {
      hash = Math.imul(hash ^ (json[index] as number), mixer)
      hash ^= hash >>> 15
    }
    const bit = hash >>> 12
    const mask = 1 << (bit & 7)
    const byte = this.#seen[bit >>> 3] as number
    if ((byte & mask) !== 0) return
    this.#seen[bit >>> 3] = byte | mask
    this.#count += 1
    this.#bytes += end - start
    if (this.#count > this.#limits.names) throw createTooManyError('different names', this.#limits.names)
    if (this.#bytes > this.#limits.nameBytes)
      throw createTooManyError('bytes of names', this.#limits.nameBytes)
  }
}

const createTooDeepError = (limit: number): CausewayError =>
  new CausewayError('INVALID_REQUEST', `the JSON is nested more than ${limit} levels deep`, {
    remedy: 'send fewer levels',
    data: { limit_depth: limit },
  })

const createTooManyError = (items: string, limit: number): CausewayError =>
  new CausewayError('BODY_TOO_LARGE', `the JSON has more than ${limit} ${items}`, {
    remedy: 'send less in one request',
    data: { limit_count: limit },
  })
