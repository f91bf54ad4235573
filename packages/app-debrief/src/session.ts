import type { ToolContext } from '@causeway/app-kit'
import type { Plot } from './plot/plot.ts'
import type { Debrief } from './store.ts'

export interface DebriefSession {
  plot?: string
}

export type DebriefContext = ToolContext<Debrief, DebriefSession>

/** Throws the errors of `Debrief.find`. */
export const findPlot = (
  { store, session, signal, progress }: Pick<DebriefContext, 'store' | 'session' | 'signal' | 'progress'>,
  filename: string | null | undefined,
): Promise<Plot> => store.find(filename ?? undefined, session.plot, { signal, progress })
