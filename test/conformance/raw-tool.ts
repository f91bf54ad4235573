import type { AppTool, Ask, ToolContext } from '@causeway/app-kit'
import type { CallToolResult, Content, JsonSchema } from '@causeway/protocol'

/** The handler of a tool of the suite. Returns content, a complete result, or requests to the client. */
export type RawRun = (
  args: Readonly<Record<string, unknown>>,
  ctx: ToolContext,
) => Promise<readonly Content[] | CallToolResult | Ask> | readonly Content[] | CallToolResult | Ask

const noArguments: JsonSchema = { type: 'object', properties: {} }

/** Creates a tool with the name and schema of the suite. Its arguments and results are not converted or validated. */
export function rawTool(
  listed: string,
  run: RawRun,
  inputSchema: JsonSchema = noArguments,
  task?: AppTool['task'],
): AppTool {
  return {
    // With the app's prefix the suite's names would be too long, so they are aliases of shorter names.
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

/** Content with one text block. */
export const text = (words: string): Content[] => [{ type: 'text', text: words }]
