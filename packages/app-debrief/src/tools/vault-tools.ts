import type { Registrar } from '@causeway/app-kit'
import { formatCount } from '@causeway/plot'
import { z } from 'zod'
import { findVaultTool, listVaultTools, runVaultTool } from '../analysis/vault.ts'
import { DebriefError } from '../errors.ts'
import { type DebriefContext, type DebriefSession, findPlot } from '../session.ts'
import type { Debrief } from '../store.ts'
import {
  createLegacyAliases,
  filenameArgument,
  openExample,
  readOnlyHints,
  statusOutput,
} from './arguments.ts'
import { describeCommands } from './command-result.ts'

/** Maximum number of runs if the plot changes during each run. */
const maxRuns = 3

export function declareVaultTools(app: Registrar<Debrief, DebriefSession>): void {
  app.tool('list_applicable_tools', {
    title: 'List applicable tools',
    about:
      'List the analysis tools of ToolVault that can run on the plot with the current selection. Returns them, and the missing arguments of the others. Use it before run_tool, to choose a tool for what is selected.',
    searchHint: 'what analysis is possible',
    hints: readOnlyHints,
    aliases: createLegacyAliases('list_applicable_tools'),
    input: filenameArgument,
    output: { ...statusOutput, tools: z.array(z.unknown()) },
    example: { before: openExample, args: {} },
    async run({ filename }, ctx) {
      const plot = await findPlot(ctx, filename)
      const vaultTools = await listVaultTools(ctx)
      const injections = Object.fromEntries(vaultTools.map(({ name, inject }) => [name, inject]))
      const { data: missingInputs, status } = await plot.read({ kind: 'missing', tools: injections })
      const applicableTools = vaultTools.filter(
        ({ name }) => Object.keys(missingInputs[name] ?? {}).length === 0,
      )
      const otherTools = vaultTools.filter((tool) => !applicableTools.includes(tool))
      return {
        ...status,
        tools: applicableTools.map(({ name, category, about, inject }) => ({
          name,
          category,
          about,
          from_plot: Object.keys(inject),
        })),
        not_applicable: otherTools.map(({ name }) => ({ name, missing: missingInputs[name] })),
        summary: `${formatCount(applicableTools.length, 'tool')} can run now: ${applicableTools.map(({ name }) => name).join(', ')}.`,
      }
    },
  })

  app.tool('run_tool', {
    title: 'Run analysis tool',
    about:
      'Run an analysis tool of ToolVault on the plot and apply its command in one change. Unless args has them, features come from the selection (select them first), and viewport and time from the plot. Returns the result of the command. Use it to analyse tracks or import a file without sending features.',
    searchHint: 'start analysis on open map',
    aliases: createLegacyAliases('run_tool'),
    input: {
      tool: z.string().describe('Name from list_applicable_tools'),
      args: z.record(z.string(), z.unknown()).default({}).describe('Arguments of the tool'),
      apply: z.boolean().default(true).describe('false: return the command without applying it'),
      ...filenameArgument,
    },
    output: { ...statusOutput, tool: z.string() },
    example: { before: openExample, args: { tool: 'word_count', args: { text: 'all ships' } } },
    run: runTool,
  })
}

interface RunArgs {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
  readonly apply: boolean
  readonly filename?: string | null | undefined
}

async function runTool({ tool: name, args, apply, filename }: RunArgs, ctx: DebriefContext) {
  const plot = await findPlot(ctx, filename)
  const tool = await findVaultTool(ctx, name)
  for (let run = 1; ; run += 1) {
    const { command, rev, injected } = await runVaultTool(ctx, plot, { tool, args })
    if (!apply) {
      const summary = `${tool.name} returned a command; pass it to apply_command.`
      return { ...plot.getStatus(), tool: tool.name, command, from_plot: injected, summary }
    }
    try {
      // The command applies only to the revision that the tool received.
      return await plot.change(ctx, {
        change: { kind: 'commands', commands: command },
        ifRev: rev,
        createResult(prepared, status) {
          ctx.note({
            filename: status.filename,
            rev: status.rev,
            ran: tool.name,
            ids: prepared.ids.slice(0, 20),
          })
          const { summary, ...members } = describeCommands(prepared)
          return { ...status, tool: tool.name, success: true, from_plot: injected, ...members, summary }
        },
      })
    } catch (error) {
      if (run === maxRuns || !DebriefError.is(error, 'REV_MISMATCH')) throw error
    }
  }
}
