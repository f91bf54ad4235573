/** Analysis on the plot itself. */
import type { Registrar } from '@causeway/app-kit'
import { isCausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { type DebriefContext, type DebriefSession, openPlotOf } from '../session.ts'
import type { Debrief } from '../store.ts'
import { runVaultTool, vaultTool, vaultTools } from '../vault.ts'
import { applied } from './applying.ts'
import { count } from './changing.ts'
import { filenameArgument, opened, original, reads, stampOutput } from './shape.ts'

/** Times that a tool is run anew because the plot changed while it ran. */
const mostRuns = 3

/** Declares list_applicable_tools and run_tool. */
export function analysisTools(app: Registrar<Debrief, DebriefSession>): void {
  app.tool('list_applicable_tools', {
    about: 'Analysis tools that can run on the plot with what is selected now, and what the others miss.',
    hints: reads,
    aliases: original('list_applicable_tools'),
    input: filenameArgument,
    output: { ...stampOutput, tools: z.array(z.unknown()) },
    example: { before: opened, args: {} },
    async run({ filename }, ctx) {
      const plot = await openPlotOf(ctx, filename)
      const all = await vaultTools(ctx)
      const wants = Object.fromEntries(all.map(({ name, inject }) => [name, inject]))
      const { data: missing, stamp } = await plot.read({ kind: 'missing', tools: wants })
      const tools = all.filter(({ name }) => Object.keys(missing[name] ?? {}).length === 0)
      const others = all.filter((tool) => !tools.includes(tool))
      return {
        ...stamp,
        tools: tools.map(({ name, category, about, inject }) => ({
          name,
          category,
          about,
          from_plot: Object.keys(inject),
        })),
        not_applicable: others.map(({ name }) => ({ name, missing: missing[name] })),
        summary: `${count(tools.length, 'tool')} can run now: ${tools.map(({ name }) => name).join(', ')}.`,
      }
    },
  })

  app.tool('run_tool', {
    about:
      'Run an analysis tool of ToolVault on the plot and apply the command that it returns, in one change. Features, track, view and time come from the plot (the selection, where there is one) unless args give them.',
    aliases: original('run_tool'),
    input: {
      tool: z.string().describe('name of list_applicable_tools'),
      args: z.record(z.string(), z.unknown()).default({}).describe('arguments of the tool'),
      apply: z.boolean().default(true).describe('false: only answer the command'),
      ...filenameArgument,
    },
    output: { ...stampOutput, tool: z.string() },
    example: { before: opened, args: { tool: 'word_count', args: { text: 'all ships' } } },
    run: runTool,
  })
}

interface RunArgs {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
  readonly apply: boolean
  readonly filename?: string | null | undefined
}

async function runTool({ tool: name, args: given, apply, filename }: RunArgs, ctx: DebriefContext) {
  const plot = await openPlotOf(ctx, filename)
  const tool = await vaultTool(ctx, name)
  for (let run = 1; ; run += 1) {
    const { command, rev, injected } = await runVaultTool(ctx, plot, { tool, given })
    if (!apply) {
      const summary = `${tool.name} returned a command; apply_command applies it.`
      return { ...plot.stamp(), tool: tool.name, command, from_plot: injected, summary }
    }
    try {
      // The tool saw this revision: what it computed of another one would be wrong.
      return await plot.change(ctx, {
        change: { kind: 'commands', commands: command },
        ifRev: rev,
        answer(made, stamp) {
          const { said, ...told } = applied(made)
          ctx.note({ filename: stamp.filename, rev: stamp.rev, ran: tool.name, ids: made.ids.slice(0, 20) })
          return { ...stamp, tool: tool.name, success: true, from_plot: injected, ...told, summary: said }
        },
      })
    } catch (error) {
      if (run === mostRuns || !isCausewayError(error) || error.code !== 'REV_MISMATCH') throw error
    }
  }
}
