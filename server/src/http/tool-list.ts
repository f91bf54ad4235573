/** `tools/list` from bytes that were serialised when the list changed: the one answer that every client asks for. */
import { type Id, meta, type Params } from '@causeway/protocol'
import type { FastifyReply } from 'fastify'
import type { Core, Era, Mount } from '../core.ts'

/** The part of a request that decides. */
interface Asked {
  readonly method: string
  readonly params?: Params | undefined
}

/** True for a request of the first page of `tools/list`. */
export const asksFirstPage = ({ method, params }: Asked): boolean =>
  method === 'tools/list' && params?.cursor === undefined

/** A JSON-RPC answer in two parts: the second is the same for everybody, and never copied. */
export interface ToolListAnswer {
  readonly head: string
  /** UTF-8. */
  readonly rest: Buffer
}

/** The answer as text. */
export const textOf = ({ head, rest }: ToolListAnswer): string => `${head}${rest}`

const jsonType = ['content-type', 'application/json; charset=utf-8']

/** Sends it with status 200. */
export function sendToolList(reply: FastifyReply, { head, rest }: ToolListAnswer): void {
  reply.hijack()
  const { raw } = reply
  raw.cork()
  const given = Object.entries(reply.getHeaders()).flat() as string[]
  const bytes = Buffer.byteLength(head) + rest.byteLength
  raw.writeHead(200, [...given, ...jsonType, 'content-length', `${bytes}`])
  raw.write(head)
  raw.end(rest)
  raw.uncork()
}

/** Makes answers out of bytes that are encoded once for each list. */
export interface ToolListAnswers {
  answer(asked: { readonly mount: Mount; readonly era: Era; readonly id: Id }): ToolListAnswer
  /** The bytes; all of them are given back at once. */
  readonly memory: { bytes(): number; shrink(): number }
}

/** Encodes the list of a mount when it is first asked for, and again when it is another one. */
export function toolListAnswers(core: Core): ToolListAnswers {
  const known = new Map<string, { readonly json: string; readonly rest: Buffer }>()

  /** What follows the id. */
  const restOf = (mount: Mount, era: Era): Buffer => {
    const { json } = core.toolList(mount, era)
    const key = `${era} ${mount.path}`
    const before = known.get(key)
    if (before?.json === json) return before.rest
    const result = era === 'modern' ? stamped(json, core.describe(mount).serverInfo) : json
    const rest = Buffer.from(`,"result":${result}}`)
    known.set(key, { json, rest })
    return rest
  }

  const bytes = (): number => [...known.values()].reduce((sum, { rest }) => sum + rest.byteLength, 0)
  return {
    memory: {
      bytes,
      shrink() {
        const given = bytes()
        known.clear()
        return given
      },
    },
    answer: ({ mount, era, id }) => ({
      head: `{"jsonrpc":"2.0","id":${JSON.stringify(id)}`,
      rest: restOf(mount, era),
    }),
  }
}

/** What MCP 2026-07-28 wants on every result, put in before the last brace; the list is never empty of members. */
function stamped(json: string, serverInfo: object): string {
  const stamp = { resultType: 'complete', _meta: { [meta.serverInfo]: serverInfo } }
  return `${json.slice(0, -1)},${JSON.stringify(stamp).slice(1)}`
}
