/** The analyses that run in the worker of a recording, by name. */
import type { Analyses } from '@causeway/recording/worker'
import { chunk } from './chunk.ts'
import { events, stalls } from './events.ts'
import { looks } from './looks.ts'
import { search, series } from './series.ts'
import { shownSeries, trajectory } from './shown-series.ts'
import { sweep } from './sweep.ts'

/** Every analysis; `Recording.analyse` calls them by these names. */
export const analyses = {
  chunk,
  looks,
  events,
  search,
  series,
  shownSeries,
  stalls,
  sweep,
  trajectory,
} satisfies Analyses
