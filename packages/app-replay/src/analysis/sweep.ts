/** One pass of laws over the frames of a range, in the worker that holds the recording. */
import type { FrameRange } from '@causeway/recording'
import type { AnalysisContext } from '@causeway/recording/worker'
import type { Finding } from '../domain/laws/finding.ts'
import type { Law } from '../domain/laws/law.ts'
import { type LawName, type LawOptions, laws } from '../domain/laws/laws.ts'
import { sceneOf } from '../domain/laws/scene.ts'
import { stepper } from '../domain/laws/step.ts'

/** Which laws, over which frames. */
export interface SweepArgs {
  readonly range: FrameRange
  readonly laws: readonly LawName[]
  readonly options: LawOptions
}

/** What they found, unranked, and over how many frames. */
export interface SweepResult {
  readonly findings: readonly Finding[]
  readonly frames: number
}

/** Holds every step of the range against the laws. */
export async function sweep(args: SweepArgs, context: AnalysisContext): Promise<SweepResult> {
  const chosen: Law[] = args.laws.map((name) => laws[name](args.options))
  const frames = await eachStep(args.range, context, (step) => {
    for (const law of chosen) law.see(step)
  })
  return { findings: chosen.flatMap((law) => law.findings()), frames }
}

/** Calls for every step of a range, in frame order; answers how many frames there were. */
export async function eachStep(
  range: FrameRange,
  { windows, summary, reader, signal, progress }: AnalysisContext,
  see: (step: ReturnType<ReturnType<typeof stepper>['to']>) => void,
): Promise<number> {
  const { to } = stepper(sceneOf(summary, reader.extents()))
  let frames = 0
  for await (const window of windows.over(range, { signal, progress })) {
    for (let row = window.from; row < window.to; row++) {
      see(to(window, row))
      frames += 1
    }
  }
  return frames
}
