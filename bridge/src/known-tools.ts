import type { Params } from '@causeway/protocol'
import type { Fields } from './headers.ts'
import { type ParamHeader, paramFields, paramHeaders } from './param-headers.ts'

/** What the server's lists have told about its tools. */
export interface KnownTools {
  /** Reads one page of `tools/list`. */
  learn(result: unknown): void
  /** True for a tool that says it may be called twice. */
  isRepeatable(name: unknown): boolean
  /** The `Mcp-Param-*` fields of a call. */
  fields(params: Params): Fields
}

interface Facts {
  readonly isRepeatable: boolean
  readonly headers: readonly ParamHeader[]
}

/** Keeps only what calls need, so that long descriptions cost nothing. */
export function createKnownTools(): KnownTools {
  const known = new Map<string, Facts>()
  return {
    learn(result) {
      const { tools } = (result ?? {}) as { tools?: unknown }
      for (const tool of Array.isArray(tools) ? tools : []) {
        const { name, inputSchema, annotations } = (tool ?? {}) as Listed
        if (typeof name !== 'string') continue
        const isRepeatable = annotations?.readOnlyHint === true || annotations?.idempotentHint === true
        known.set(name, { isRepeatable, headers: paramHeaders(inputSchema) })
      }
    },
    isRepeatable: (name) => known.get(String(name))?.isRepeatable === true,
    fields: ({ name, arguments: given }) => paramFields(known.get(String(name))?.headers ?? [], given),
  }
}

interface Listed {
  readonly name?: unknown
  readonly inputSchema?: unknown
  readonly annotations?: { readonly readOnlyHint?: unknown; readonly idempotentHint?: unknown } | null
}
