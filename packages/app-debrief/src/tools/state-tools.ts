/** Selection, time and view: what is seen beside the features. */
import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import { type DebriefSession, openPlotOf } from '../session.ts'
import type { Debrief } from '../store.ts'
import { changed, count } from './changing.ts'
import {
  changeArguments,
  filenameArgument,
  idsArgument,
  opened,
  original,
  reads,
  sets,
  stampOutput,
  timeArgument,
  viewportArgument,
} from './shape.ts'

/** Names of selected features that an answer gives. */
const mostNamed = 20

/** Declares get and set of selection, time and viewport, and zoom_to_selection. */
export function stateTools(app: Registrar<Debrief, DebriefSession>): void {
  app.tool('get_selection', {
    about: 'Ids of the selected features. Nothing selected is no error.',
    hints: reads,
    aliases: original('get_selection'),
    input: filenameArgument,
    output: { ...stampOutput, selectedIds: z.array(z.string()), count: z.int() },
    example: { before: opened, args: {} },
    async run({ filename }, ctx) {
      const plot = await openPlotOf(ctx, filename)
      const { data, stamp } = await plot.read({ kind: 'state' })
      const { selection } = data
      ctx.note({ filename: stamp.filename, selectedCount: selection.length })
      const named = await plot.read({
        kind: 'rows',
        filter: { ids: selection },
        part: { from: 0, limit: mostNamed },
      })
      const names = named.data.items.map(({ id, name }) => (name === null ? `"${id}"` : `"${id}" (${name})`))
      return {
        ...stamp,
        selectedIds: selection,
        count: selection.length,
        summary: selection.length === 0 ? 'Nothing is selected.' : `Selected features: ${names.join(', ')}.`,
      }
    },
  })

  app.tool('set_selection', {
    about: 'Select features; an empty list selects none.',
    hints: sets,
    aliases: original('set_selection'),
    input: { selectedIds: idsArgument('ids'), ...changeArguments },
    output: { ...stampOutput, selectedIds: z.array(z.string()) },
    example: { before: opened, args: { selectedIds: ['track-a'] } },
    run: ({ selectedIds, ...args }, ctx) =>
      changed(args, ctx, command('setSelection', { selectedIds }), ({ selection }) => ({
        selectedIds: selection,
        said: `${count(selection.length)} selected.`,
      })),
  })

  app.tool('get_time', {
    about: 'The time slider: current, start, end; null for a plot without times.',
    hints: reads,
    aliases: original('get_time'),
    input: filenameArgument,
    output: { ...stampOutput, timeState: z.unknown() },
    example: { before: opened, args: {} },
    async run({ filename }, ctx) {
      const plot = await openPlotOf(ctx, filename)
      const { data, stamp } = await plot.read({ kind: 'state' })
      const { time, timeFrom } = data
      const summary =
        time === null ? 'The plot has no times.' : `Time ${time.current}, from ${time.start} to ${time.end}.`
      return { ...stamp, timeState: time, from: timeFrom, summary }
    },
  })

  app.tool('set_time', {
    about: 'Move the time slider; a current time outside start and end is refused.',
    hints: sets,
    aliases: original('set_time'),
    input: { timeState: timeArgument(), ...changeArguments },
    output: stampOutput,
    example: {
      before: opened,
      args: {
        timeState: {
          current: '2024-11-14T22:00:00Z',
          start: '2024-11-14T16:00:00Z',
          end: '2024-11-15T10:00:00Z',
        },
      },
    },
    run: ({ timeState, ...args }, ctx) =>
      changed(args, ctx, command('setTimeState', timeState), ({ results }) => ({
        said: `The ${results[0]?.message ?? 'time is set'}.`,
      })),
  })

  app.tool('get_viewport', {
    about: 'The part of the world that is shown.',
    hints: reads,
    aliases: original('get_viewport'),
    input: filenameArgument,
    output: { ...stampOutput, viewportState: z.unknown() },
    example: { before: opened, args: {} },
    async run({ filename }, ctx) {
      const plot = await openPlotOf(ctx, filename)
      const { data, stamp } = await plot.read({ kind: 'state' })
      const { viewport, viewportFrom } = data
      const summary = viewport === null ? 'Nothing has a place.' : `Shown: ${viewport.bounds.join(', ')}.`
      return { ...stamp, viewportState: viewport, from: viewportFrom, summary }
    },
  })

  app.tool('set_viewport', {
    about: 'Show another part of the world. West beyond east lies over the antimeridian.',
    hints: sets,
    aliases: original('set_viewport'),
    input: { viewportState: viewportArgument(), ...changeArguments },
    output: stampOutput,
    example: { before: opened, args: { viewportState: { bounds: [-6, 35, -4, 37] } } },
    run: ({ viewportState, ...args }, ctx) =>
      changed(args, ctx, command('setViewport', viewportState), () => ({ said: 'The viewport is set.' })),
  })

  app.tool('zoom_to_selection', {
    about: 'Show the selected features, with a margin of a tenth.',
    hints: sets,
    aliases: original('zoom_to_selection'),
    input: changeArguments,
    output: { ...stampOutput, viewportState: z.unknown() },
    example: {
      before: [...opened, { tool: 'set_selection', args: { selectedIds: ['track-a'] } }],
      args: {},
    },
    async run(args, ctx) {
      const plot = await openPlotOf(ctx, args.filename)
      const { data: state } = await plot.read({ kind: 'state' })
      if (state.selection.length === 0) throw new CausewayError('NOTHING_SELECTED', 'nothing is selected')
      const { data: bounds } = await plot.read({ kind: 'bounds', padding: 0.1 })
      if (bounds === null) throw new CausewayError('NO_PLACE', 'no selected feature has a place')
      const viewportState = { bounds }
      return changed(args, ctx, command('setViewport', viewportState), () => ({
        viewportState,
        said: `Shown: ${count(state.selection.length)}.`,
      }))
    },
  })
}

const command = (name: string, payload: unknown) => ({
  kind: 'commands' as const,
  commands: { command: name, payload },
})
