/** The index of the vault as JSON: categories and tools as a tree, and what each tool wants of a plot. */
import { inputSchema } from '@causeway/app-kit'
import { commandNames } from './domain/command.ts'
import { shelf } from './shelf.ts'
import { type AnyVaultTool, categories } from './vault-tool.ts'

/** The schema of every answer. */
const outputSchema = {
  type: 'object',
  properties: { command: { type: 'string', enum: commandNames }, payload: {} },
  required: ['command', 'payload'],
}

/** The tree of the original: a root, categories that have tools, and tools; both sorted by name. */
export function toolIndex(version: string) {
  const named = Object.entries(categories).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return {
    root: named.flatMap(([name, description]) => {
      const tools = shelf
        .filter(({ category }) => category === name)
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      return tools.length === 0
        ? []
        : [{ type: 'category', name, description, children: tools.map(toolNode) }]
    }),
    version: '1.0.0',
    description: 'ToolVault: analysis tools over the features of a plot; each answers one DebriefCommand.',
    packageInfo: { version },
  }
}

/** A leaf of the tree. */
export const toolNode = (tool: AnyVaultTool) => ({
  type: 'tool',
  name: tool.name,
  description: firstSentence(tool.about),
  about: tool.about,
  inputSchema: inputSchema(tool.name, tool.input),
  outputSchema,
  tool_url: `/api/tools/${tool.name}`,
  module_path: `tools/${tool.category}/${tool.name}/tool.ts`,
  function_name: tool.name,
  ...wants(tool),
})

/**
 * What a plot has to give: `inject` says where each argument comes from when the caller leaves it out, `reads_file` that
 * the tool reads a file and needs nothing of the plot.
 */
export const wants = (tool: AnyVaultTool) => ({ inject: tool.inject, reads_file: 'read' in tool })

/** The index of one tool. */
export const toolDetail = (tool: AnyVaultTool) => ({
  tool_name: tool.name,
  ...toolNode(tool),
  files: {
    inputs: tool.samples.map(({ name }) => ({
      name,
      path: `/api/tools/${tool.name}/samples/${name}.json`,
    })),
  },
  stats: { sample_inputs_count: tool.samples.length },
})

const firstSentence = (text: string): string => text.split(/(?<=\.)\s/)[0] ?? text
