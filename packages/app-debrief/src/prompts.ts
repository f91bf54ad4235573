/** Conversations that a person starts with a plot. */
import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import type { DebriefContext, DebriefSession } from './session.ts'
import type { Debrief } from './store.ts'

/** Declares delete_selection and analyse_track. */
export function plotPrompts(app: Registrar<Debrief, DebriefSession>): void {
  app.prompt('delete_selection', {
    about: 'Delete the selected features of a plot, after asking.',
    input: { filename: z.string().optional().describe('open plot') },
    complete: { filename: openPlots },
    messages: ({ filename }) => [
      said(
        `Delete the selected features${filename === undefined ? '' : ` of "${filename}"`}.`,
        '1. Call debrief_get_selection. If the answer is MULTIPLE_PLOTS, ask me which of data.available_plots I mean and pass it as filename from then on. If nothing is selected, say so and stop.',
        '2. If more than one feature is selected, name them and ask me to confirm.',
        '3. Call debrief_run_tool with tool delete_features: it takes the selection from the plot, and applies the command.',
        '4. Tell me what was deleted, and that debrief_undo brings it back.',
      ),
    ],
  })

  app.prompt('analyse_track', {
    about: 'Tell what a track did: where, when, how fast, and whom it met.',
    input: {
      track: z.string().optional().describe('id or name of the track'),
      filename: z.string().optional().describe('open plot'),
    },
    complete: { filename: openPlots },
    messages: ({ track, filename }) => [
      said(
        `Analyse ${track === undefined ? 'the selected track, or else each track,' : `the track "${track}"`}${filename === undefined ? '' : ` of the plot "${filename}"`}.`,
        '1. Call debrief_get_features with data_type track: ids, names, times and boxes. Select the track with debrief_set_selection.',
        '2. Call debrief_list_applicable_tools, then debrief_run_tool for its statistics, its jumps and gaps, and its closest approach to each other track.',
        '3. Call debrief_render_map and look at the picture: does the track agree with the figures?',
        '4. Answer with: when and where it was, its speeds and what stands out in them, gaps and jumps in its data, closest approaches with time, range and bearing, and how sure each figure is. Give units, and times in UTC.',
      ),
    ],
  })
}

const said = (...lines: readonly string[]) => ({
  role: 'user' as const,
  content: { type: 'text' as const, text: lines.join('\n') },
})

const openPlots = async (_typed: string, { store }: DebriefContext): Promise<readonly string[]> =>
  store.list().map(({ filename }) => filename)
