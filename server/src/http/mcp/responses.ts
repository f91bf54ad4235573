import type { Cache } from '@causeway/app-kit'
import {
  type CallToolResult,
  classifyMessage,
  createSuccess,
  type Id,
  meta,
  type Request,
  structuredJson,
} from '@causeway/protocol'
import type { FastifyReply } from 'fastify'
import type { Era } from '../../dispatch/caller.ts'
import type { Mount } from '../../registry/mount.ts'
import type { Registry } from '../../registry/registry.ts'
import type { Exchange } from '../exchange.ts'

/** Longer JSON is copied instead of serialized again. */
const minCopiedLength = 16_384

/** Fastify adds the charset only to text. */
export const jsonType = 'application/json; charset=utf-8'

export function encodeResult(id: Id, result: object): string | Buffer {
  const { [structuredJson]: json = '' } = result as CallToolResult
  if (json.length < minCopiedLength) return JSON.stringify(createSuccess(id, result))
  const members = Object.entries(result)
    .map(([name, value]) => [name, name === 'structuredContent' ? json : JSON.stringify(value)] as const)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
  return Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${members.join(',')}}}`)
}

/** Adds the members of every MCP 2026-07-28 result. */
export const completeResult = (result: { readonly _meta?: object }, serverInfo: object): object => ({
  ...result,
  resultType: 'complete',
  _meta: { ...result._meta, [meta.serverInfo]: serverInfo },
})

export const isFirstToolPage = (message: unknown): message is Request => {
  const { method, params } = (message ?? {}) as Partial<Request>
  return method === 'tools/list' && params?.cursor === undefined && classifyMessage(message) === 'request'
}

interface ToolListRequest {
  readonly mount: Mount
  readonly era: Era
  readonly id: Id
}

/** Encodes the first page of `tools/list` once per change. */
export class ToolLists {
  readonly #registry: Registry
  readonly #bypassesSdk: boolean
  readonly #encodedLists = new Map<string, { readonly json: string; readonly tail: Buffer }>()

  constructor(registry: Registry, { bypassesSdk }: { readonly bypassesSdk: boolean }) {
    this.#registry = registry
    this.#bypassesSdk = bypassesSdk
  }

  /** Returns whether it sent a response. */
  respond({ request: { body }, reply, mount }: Exchange, era: Era): boolean {
    if (!this.#bypassesSdk || !isFirstToolPage(body)) return false
    this.#send(reply, { mount, era, id: body.id })
    return true
  }

  #send(reply: FastifyReply, request: ToolListRequest): void {
    const head = encodeHead(request)
    const tail = this.#encodeTail(request)
    const headers = Object.entries(reply.getHeaders()).flat() as string[]
    const length = Buffer.byteLength(head) + tail.byteLength
    reply.hijack()
    const { raw } = reply
    raw.cork()
    raw.writeHead(200, [...headers, 'content-type', jsonType, 'content-length', `${length}`])
    raw.write(head)
    raw.end(tail)
    raw.uncork()
  }

  toText(request: ToolListRequest): string {
    return `${encodeHead(request)}${this.#encodeTail(request)}`
  }

  get cache(): Cache {
    return {
      name: 'tool_lists',
      costMs: 2,
      isInHeap: false,
      maxBytes: 64 * 1024 ** 2,
      bytes: () => this.#countBytes(),
      shrink: () => {
        const bytes = this.#countBytes()
        this.#encodedLists.clear()
        return bytes
      },
    }
  }

  #countBytes(): number {
    return [...this.#encodedLists.values()].reduce((sum, { tail }) => sum + tail.byteLength, 0)
  }

  #encodeTail({ mount, era }: ToolListRequest): Buffer {
    const { toolsJson, description } = this.#registry.getLists(mount)
    const json = toolsJson[era]
    const key = `${era} ${mount.path}`
    const previous = this.#encodedLists.get(key)
    if (previous?.json === json) return previous.tail
    const result = era === 'modern' ? addMembers(json, completeResult({}, description.serverInfo)) : json
    const tail = Buffer.from(`,"result":${result}}`)
    this.#encodedLists.set(key, { json, tail })
    return tail
  }
}

const encodeHead = ({ id }: ToolListRequest): string => `{"jsonrpc":"2.0","id":${JSON.stringify(id)}`

const addMembers = (json: string, members: object): string =>
  `${json.slice(0, -1)},${JSON.stringify(members).slice(1)}`
