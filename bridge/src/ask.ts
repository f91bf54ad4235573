import { kindOf } from '@causeway/protocol'
import { unreachable } from './answer.ts'
import type { Fields } from './headers.ts'
import { createReplyReader, type Reply } from './reply.ts'
import type { Upstream } from './upstream.ts'

/** An answer that the bridge itself reads. */
export interface Asked {
  readonly reply: Reply
  /** The JSON-RPC response in it, else undefined. */
  readonly response: Readonly<Record<string, unknown>> | undefined
}

/**
 * Posts a message of the bridge's own and reads the response, from JSON or from the first of an event stream, which may
 * stay open behind it. Throws SERVER_UNREACHABLE, also where nothing came within `patienceMs`.
 */
export async function ask(
  upstream: Upstream,
  fields: Fields,
  body: Buffer,
  patienceMs = ownPatienceMs,
): Promise<Asked> {
  let response: Asked['response']
  let take = (): void => {}
  const taken = new Promise<void>((resolve) => {
    take = resolve
  })
  const reader = createReplyReader(ownLimit, ({ data }) => {
    response ??= responseIn(data)
    if (response !== undefined) take()
  })
  const exchange = upstream.post(fields, body, reader)
  let timer: NodeJS.Timeout | undefined
  const timeUp = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${patienceMs} ms`)), patienceMs)
  })
  try {
    await Promise.race([exchange.done, taken, timeUp])
  } catch (error) {
    throw unreachable(upstream.url, error)
  } finally {
    clearTimeout(timer)
    exchange.abort()
  }
  const reply = reader.reply() as Reply
  return { reply, response: response ?? responseIn(reply.type === 'json' ? reply.body : undefined) }
}

/** A server answers a handshake at once; calls wait behind one that does not. */
const ownPatienceMs = 30_000

/** Handshakes are small, lists of tools are less so. */
const ownLimit = 16 * 1024 * 1024

/** The JSON-RPC response that a body holds, if it holds one. */
export function responseIn(body: Buffer | undefined): Asked['response'] {
  if (body === undefined) return undefined
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return kindOf(value) === 'response' ? (value as Record<string, unknown>) : undefined
  } catch {
    // Not JSON: the status tells what to say.
    return undefined
  }
}
