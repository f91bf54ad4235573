import type { Registrar } from '@causeway/app-kit'
import { formatCount } from '@causeway/plot'
import { z } from 'zod'
import type { Vault } from '../store.ts'
import { catalog } from './catalog.ts'
import { readSamples } from './samples.ts'
import { describeInputs } from './tool-index.ts'
import { type Category, categories } from './vault-tool.ts'

const commandOutput = {
  command: z.string().describe('Type of DebriefCommand'),
  payload: z.unknown(),
}

export function declareTools(app: Registrar<Vault, object>): void {
  app.tool('list_tools', {
    title: 'List analysis tools',
    about:
      'List the analysis tools by category, with the arguments that run_tool takes from the plot (`inject`): selected features, viewport or time. Use it to choose a tool for run_tool of Debrief.',
    searchHint: 'which maritime calculations exist',
    hints: { readOnly: true },
    input: {
      category: z
        .enum(Object.keys(categories) as [Category, ...Category[]])
        .optional()
        .describe('Only tools of this category'),
    },
    output: {
      summary: z.string(),
      tools: z.array(z.unknown()).describe('name, category, about, inject, reads_file'),
    },
    isCore: true,
    alwaysLoad: true,
    example: { args: {} },
    run({ category }) {
      const tools = catalog.filter((tool) => category === undefined || tool.category === category)
      return {
        summary: `${formatCount(tools.length, 'tool')}. To run one on a plot without passing features, call run_tool of Debrief.`,
        tools: tools.map((tool) => ({
          name: tool.name,
          category: tool.category,
          about: tool.about,
          ...describeInputs(tool),
        })),
      }
    },
  })
  for (const tool of catalog) {
    const { name, title, about, searchHint, input } = tool
    app.tool(name, {
      title,
      about,
      searchHint,
      // The tool only returns a command and changes nothing.
      hints: { readOnly: true },
      aliases: { bare: listAliases(name) },
      input,
      output: commandOutput,
      example: { args: readSamples(tool)[0].input },
      run: (args, ctx) => ctx.store.run(tool, args, ctx),
    })
  }
}

function listAliases(name: string): string[] {
  const kebabName = name.replaceAll('_', '-')
  return [name, ...(kebabName === name ? [] : [kebabName]), `toolvault_${name}`]
}
