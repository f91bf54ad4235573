/** Limits of JSON that a client sends, checked before it is parsed. */
import { CausewayError } from './causeway-error.ts'

/**
 * The limits. Real messages are nested about ten levels deep and use a few hundred names; parsing the largest body
 * that is within them takes about 200 ms.
 */
export const jsonLimits = {
  /** Levels of arrays and objects. */
  depth: 500,
  /** Arrays and objects in all. */
  containers: 1_000_000,
  /** Items of arrays and members of objects in all. */
  values: 2_000_000,
  /** Members of objects in all. */
  members: 500_000,
  /** Different names of members in all. The parser takes as long for a new name as for about 20 numbers. */
  names: 50_000,
} as const

/** Limits that `checkJson` applies. */
export type JsonLimits = Readonly<Record<keyof typeof jsonLimits, number>>

/** Texts up to this length are not read: they have at most 2,048 levels, and few names. */
const uncheckedBytes = 4096

/** Returns the value of JSON text from a client, or `undefined` if the text is not JSON. Throws what `checkJson` throws. */
export function parseJson(text: string): unknown {
  if (text.length > uncheckedBytes) checkJson(new TextEncoder().encode(text))
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Throws `INVALID_REQUEST` if the JSON is nested too deeply, and `BODY_TOO_LARGE` if it has too many values,
 * arrays, objects, members or names. Reads the bytes once, and does not check the syntax.
 */
export function checkJson(json: Uint8Array, limits: JsonLimits = jsonLimits): void {
  const { length } = json
  if (length <= uncheckedBytes) return
  // A name takes at least four bytes: two quotes, a colon and a value.
  const names = length > 4 * limits.names ? new NameCounter(json) : undefined
  let depth = 0
  let containers = 0
  let values = 0
  let members = 0
  let stringStart = 0
  let stringEnd = 0
  for (let at = 0; at < length; at += 1) {
    const byte = json[at] as number
    if (byte === quote) {
      stringStart = at + 1
      for (at = stringStart; at < length && json[at] !== quote; at += 1) if (json[at] === backslash) at += 1
      stringEnd = at
    } else if (byte === comma) {
      values += 1
      if (values > limits.values) throw tooMany('values', limits.values)
    } else if (byte === colon) {
      members += 1
      if (members > limits.members) throw tooMany('members of objects', limits.members)
      if (names !== undefined && names.add(stringStart, stringEnd) > limits.names)
        throw tooMany('different names', limits.names)
      // In text that is not JSON, many colons can follow one string, which is read only once.
      stringStart = stringEnd
    } else if ((byte | caseBit) === openBrace) {
      depth += 1
      containers += 1
      if (depth > limits.depth) throw tooDeep(limits.depth)
      if (containers > limits.containers) throw tooMany('arrays and objects', limits.containers)
    } else if ((byte | caseBit) === closeBrace) depth -= 1
  }
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
/** Turns a bracket into the brace of the same direction, and no other byte of JSON into a brace. */
const caseBit = 0x20

/** Counts different names in JSON. The count is a few percent too low, since two names may have the same hash. */
class NameCounter {
  readonly #json: Uint8Array
  readonly #seen = new Uint8Array(2 ** 17)
  /** Random, so that a client cannot choose names with the same hash. */
  readonly #factor = Math.floor(Math.random() * 2 ** 31) | 1
  #count = 0

  constructor(json: Uint8Array) {
    this.#json = json
  }

  /** Adds the name between two indexes, and returns the number of different names so far. */
  add(start: number, end: number): number {
    const json = this.#json
    let hash = end - start
    for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (json[at] as number), this.#factor)
    const bit = hash >>> 12
    const mask = 1 << (bit & 7)
    const byte = this.#seen[bit >>> 3] as number
    if ((byte & mask) === 0) {
      this.#seen[bit >>> 3] = byte | mask
      this.#count += 1
    }
    return this.#count
  }
}

const tooDeep = (limit: number): CausewayError =>
  new CausewayError('INVALID_REQUEST', `the JSON is nested more than ${limit} levels deep`, {
    remedy: 'send fewer levels',
    data: { limit_depth: limit },
  })

const tooMany = (what: string, limit: number): CausewayError =>
  new CausewayError('BODY_TOO_LARGE', `the JSON has more than ${limit} ${what}`, {
    remedy: 'send less in one request',
    data: { limit_count: limit },
  })
