import type { Registrar } from '@causeway/app-kit'
import { formatCount } from '@causeway/plot'
import { z } from 'zod'
import { allCommandNames } from '../domain/commands/command.ts'
import type { DebriefSession } from '../session.ts'
import type { Debrief } from '../store.ts'
import {
  changeArguments,
  createLegacyAliases,
  filenameArgument,
  openExample,
  statusOutput,
  undoableHints,
  viewportExample,
} from './arguments.ts'
import { changePlot, createCommandChange } from './change-tool.ts'
import { describeCommands } from './command-result.ts'

const stepArguments = {
  steps: z.int().min(1).max(100).default(1).describe('Number of changes'),
  scope: z
    .enum(['features', 'all'])
    .default('features')
    .describe('all: including selection, time and viewport'),
  ...changeArguments,
}

type App = Registrar<Debrief, DebriefSession>

export function declareCommandTools(app: App): void {
  declareApply(app)
  declareHistory(app)
  declareNotify(app)
}

function declareApply(app: App): void {
  app.tool('apply_command', {
    title: 'Apply command',
    about: `Apply a DebriefCommand to a plot completely or not at all. Returns the result of each command. Use it for commands that a direct call of ToolVault returned; run_tool applies them itself. Commands: ${allCommandNames.join(', ')}.`,
    searchHint: 'execute result of analysis tool',
    limit: 'update',
    widget: 'map',
    aliases: createLegacyAliases('apply_command'),
    input: {
      command: z.unknown().describe('{command, payload}, a list of them, or {result: …} around them'),
      ignore_missing: z.boolean().default(false).describe('Ignore unknown ids'),
      ...changeArguments,
    },
    output: { ...statusOutput, success: z.boolean(), results: z.array(z.unknown()) },
    example: { before: openExample, args: { command: { command: 'showText', payload: 'Hello' } } },
    run: ({ command, ignore_missing, ...args }, ctx) =>
      changePlot(
        args,
        ctx,
        { kind: 'commands', commands: command, ignoreMissing: ignore_missing },
        describeCommands,
      ),
  })
}

function declareHistory(app: App): void {
  app.tool('undo', {
    title: 'Undo',
    about:
      'Undo the latest changes of a plot, regardless of the author. Returns their labels. Use it to revert a mistake; redo reverts the undo.',
    searchHint: 'take back last edit',
    aliases: createLegacyAliases('undo'),
    input: stepArguments,
    output: statusOutput,
    example: { before: [...openExample, viewportExample], args: { scope: 'all' } },
    run: ({ steps, scope, ...args }, ctx) =>
      changePlot(args, ctx, { kind: 'undo', steps, scope }, ({ steps, label }) => {
        const undone = label.replace(/^undo /, '')
        return { steps, undone, summary: `Undone: ${formatCount(steps, 'change')} (${undone}).` }
      }),
  })

  app.tool('redo', {
    title: 'Redo',
    about:
      'Redo changes that were undone. Returns their labels. Use it after undo, before any other change of the features.',
    searchHint: 'reapply what was taken back',
    aliases: createLegacyAliases('redo'),
    input: stepArguments,
    output: statusOutput,
    example: {
      before: [...openExample, viewportExample, { tool: 'undo', args: { scope: 'all' } }],
      args: { scope: 'all' },
    },
    run: ({ steps, scope, ...args }, ctx) =>
      changePlot(args, ctx, { kind: 'redo', steps, scope }, ({ steps, label }) => {
        const redone = label.replace(/^redo /, '')
        return { steps, redone, summary: `Redone: ${formatCount(steps, 'change')} (${redone}).` }
      }),
  })
}

function declareNotify(app: App): void {
  app.tool('notify', {
    title: 'Show message',
    about:
      'Show a message to everyone who views the plot. Returns the message. Use it to draw the attention of an analyst.',
    searchHint: 'message for analyst',
    hints: undoableHints,
    aliases: createLegacyAliases('notify'),
    input: {
      message: z.string().min(1).max(4000).describe('Text'),
      level: z.enum(['info', 'warning', 'error']).default('info').describe('Severity'),
      ...filenameArgument,
    },
    output: statusOutput,
    example: { before: openExample, args: { message: 'Look at the Strait.' } },
    run({ message, level, ...args }, ctx) {
      const payload = { message, level: level === 'warning' ? 'warn' : level }
      return changePlot(args, ctx, createCommandChange('logMessage', payload), () => ({
        message,
        summary: 'The message is shown.',
      }))
    },
  })
}
