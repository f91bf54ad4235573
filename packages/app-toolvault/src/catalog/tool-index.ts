import { readFileSync } from 'node:fs'
import { inputSchema } from '@causeway/app-kit'
import { commandNames } from '@causeway/plot'
import { catalog } from './catalog.ts'
import { readSamples } from './samples.ts'
import { categories, type VaultTool } from './vault-tool.ts'

const outputSchema = {
  type: 'object',
  properties: { command: { type: 'string', enum: commandNames }, payload: {} },
  required: ['command', 'payload'],
}

/** Sorts categories and tools by name, as in the original ToolVault. */
export function createIndex() {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const sorted = Object.entries(categories).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return {
    root: sorted.map(([name, description]) => ({
      type: 'category',
      name,
      description,
      children: catalog
        .filter(({ category }) => category === name)
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map(describeTool),
    })),
    version: '1.0.0',
    description: 'ToolVault: analysis tools for the features of a plot. Each returns one DebriefCommand.',
    packageInfo: { version: (manifest as { version: string }).version },
  }
}

export const describeTool = (tool: VaultTool) => ({
  type: 'tool',
  name: tool.name,
  description: tool.about.split(/(?<=\.)\s/)[0] ?? tool.about,
  about: tool.about,
  inputSchema: inputSchema(tool.name, tool.input),
  outputSchema,
  tool_url: `/api/tools/${tool.name}`,
  module_path: `tools/${tool.category === 'import' ? 'import/' : ''}${tool.name.replaceAll('_', '-')}.ts`,
  function_name: tool.name,
  ...describeInputs(tool),
})

export const describeInputs = (tool: VaultTool) => ({ inject: tool.inject, reads_file: 'read' in tool })

export function describeToolFiles(tool: VaultTool) {
  const samples = readSamples(tool)
  return {
    tool_name: tool.name,
    ...describeTool(tool),
    files: {
      inputs: samples.map(({ name }) => ({
        name,
        path: `/api/tools/${tool.name}/samples/${name}.json`,
      })),
    },
    stats: { sample_inputs_count: samples.length },
  }
}
