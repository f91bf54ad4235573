/** Which plot a call speaks of. */
import type { ToolContext } from '@causeway/app-kit'
import type { Plot } from './plot.ts'
import type { Debrief } from './store.ts'

/** State of one client. */
export interface DebriefSession {
  /** the plot that this client made its own; never that of another one */
  plot?: string
}

/** What tools get with each call. */
export type DebriefContext = ToolContext<Debrief, DebriefSession>

/** The open plot of a call: the one it names, else the client's own, else the only one. Throws as `Debrief.find` does. */
export const openPlotOf = (
  { store, session, signal, progress }: Pick<DebriefContext, 'store' | 'session' | 'signal' | 'progress'>,
  filename: string | null | undefined,
): Promise<Plot> => store.find(filename ?? undefined, session.plot, { signal, progress })
