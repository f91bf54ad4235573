import { type Id, isObject, kindOf, type MessageKind } from '@causeway/protocol'
import { parsed } from './parsed.ts'

/** What the bridge must know of a message of the server. */
export interface Envelope {
  readonly kind: MessageKind
  /** The id of a request or response; null in an error that names none. */
  readonly id: Id | null
  /** An answer that is no error. */
  readonly hasResult: boolean
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
const space = 0x20

/** Up to here a text is simply parsed: that is fast, and finds every fault in it. */
const parsedBytes = 64 * 1024

/**
 * Reads what kind of message a text is; undefined where it is no JSON object. Of a long one only the outer members are
 * read: parsing ten megabytes costs a hundred milliseconds and several times their size, and the inside of a result
 * is not the bridge's business.
 */
export function readEnvelope(json: Buffer): Envelope | undefined {
  const value = json.length > parsedBytes ? readMembers(json) : parsed(json)
  if (!isObject(value)) return undefined
  const { id = null } = value as { id?: Id | null }
  return { kind: kindOf(value), id, hasResult: 'result' in value }
}

/** The object with another id, all else as it is written; the text as it is where it is no object with members. */
export function withId(json: Buffer, id: Id): Buffer {
  const places = membersIn(json)
  if (places === undefined) return json
  const text = JSON.stringify(id)
  // Of a name that comes twice the last one counts.
  const last = places.findLast(({ name }) => name === 'id')
  if (last !== undefined)
    return Buffer.concat([json.subarray(0, last.start), Buffer.from(text), json.subarray(last.end)])
  return Buffer.concat([Buffer.from(`{"id":${text},`), json.subarray(skipBlanks(json, 0) + 1)])
}

/** The members of an object; objects and arrays in it stand for themselves, empty. */
function readMembers(json: Buffer): Readonly<Record<string, unknown>> | undefined {
  const members: Record<string, unknown> = Object.create(null)
  const places = membersIn(json)
  for (const { name, start, end } of places ?? []) members[name] = memberValue(json, start, end)
  return places && members
}

/** A member of an object, and from where to where its value is written. */
interface Member {
  readonly name: string
  readonly start: number
  readonly end: number
}

function membersIn(json: Buffer): Member[] | undefined {
  const members: Member[] = []
  let at = skipBlanks(json, 0)
  if (json[at] !== openBrace) return undefined
  do {
    at = skipBlanks(json, at + 1)
    const nameEnd = json[at] === quote ? endOfString(json, at) : at
    const separator = skipBlanks(json, nameEnd)
    if (nameEnd === at || json[separator] !== colon) return undefined
    const start = skipBlanks(json, separator + 1)
    const end = endOfValue(json, start)
    if (end === start) return undefined
    members.push({ name: String(parsed(json.subarray(at, nameEnd))), start, end })
    at = skipBlanks(json, end)
  } while (json[at] === comma)
  return json[at] === closeBrace && skipBlanks(json, at + 1) === json.length ? members : undefined
}

/** The elements of a JSON array, each as it is written; undefined where the text is no array. */
export function readElements(json: Buffer): Buffer[] | undefined {
  if (!Array.isArray(parsed(json))) return undefined
  const elements: Buffer[] = []
  let at = skipBlanks(json, 0)
  do {
    const start = skipBlanks(json, at + 1)
    const end = endOfValue(json, start)
    if (end > start) elements.push(json.subarray(start, end))
    at = skipBlanks(json, end)
  } while (json[at] === comma)
  return elements
}

function memberValue(json: Buffer, start: number, end: number): unknown {
  if (json[start] === openBrace) return {}
  return json[start] === openBracket ? [] : parsed(json.subarray(start, end))
}

function skipBlanks(json: Buffer, from: number): number {
  let at = from
  while (at < json.length && (json[at] as number) <= space) at += 1
  return at
}

/** The position behind the value that begins here. */
function endOfValue(json: Buffer, start: number): number {
  const first = json[start]
  if (first === quote) return endOfString(json, start)
  if (first === openBrace || first === openBracket) return endOfContainer(json, start)
  let at = start
  while (at < json.length && !endsScalar(json[at] as number)) at += 1
  return at
}

const endsScalar = (byte: number): boolean =>
  byte === comma || byte === closeBrace || byte === closeBracket || byte <= space

/** Native searches over the long stretches: a text of megabytes has few quotes and few escapes. */
function endOfString(json: Buffer, start: number): number {
  for (let at = json.indexOf(quote, start + 1); at !== -1; at = json.indexOf(quote, at + 1)) {
    let before = at
    while (json[before - 1] === backslash) before -= 1
    if ((at - before) % 2 === 0) return at + 1
  }
  return json.length
}

function endOfContainer(json: Buffer, start: number): number {
  let depth = 0
  for (let at = start; at < json.length; at += 1) {
    const byte = json[at]
    if (byte === quote) at = endOfString(json, at) - 1
    else if (byte === openBrace || byte === openBracket) depth += 1
    else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return json.length
}
