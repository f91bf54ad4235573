import { classifyMessage, findStringEnd, type Id, isObject, type MessageKind } from '@causeway/protocol'
import { parseJson } from './json.ts'

export interface Envelope {
  readonly kind: MessageKind
  /** `null` in an error without an id. */
  readonly id: Id | null
  readonly hasResult: boolean
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
const space = 0x20

/** Shorter messages are parsed completely, which also validates them. */
const maxParsedBytes = 64 * 1024

/**
 * Returns `undefined` for input that is not a JSON object. Reads only the outer members of long input: parsing
 * 10 MB takes 100 ms.
 */
export function readEnvelope(json: Buffer): Envelope | undefined {
  const value = json.length > maxParsedBytes ? readMembers(json) : parseJson(json)
  if (!isObject(value)) return undefined
  const { id = null } = value as { id?: Id | null }
  return { kind: classifyMessage(value), id, hasResult: 'result' in value }
}

/** Replaces or adds the id and preserves all other bytes. Returns the input unchanged if it is not an object. */
export function replaceId(json: Buffer, id: Id): Buffer {
  const members = findMembers(json)
  if (members === undefined) return json
  const text = JSON.stringify(id)
  const idMember = members.findLast(({ name }) => name === 'id')
  if (idMember !== undefined)
    return Buffer.concat([json.subarray(0, idMember.start), Buffer.from(text), json.subarray(idMember.end)])
  return Buffer.concat([Buffer.from(`{"id":${text},`), json.subarray(skipBlanks(json, 0) + 1)])
}

/** Nested objects and arrays are returned empty. */
function readMembers(json: Buffer): Readonly<Record<string, unknown>> | undefined {
  const members: Record<string, unknown> = Object.create(null)
  const ranges = findMembers(json)
  for (const { name, start, end } of ranges ?? []) members[name] = readValue(json, start, end)
  return ranges && members
}

interface Member {
  readonly name: string
  readonly start: number
  readonly end: number
}

function findMembers(json: Buffer): Member[] | undefined {
  const members: Member[] = []
  let at = skipBlanks(json, 0)
  if (json[at] !== openBrace) return undefined
  do {
    at = skipBlanks(json, at + 1)
    const nameEnd = json[at] === quote ? findStringEnd(json, at + 1) + 1 : at
    const separator = skipBlanks(json, nameEnd)
    if (nameEnd === at || json[separator] !== colon) return undefined
    const start = skipBlanks(json, separator + 1)
    const end = findValueEnd(json, start)
    if (end === start) return undefined
    members.push({ name: String(parseJson(json.subarray(at, nameEnd))), start, end })
    at = skipBlanks(json, end)
  } while (json[at] === comma)
  return json[at] === closeBrace && skipBlanks(json, at + 1) === json.length ? members : undefined
}

/** Splits a JSON array into its elements. Returns `undefined` for other input. */
export function readElements(json: Buffer): Buffer[] | undefined {
  if (!Array.isArray(parseJson(json))) return undefined
  const elements: Buffer[] = []
  let at = skipBlanks(json, 0)
  do {
    const start = skipBlanks(json, at + 1)
    const end = findValueEnd(json, start)
    if (end > start) elements.push(json.subarray(start, end))
    at = skipBlanks(json, end)
  } while (json[at] === comma)
  return elements
}

function readValue(json: Buffer, start: number, end: number): unknown {
  if (json[start] === openBrace) return {}
  return json[start] === openBracket ? [] : parseJson(json.subarray(start, end))
}

function skipBlanks(json: Buffer, from: number): number {
  let at = from
  while (at < json.length && (json[at] as number) <= space) at += 1
  return at
}

function findValueEnd(json: Buffer, start: number): number {
  const firstByte = json[start]
  if (firstByte === quote) return findStringEnd(json, start + 1) + 1
  if (firstByte === openBrace || firstByte === openBracket) return findContainerEnd(json, start)
  let at = start
  while (at < json.length && !endsScalar(json[at] as number)) at += 1
  return at
}

const endsScalar = (byte: number): boolean =>
  byte === comma || byte === closeBrace || byte === closeBracket || byte <= space

function findContainerEnd(json: Buffer, start: number): number {
  let depth = 0
  for (let at = start; at < json.length; at += 1) {
    const byte = json[at]
    if (byte === quote) at = findStringEnd(json, at + 1)
    else if (byte === openBrace || byte === openBracket) depth += 1
    else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return json.length
}
