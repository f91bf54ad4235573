import type { IncomingHttpHeaders } from 'node:http'
import { asObject, headers as names } from '@causeway/protocol'
import type { ClientMessage } from '../stdio/message.ts'

/** Header fields by lower-case name. */
export type Fields = Record<string, string>

/** A legacy session. Both members are `undefined` until `initialize` is answered. */
export interface SessionKey {
  readonly id: string | undefined
  readonly version: string | undefined
}

type MessageHead = Pick<ClientMessage, 'method' | 'params' | 'claimedVersion'>

/** The parameter in `Mcp-Name`, by method (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports). */
const nameParams: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

export const noSession: SessionKey = { id: undefined, version: undefined }

export function readSessionKey(headers: IncomingHttpHeaders, result: unknown): SessionKey {
  const id = headers[names.sessionId]
  const { protocolVersion: version } = asObject(result)
  return {
    id: typeof id === 'string' ? id : undefined,
    version: typeof version === 'string' && /^[\x21-\x7e]+$/.test(version) ? version : undefined,
  }
}

export function createMessageFields(message: MessageHead, key: SessionKey): Fields {
  const fields: Fields = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  if (message.claimedVersion !== undefined) addModernFields(fields, message, message.claimedVersion)
  // `initialize` starts a session, so it has no session id.
  else if (message.method !== 'initialize') Object.assign(fields, createSessionFields(key))
  return fields
}

export const eventStreamFields: Fields = { accept: 'text/event-stream' }

export function createSessionFields({ id, version }: SessionKey): Fields {
  const fields: Fields = {}
  if (id !== undefined) fields[names.sessionId] = id
  if (version !== undefined) fields[names.protocolVersion] = version
  return fields
}

function addModernFields(fields: Fields, { method, params }: MessageHead, version: string): void {
  fields[names.protocolVersion] = encodeFieldValue(version)
  if (method === '') return
  fields[names.method] = encodeFieldValue(method)
  const source = Object.hasOwn(nameParams, method) ? params[nameParams[method] as string] : undefined
  if (typeof source === 'string') fields[names.name] = encodeFieldValue(source)
}

/**
 * Returns printable ASCII unchanged, and other text as `=?base64?…?=` with its UTF-8 in Base64. Text that already has
 * this form is encoded too, so that decoding is unambiguous.
 */
export function encodeFieldValue(text: string): string {
  const isSafe = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text)
  return isSafe ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`
}
