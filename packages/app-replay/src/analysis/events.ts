import type { FrameRange } from '@causeway/recording'
import type { AnalysisContext } from '@causeway/recording/worker'
import { tunnellingLaw } from '../domain/laws/contact/tunnelling-law.ts'
import { StallCollector } from '../domain/steps/solver-stall.ts'
import { Timeline, type TimelineEvent } from '../domain/steps/timeline.ts'
import { forEachStep } from './check-frames.ts'

export async function findEvents(
  { range }: { readonly range: FrameRange },
  context: AnalysisContext,
): Promise<readonly TimelineEvent[]> {
  const timeline = new Timeline()
  const law = tunnellingLaw()
  await forEachStep(range, context, (step) => {
    timeline.observe(step)
    law.observe(step)
  })
  const tunnelling = law.findings().map(
    ({ frames, bodies, value }): TimelineEvent => ({
      frame_id: frames.first,
      kind: 'tunnelling',
      bodies,
      value: Number(value.toPrecision(6)),
      unit: 'm/frame',
    }),
  )
  return [...timeline.events, ...tunnelling].toSorted((a, b) => a.frame_id - b.frame_id)
}

export async function findStalls({ range }: { readonly range: FrameRange }, context: AnalysisContext) {
  const collector = new StallCollector()
  await forEachStep(range, context, (step) => collector.observe(step))
  return collector.result()
}

export type StallsResult = Awaited<ReturnType<typeof findStalls>>
