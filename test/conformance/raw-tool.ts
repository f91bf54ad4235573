import type { AppTool, Ask, ToolContext } from '@causeway/app-kit'
import type { CallToolResult, Content, JsonSchema } from '@causeway/protocol'

/** What a tool of the suite does: content, a whole result, or questions. */
export type RawRun = (
  args: Readonly<Record<string, unknown>>,
  ctx: ToolContext,
) => Promise<readonly Content[] | CallToolResult | Ask> | readonly Content[] | CallToolResult | Ask

const noArguments: JsonSchema = { type: 'object', properties: {} }

/** A tool under the suite's own name and with its very schema; nothing of it is converted or checked. */
export function rawTool(
  listed: string,
  run: RawRun,
  inputSchema: JsonSchema = noArguments,
  task?: AppTool['task'],
): AppTool {
  return {
    // The suite's names are too long to stand behind an app's name, so they are aliases of shorter ones.
    name: listed.replace(/^test_/, '').replace('input_required_result', 'input'),
    aliases: { bare: [listed], full: [], args: {} },
    about: `${listed}, as the conformance suite describes it.`,
    annotations: { readOnlyHint: true, openWorldHint: false },
    example: { args: {} },
    inputSchema,
    ...(task === undefined ? {} : { task }),
    async call(args, ctx) {
      const given = await run((args ?? {}) as Record<string, unknown>, ctx)
      return Array.isArray(given) ? { content: given } : (given as CallToolResult | Ask)
    },
  }
}

/** One block of text. */
export const text = (words: string): Content[] => [{ type: 'text', text: words }]
