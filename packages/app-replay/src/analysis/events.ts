/** What happens over a range of frames, and where the solver gave up, in the worker that holds the recording. */
import type { FrameRange } from '@causeway/recording'
import type { AnalysisContext } from '@causeway/recording/worker'
import { tunnellingLaw } from '../domain/laws/tunnelling-law.ts'
import { collectStalls } from '../domain/solver-stall.ts'
import { type TimelineEvent, timeline } from '../domain/timeline.ts'
import { eachStep } from './sweep.ts'

/** Events of a range; what passed through something is among them. */
export async function events({ range }: { readonly range: FrameRange }, context: AnalysisContext) {
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
      value: Number(value.toPrecision(6)),
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
export async function stalls({ range }: { readonly range: FrameRange }, context: AnalysisContext) {
  const collector = collectStalls()
  await eachStep(range, context, collector.see)
  return collector.stalls()
}

/** What `events` answers. */
export type EventsResult = Awaited<ReturnType<typeof events>>

/** What `stalls` answers. */
export type StallsResult = Awaited<ReturnType<typeof stalls>>
