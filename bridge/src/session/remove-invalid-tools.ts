import { classifyMessage } from '@causeway/protocol'
import { findParamHeaderFault } from '../http/param-headers.ts'
import type { Stage } from '../stages/stage.ts'
import { parseJson } from '../stdio/json.ts'
import { toLine } from '../stdio/message.ts'

const mark = '"x-mcp-header"'

/** MCP 2026-07-28 requires HTTP clients to remove tools with invalid `x-mcp-header` annotations. Warns once for each. */
export function removeInvalidTools(warn: (text: string) => void): Stage {
  const warned = new Set<string>()
  const isValid = (tool: unknown): boolean => {
    const { name, inputSchema } = (tool ?? {}) as { name?: unknown; inputSchema?: unknown }
    const fault = findParamHeaderFault(inputSchema)
    if (fault === undefined) return true
    const text = `the tool ${String(name)} is removed from the list: ${fault}`
    if (!warned.has(text)) warn(text)
    warned.add(text)
    return false
  }
  return ({ toServer, toClient }) => ({
    toServer,
    toClient(json) {
      const value = json.includes(mark) ? parseJson(json) : undefined
      const { tools, resultType } = findTools(value)
      const valid = Array.isArray(tools) && resultType !== undefined ? tools.filter(isValid) : undefined
      if (valid === undefined || valid.length === (tools as unknown[]).length) return toClient(json)
      const response = value as { readonly result: object }
      toClient(toLine({ ...response, result: { ...response.result, tools: valid } }))
    },
  })
}

function findTools(value: unknown): { readonly tools?: unknown; readonly resultType?: unknown } {
  if (classifyMessage(value) !== 'response') return {}
  return (value as { result?: { tools?: unknown; resultType?: unknown } }).result ?? {}
}
