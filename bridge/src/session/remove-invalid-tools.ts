import { asObject, classifyMessage } from '@causeway/protocol'
import { findParamHeaderFault } from '../http/param-headers.ts'
import type { Stage } from '../stages/stage.ts'
import { parseJson } from '../stdio/json.ts'
import { toLine } from '../stdio/message.ts'

const marker = '"x-mcp-header"'

/** Removes tools with invalid `x-mcp-header` annotations, as MCP 2026-07-28 requires. Warns once for each tool. */
export function removeInvalidTools(warn: (text: string) => void): Stage {
  const warnedTools = new Set<string>()
  const isValid = (tool: unknown): boolean => {
    const { name, inputSchema } = asObject(tool)
    const fault = findParamHeaderFault(inputSchema)
    if (fault === undefined) return true
    const text = `the tool ${String(name)} is removed from the list: ${fault}`
    if (!warnedTools.has(text)) warn(text)
    warnedTools.add(text)
    return false
  }
  return ({ toServer, toClient }) => ({
    toServer,
    toClient(json) {
      const value = json.includes(marker) ? parseJson(json) : undefined
      const result = classifyMessage(value) === 'response' ? asObject(asObject(value).result) : {}
      const tools = Array.isArray(result.tools) && result.resultType !== undefined ? result.tools : []
      const validTools = tools.filter(isValid)
      const isUnchanged = validTools.length === tools.length
      toClient(isUnchanged ? json : toLine({ ...asObject(value), result: { ...result, tools: validTools } }))
    },
  })
}
