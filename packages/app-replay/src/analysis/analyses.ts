/** The analyses that run in the worker of a recording, by name. */
import type { FrameRange } from '@causeway/recording'
import type { Analyses, AnalysisContext } from '@causeway/recording/worker'
import { tunnellingLaw } from '../domain/laws/tunnelling-law.ts'
import { collectStalls } from '../domain/solver-stall.ts'
import { type TimelineEvent, timeline } from '../domain/timeline.ts'
import { eachStep, sweep } from './sweep.ts'

/** Events of a range; what passed through something is among them. */
async function events({ range }: { readonly range: FrameRange }, context: AnalysisContext) {
  const [line, law] = [timeline(), tunnellingLaw()]
  await eachStep(range, context, (step) => {
    line.see(step)
    law.see(step)
  })
  const passed = law.findings().map(
    ({ frames, bodies, value }): TimelineEvent => ({
      frame_id: frames.first,
      kind: 'tunnelling',
      bodies,
      value,
      unit: 'm/frame',
    }),
  )
  const { events, count } = line.events()
  return {
    events: [...events, ...passed].toSorted((a, b) => a.frame_id - b.frame_id),
    count: count + passed.length,
  }
}

/** Stalls of the solver in a range. */
async function stalls({ range }: { readonly range: FrameRange }, context: AnalysisContext) {
  const collector = collectStalls()
  await eachStep(range, context, collector.see)
  return collector.stalls()
}

/** Every analysis; `Recording.analyse` calls them by these names. */
export const analyses = { sweep, events, stalls } satisfies Analyses

/** What the analyses answer, beside the sweep. */
export type EventsResult = Awaited<ReturnType<typeof events>>
export type StallsResult = Awaited<ReturnType<typeof stalls>>
import type { Analyses } from '@causeway/recording/worker'
import { search, series } from './series.ts'
import { sweep } from './sweep.ts'

/** Every analysis; `Recording.analyse` calls them by these names. */
export const analyses = { search, series, sweep } satisfies Analyses
