import { kindOf } from '@causeway/protocol'
import { paramHeaderFault } from './param-headers.ts'
import { parsed } from './parsed.ts'
import type { Stage } from './stage.ts'

/** Only a list that holds it is read. */
const mark = '"x-mcp-header"'

/**
 * Leaves out of `tools/list` the tools whose `x-mcp-header` cannot be obeyed, as MCP 2026-07-28 asks of every client
 * over HTTP, and says so once for each. Lists of older revisions, which do not know the annotation, pass unread.
 */
export function soundTools(warn: (text: string) => void): Stage {
  const told = new Set<string>()
  const isSound = (tool: unknown): boolean => {
    const { name, inputSchema } = (tool ?? {}) as { name?: unknown; inputSchema?: unknown }
    const fault = paramHeaderFault(inputSchema)
    if (fault === undefined) return true
    const text = `the tool ${String(name)} is left out: ${fault}`
    if (!told.has(text)) warn(text)
    told.add(text)
    return false
  }
  return ({ toServer, toClient }) => ({
    toServer,
    toClient(json) {
      const value = json.includes(mark) ? parsed(json) : undefined
      const { tools, resultType } = toolsIn(value)
      const sound = Array.isArray(tools) && resultType !== undefined ? tools.filter(isSound) : undefined
      if (sound === undefined || sound.length === (tools as unknown[]).length) return toClient(json)
      const answer = value as { readonly result: object }
      toClient(Buffer.from(JSON.stringify({ ...answer, result: { ...answer.result, tools: sound } })))
    },
  })
}

function toolsIn(value: unknown): { readonly tools?: unknown; readonly resultType?: unknown } {
  if (kindOf(value) !== 'response') return {}
  return (value as { result?: { tools?: unknown; resultType?: unknown } }).result ?? {}
}
