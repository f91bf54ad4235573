/** Commands as tools and scripts make them, undo and redo, and messages to whoever looks at the plot. */
import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import { commandNames } from '../domain/command.ts'
import type { DebriefSession } from '../session.ts'
import type { Debrief } from '../store.ts'
import { applied } from './applying.ts'
import { changed, count } from './changing.ts'
import { changeArguments, changes, filenameArgument, opened, original, stampOutput } from './shape.ts'

const scopeArguments = {
  steps: z.int().min(1).max(100).default(1).describe('how many'),
  scope: z.enum(['features', 'all']).default('features').describe('all: selection, time and view too'),
  ...changeArguments,
}

/** Declares apply_command, undo, redo and notify. */
export function commandTools(app: Registrar<Debrief, DebriefSession>): void {
  app.tool('apply_command', {
    about: `Apply a DebriefCommand, as analysis tools return it: all of it or nothing. Commands: ${commandNames.join(', ')}.`,
    limit: 'update',
    aliases: original('apply_command'),
    input: {
      command: z.unknown().describe('{command, payload}; a list of them; or {result: …} around them'),
      ignore_missing: z.boolean().default(false).describe('pass over unknown ids'),
      ...changeArguments,
    },
    output: { ...stampOutput, success: z.boolean(), results: z.array(z.unknown()) },
    example: { before: opened, args: { command: { command: 'showText', payload: 'Hello' } } },
    run: ({ command, ignore_missing, ...args }, ctx) =>
      changed(args, ctx, { kind: 'commands', commands: command, ignoreMissing: ignore_missing }, applied),
  })

  app.tool('undo', {
    about: 'Take back the latest changes of a plot, by whomever.',
    aliases: original('undo'),
    input: scopeArguments,
    output: stampOutput,
    example: {
      before: [...opened, { tool: 'set_viewport', args: { viewportState: { bounds: [-6, 35, -4, 37] } } }],
      args: { scope: 'all' },
    },
    run: ({ steps, scope, ...args }, ctx) =>
      changed(args, ctx, { kind: 'undo', steps, scope }, (made) => ({
        steps: made.steps,
        undone: made.label.replace(/^undo /, ''),
        said: `Undone: ${count(made.steps, 'change')} (${made.label.replace(/^undo /, '')}).`,
      })),
  })

  app.tool('redo', {
    about: 'Do again what undo took back.',
    aliases: original('redo'),
    input: scopeArguments,
    output: stampOutput,
    example: {
      before: [
        ...opened,
        { tool: 'set_viewport', args: { viewportState: { bounds: [-6, 35, -4, 37] } } },
        { tool: 'undo', args: { scope: 'all' } },
      ],
      args: { scope: 'all' },
    },
    run: ({ steps, scope, ...args }, ctx) =>
      changed(args, ctx, { kind: 'redo', steps, scope }, (made) => ({
        steps: made.steps,
        redone: made.label.replace(/^redo /, ''),
        said: `Done again: ${count(made.steps, 'change')} (${made.label.replace(/^redo /, '')}).`,
      })),
  })

  app.tool('notify', {
    about: 'Show a message to everyone who looks at the plot.',
    hints: changes,
    aliases: original('notify'),
    input: {
      message: z.string().min(1).max(4000).describe('text'),
      level: z.enum(['info', 'warning', 'error']).default('info').describe('how grave'),
      ...filenameArgument,
    },
    output: stampOutput,
    example: { before: opened, args: { message: 'Look at the Strait.' } },
    run: ({ message, level, ...args }, ctx) => {
      const payload = { message, level: level === 'warning' ? 'warn' : level }
      const commands = { command: 'logMessage', payload }
      return changed(args, ctx, { kind: 'commands', commands }, () => ({
        message,
        said: 'The message is shown.',
      }))
    },
  })
}
