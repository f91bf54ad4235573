import { headers as names } from '@causeway/protocol'
import type { Incoming } from './message.ts'

/** Header fields by lower-case name. */
export type Fields = Record<string, string>

/** What a legacy session adds to each of its requests. */
export interface SessionMark {
  readonly id: string | undefined
  readonly version: string | undefined
}

/** Where `Mcp-Name` comes from, by method (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports). */
const nameSources: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/** The fields that a POST of this message carries beside those of every request. */
export function messageFields(message: Incoming, mark: SessionMark): Fields {
  const fields: Fields = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  if (message.claimed !== undefined) return { ...fields, ...modernFields(message, message.claimed) }
  // A session begins with initialize, so that message belongs to none.
  return message.method === 'initialize' ? fields : { ...fields, ...sessionFields(mark) }
}

/** The fields of a legacy session. */
export function sessionFields({ id, version }: SessionMark): Fields {
  return {
    ...(id !== undefined && { [names.sessionId]: id }),
    ...(version !== undefined && { [names.protocolVersion]: version }),
  }
}

/** The stateless era mirrors parts of the body; `Mcp-Param-*` of a tool's own schema would join here. */
function modernFields({ method, params }: Incoming, version: string): Fields {
  const fields: Fields = { [names.protocolVersion]: fieldValue(version) }
  if (method === '') return fields
  fields[names.method] = fieldValue(method)
  const source = Object.hasOwn(nameSources, method) ? params[nameSources[method] as string] : undefined
  if (typeof source === 'string') fields[names.name] = fieldValue(source)
  return fields
}

/**
 * Any text as a header value: plain where it is safe ASCII without outer blanks, else `=?base64?…?=` over its UTF-8.
 * Text that looks like that form already is encoded too, so that decoding is unambiguous.
 */
export function fieldValue(text: string): string {
  const isSafe = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text)
  return isSafe ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`
}
