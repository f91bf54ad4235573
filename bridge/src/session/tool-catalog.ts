import { meta, type Params } from '@causeway/protocol'
import { ask } from '../http/ask.ts'
import { type Fields, messageFields } from '../http/headers.ts'
import { createParamFields, type ParamHeader, parseParamHeaders } from '../http/param-headers.ts'
import type { Upstream } from '../http/upstream.ts'
import { stringify } from '../stdio/json.ts'
import { type Incoming, readLine } from '../stdio/message.ts'

/** A longer list is malformed. */
const maxPages = 100

interface Tool {
  readonly isRepeatable: boolean
  readonly headers: readonly ParamHeader[]
}

interface ListedTool {
  readonly name?: unknown
  readonly inputSchema?: unknown
  readonly annotations?: { readonly readOnlyHint?: unknown; readonly idempotentHint?: unknown } | null
}

export class ToolCatalog {
  readonly #tools = new Map<string, Tool>()

  update(result: unknown): void {
    const { tools } = (result ?? {}) as { tools?: unknown }
    for (const tool of Array.isArray(tools) ? tools : []) {
      const { name, inputSchema, annotations } = (tool ?? {}) as ListedTool
      if (typeof name !== 'string') continue
      const isRepeatable = annotations?.readOnlyHint === true || annotations?.idempotentHint === true
      this.#tools.set(name, { isRepeatable, headers: parseParamHeaders(inputSchema) })
    }
  }

  isRepeatable(name: unknown): boolean {
    return this.#tools.get(String(name))?.isRepeatable === true
  }

  /** Returns a call's `Mcp-Param-*` fields. */
  fields({ name, arguments: args }: Params): Fields {
    return createParamFields(this.#tools.get(String(name))?.headers ?? [], args)
  }

  /** Uses the identity of a stateless call. */
  async refresh(upstream: Upstream, { params, claimed }: Incoming): Promise<void> {
    const { _meta } = params as { _meta?: Readonly<Record<string, unknown>> }
    const envelope = Object.fromEntries(
      [meta.protocolVersion, meta.clientInfo, meta.clientCapabilities].flatMap((key) =>
        _meta?.[key] === undefined ? [] : [[key, _meta[key]]],
      ),
    )
    let cursor: unknown
    for (let page = 0; page < maxPages; page += 1) {
      const request = {
        jsonrpc: '2.0',
        id: `bridge-tools-${page}`,
        method: 'tools/list',
        params: { ...(cursor !== undefined && { cursor }), _meta: envelope },
      }
      const [line] = readLine(Buffer.from(stringify(request)))
      if (line?.type !== 'message' || claimed === undefined) return
      const fields = messageFields(line.message, { id: undefined, version: undefined })
      const { response } = await ask(upstream, fields, line.message.bytes)
      const result = response?.result as { nextCursor?: unknown } | undefined
      this.update(result)
      cursor = result?.nextCursor
      if (cursor === undefined) return
    }
  }
}
