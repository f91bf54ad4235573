import type { Registrar } from '@causeway/app-kit'
import { formatCount } from '@causeway/plot'
import { z } from 'zod'
import { DebriefError } from '../errors.ts'
import { type DebriefSession, findPlot } from '../session.ts'
import type { Debrief } from '../store.ts'
import {
  changeArguments,
  createIdsArgument,
  createLegacyAliases,
  filenameArgument,
  idempotentHints,
  openExample,
  readOnlyHints,
  statusOutput,
  viewportExample,
} from './arguments.ts'
import { changePlot, createCommandChange } from './change-tool.ts'

const maxListedNames = 20

export function declareStateTools(app: Registrar<Debrief, DebriefSession>): void {
  declareSelectionTools(app)
  declareTimeTools(app)
  declareViewportTools(app)
}

function declareSelectionTools(app: Registrar<Debrief, DebriefSession>): void {
  app.tool('get_selection', {
    title: 'Get selection',
    about:
      'Get the ids of the selected features. Returns an empty list if nothing is selected. Use it when the user refers to the selection.',
    searchHint: 'what did analyst select',
    hints: readOnlyHints,
    widget: 'map',
    aliases: createLegacyAliases('get_selection'),
    input: filenameArgument,
    output: { ...statusOutput, selectedIds: z.array(z.string()), count: z.int() },
    example: { before: openExample, args: {} },
    async run({ filename }, ctx) {
      const plot = await findPlot(ctx, filename)
      const { data, status } = await plot.read({ kind: 'state' })
      const { selection } = data
      ctx.note({ filename: status.filename, selectedCount: selection.length })
      const rows = await plot.read({
        kind: 'rows',
        filter: { ids: selection },
        page: { from: 0, limit: maxListedNames },
      })
      const names = rows.data.items.map(({ id, name }) => (name === null ? `"${id}"` : `"${id}" (${name})`))
      return {
        ...status,
        selectedIds: selection,
        count: selection.length,
        summary: selection.length === 0 ? 'Nothing is selected.' : `Selected features: ${names.join(', ')}.`,
      }
    },
  })

  app.tool('set_selection', {
    title: 'Set selection',
    about:
      'Select features; an empty list clears the selection. Returns the selected ids. Use it before tools that work on the selection.',
    searchHint: 'pick, highlight track on map',
    hints: idempotentHints,
    aliases: createLegacyAliases('set_selection'),
    input: { selectedIds: createIdsArgument('Ids of the features'), ...changeArguments },
    output: { ...statusOutput, selectedIds: z.array(z.string()) },
    example: { before: openExample, args: { selectedIds: ['track-a'] } },
    run: ({ selectedIds, ...args }, ctx) =>
      changePlot(args, ctx, createCommandChange('setSelection', { selectedIds }), ({ selection }) => ({
        selectedIds: selection,
        summary: `${formatCount(selection.length, 'feature')} selected.`,
      })),
  })
}

function declareTimeTools(app: Registrar<Debrief, DebriefSession>): void {
  app.tool('get_time', {
    title: 'Get time',
    about:
      'Get the time slider of a plot. Returns current, start and end, or null if the plot has no times. Use it to find the time range of the data.',
    searchHint: 'current time, clock of slider',
    hints: readOnlyHints,
    aliases: createLegacyAliases('get_time'),
    input: filenameArgument,
    output: { ...statusOutput, timeState: z.unknown() },
    example: { before: openExample, args: {} },
    async run({ filename }, ctx) {
      const plot = await findPlot(ctx, filename)
      const { data, status } = await plot.read({ kind: 'state' })
      const { time, timeFrom } = data
      const summary =
        time === null ? 'The plot has no times.' : `Time ${time.current}, from ${time.start} to ${time.end}.`
      return { ...status, timeState: time, from: timeFrom, summary }
    },
  })

  app.tool('set_time', {
    title: 'Set time',
    about:
      'Set the time slider of a plot. Fails if the current time is outside start and end. Use it to show the situation at another time.',
    searchHint: 'jump to time, move slider',
    hints: idempotentHints,
    aliases: createLegacyAliases('set_time'),
    input: {
      timeState: z
        .record(z.string(), z.unknown())
        .describe('{current, start, end}: ISO 8601, UTC without offset, start <= current <= end'),
      ...changeArguments,
    },
    output: statusOutput,
    example: {
      before: openExample,
      args: {
        timeState: {
          current: '2024-11-14T22:00:00Z',
          start: '2024-11-14T16:00:00Z',
          end: '2024-11-15T10:00:00Z',
        },
      },
    },
    run: ({ timeState, ...args }, ctx) =>
      changePlot(args, ctx, createCommandChange('setTimeState', timeState), ({ results }) => ({
        summary: `The ${results[0]?.message ?? 'time is set'}.`,
      })),
  })
}

function declareViewportTools(app: Registrar<Debrief, DebriefSession>): void {
  app.tool('get_viewport', {
    title: 'Get viewport',
    about:
      'Get the visible area of a plot. Returns [west, south, east, north] in degrees. Use it when the user refers to what is visible.',
    searchHint: 'which part of sea is visible, where is map',
    hints: readOnlyHints,
    aliases: createLegacyAliases('get_viewport'),
    input: filenameArgument,
    output: { ...statusOutput, viewportState: z.unknown() },
    example: { before: openExample, args: {} },
    async run({ filename }, ctx) {
      const plot = await findPlot(ctx, filename)
      const { data, status } = await plot.read({ kind: 'state' })
      const { viewport, viewportFrom } = data
      const summary =
        viewport === null ? 'The plot has no positions.' : `The viewport is ${viewport.bounds.join(', ')}.`
      return { ...status, viewportState: viewport, from: viewportFrom, summary }
    },
  })

  app.tool('set_viewport', {
    title: 'Set viewport',
    about:
      'Set the visible area of a plot. West may exceed east across the antimeridian. Use it to show another area.',
    searchHint: 'move, pan, zoom map to area',
    hints: idempotentHints,
    aliases: createLegacyAliases('set_viewport'),
    input: {
      viewportState: z
        .record(z.string(), z.unknown())
        .describe('{bounds: [west, south, east, north]} in degrees'),
      ...changeArguments,
    },
    output: statusOutput,
    example: { before: openExample, args: viewportExample.args },
    run: ({ viewportState, ...args }, ctx) =>
      changePlot(args, ctx, createCommandChange('setViewport', viewportState), () => ({
        summary: 'The viewport is set.',
      })),
  })

  app.tool('zoom_to_selection', {
    title: 'Zoom to selection',
    about:
      'Fit the viewport to the selected features, with a margin of a tenth. Returns the viewport. Use it after set_selection.',
    searchHint: 'zoom in on what is selected',
    hints: idempotentHints,
    aliases: createLegacyAliases('zoom_to_selection'),
    input: changeArguments,
    output: { ...statusOutput, viewportState: z.unknown() },
    example: {
      before: [...openExample, { tool: 'set_selection', args: { selectedIds: ['track-a'] } }],
      args: {},
    },
    async run(args, ctx) {
      const plot = await findPlot(ctx, args.filename)
      const { data: state } = await plot.read({ kind: 'state' })
      if (state.selection.length === 0) throw new DebriefError('NOTHING_SELECTED', 'nothing is selected')
      const { data: bounds } = await plot.read({ kind: 'bounds', padding: 0.1 })
      if (bounds === null) throw new DebriefError('NO_PLACE', 'no selected feature has a geometry')
      const viewportState = { bounds }
      return changePlot(args, ctx, createCommandChange('setViewport', viewportState), () => ({
        viewportState,
        summary: `The viewport shows ${formatCount(state.selection.length, 'feature')}.`,
      }))
    },
  })
}
