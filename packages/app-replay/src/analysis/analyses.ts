/** The analyses that run in the worker of a recording, by name. */
import type { Analyses } from '@causeway/recording/worker'
import { search, series } from './series.ts'
import { sweep } from './sweep.ts'

/** Every analysis; `Recording.analyse` calls them by these names. */
export const analyses = { search, series, sweep } satisfies Analyses
