import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import type { DebriefContext, DebriefSession } from '../session.ts'
import type { Debrief } from '../store.ts'

export function declarePrompts(app: Registrar<Debrief, DebriefSession>): void {
  app.prompt('delete_selection', {
    about: 'Delete the selected features of a plot after confirmation.',
    input: { filename: z.string().optional().describe('Name of an open plot') },
    complete: { filename: completeFilename },
    messages: ({ filename }) => [
      createMessage(
        `Delete the selected features${filename === undefined ? '' : ` of "${filename}"`}.`,
        '1. Call debrief_get_selection. If it fails with MULTIPLE_PLOTS, ask me for one of data.available_plots and pass it as filename to all calls. If nothing is selected, report that and stop.',
        '2. If more than one feature is selected, list them and ask me to confirm.',
        '3. Call debrief_run_tool with tool delete_features. It uses the selection of the plot and applies the command.',
        '4. Report what was deleted, and that debrief_undo restores it.',
      ),
    ],
  })

  app.prompt('analyse_track', {
    about: 'Describe what a track did: where, when, how fast, and which vessels it met.',
    input: {
      track: z.string().optional().describe('Id or name of the track'),
      filename: z.string().optional().describe('Name of an open plot'),
    },
    complete: { filename: completeFilename },
    messages: ({ track, filename }) => [
      createMessage(
        `Analyse ${track === undefined ? 'the selected track, or else each track,' : `the track "${track}"`}${filename === undefined ? '' : ` of the plot "${filename}"`}.`,
        '1. Call debrief_get_features with data_type track for ids, names, times and bounds. Select the track with debrief_set_selection.',
        '2. Call debrief_list_applicable_tools, then debrief_run_tool for its statistics, its jumps and gaps, and its closest approach to every other track.',
        '3. Call debrief_render_map and check that the track in the picture matches the figures.',
        '4. Report when and where it was, its speeds and anything unusual in them, gaps and jumps in its data, closest approaches with time, range and bearing, and how reliable each figure is. Give units, and times in UTC.',
      ),
    ],
  })
}

const createMessage = (...lines: readonly string[]) => ({
  role: 'user' as const,
  content: { type: 'text' as const, text: lines.join('\n') },
})

const completeFilename = async (_typed: string, { store }: DebriefContext): Promise<readonly string[]> =>
  store.list().map(({ filename }) => filename)
