import { asObject, meta, type Params } from '@causeway/protocol'
import { createMessageFields, type Fields, noSession } from '../http/headers.ts'
import { createParamFields, type ParamHeader, parseParamHeaders } from '../http/param-headers.ts'
import { sendRequest } from '../http/send-request.ts'
import type { Upstream } from '../http/upstream.ts'
import { type ClientMessage, createRequestLine } from '../stdio/message.ts'

/** Limits a malformed list whose pages never end. */
const maxPages = 100

const identity: ReadonlySet<string> = new Set([
  meta.protocolVersion,
  meta.clientInfo,
  meta.clientCapabilities,
])

interface Tool {
  readonly isRepeatable: boolean
  readonly headers: readonly ParamHeader[]
}

export class ToolCatalog {
  readonly #tools = new Map<string, Tool>()

  update(result: unknown): void {
    const { tools } = asObject(result)
    for (const tool of Array.isArray(tools) ? tools : []) {
      const { name, inputSchema, annotations } = asObject(tool)
      const { readOnlyHint, idempotentHint } = asObject(annotations)
      if (typeof name !== 'string') continue
      const isRepeatable = readOnlyHint === true || idempotentHint === true
      this.#tools.set(name, { isRepeatable, headers: parseParamHeaders(inputSchema) })
    }
  }

  isRepeatable(name: unknown): boolean {
    return this.#tools.get(String(name))?.isRepeatable === true
  }

  createFields({ name, arguments: args }: Params): Fields {
    return createParamFields(this.#tools.get(String(name))?.headers ?? [], args)
  }

  /** Lists the tools, using the identity of a stateless call. */
  async refresh(upstream: Upstream, { params: { _meta }, claimedVersion }: ClientMessage): Promise<void> {
    const envelope = Object.fromEntries(Object.entries(asObject(_meta)).filter(([key]) => identity.has(key)))
    let cursor: unknown
    for (let page = 0; page < maxPages; page += 1) {
      const method = 'tools/list'
      const params = { ...(cursor !== undefined && { cursor }), _meta: envelope }
      const fields = createMessageFields({ method, params, claimedVersion }, noSession)
      const body = createRequestLine(`bridge-tools-${page}`, method, params)
      const { response } = await sendRequest(upstream, { method: 'POST', fields, body })
      this.update(response?.result)
      cursor = asObject(response?.result).nextCursor
      if (cursor === undefined) return
    }
  }
}
