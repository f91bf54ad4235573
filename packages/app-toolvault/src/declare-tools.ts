/** The tools of the vault as tools of the app, and the one that lists what they want of a plot. */
import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import { counted } from './domain/counted.ts'
import { shelf } from './shelf.ts'
import type { Vault } from './store.ts'
import { wants } from './tool-index.ts'
import { type Category, categories } from './vault-tool.ts'

/** Every tool answers a DebriefCommand and nothing beside it, so that the answer can be applied as it is. */
const commandOutput = {
  command: z.string().describe('of DebriefCommand'),
  payload: z.unknown().describe('of the command'),
}

/** Declares every tool on the shelf, and list_tools. */
export function vaultTools(app: Registrar<Vault, object>): void {
  app.tool('list_tools', {
    about:
      'Tools of the vault by category, and what each wants of a plot (inject): kinds and number of selected features, viewport, time.',
    hints: { readOnly: true },
    input: {
      category: z
        .enum(Object.keys(categories) as [Category, ...Category[]])
        .optional()
        .describe('only of this category'),
    },
    output: {
      summary: z.string(),
      tools: z.array(z.unknown()).describe('name, category, about, inject, reads_file'),
    },
    example: { args: {} },
    run({ category }) {
      const tools = shelf.filter((tool) => category === undefined || tool.category === category)
      return {
        summary: `${counted(tools.length, 'tool')}. To run one on a plot without passing features, call run_tool of Debrief.`,
        tools: tools.map((tool) => ({
          name: tool.name,
          category: tool.category,
          about: tool.about,
          ...wants(tool),
        })),
      }
    },
  })
  for (const tool of shelf) {
    const { name, about, input, samples } = tool
    app.tool(name, {
      about,
      // It changes nothing: what it answers may, once it is applied.
      hints: { readOnly: true },
      aliases: { bare: aliasesOf(name) },
      input,
      output: commandOutput,
      example: { args: samples[0].input },
      run: (args, { store, ...ctx }) => store.run(tool, args, ctx),
    })
  }
}

/** The name itself stays the listed one. */
function aliasesOf(name: string): string[] {
  const dashed = name.replaceAll('_', '-')
  return [name, ...(dashed === name ? [] : [dashed]), `toolvault_${name}`]
}
