import type { FrameRange, WorstValues } from '@causeway/recording'
import type { AnalysisContext } from '@causeway/recording/worker'
import { type Coverage, CoverageCollector } from '../domain/coverage/coverage.ts'
import type { Finding } from '../domain/findings/finding.ts'
import type { Law } from '../domain/laws/law.ts'
import { type LawName, type LawOptions, laws } from '../domain/laws/laws.ts'
import { WorstCollector } from '../domain/runs/worst-values.ts'
import { createScene, type Scene } from '../domain/steps/scene.ts'
import { type Step, Stepper } from '../domain/steps/step.ts'

export interface CheckFramesArgs {
  readonly range: FrameRange
  readonly laws: readonly LawName[]
  readonly options: LawOptions
}

export interface CheckFramesResult {
  readonly findings: readonly Finding[]
  readonly frames: number
  readonly coverage: Coverage
  readonly worst: WorstValues
}

export async function checkFrames(
  args: CheckFramesArgs,
  context: AnalysisContext,
): Promise<CheckFramesResult> {
  const checked: Law[] = args.laws.map((name) => laws[name](args.options))
  const scene = readScene(context)
  const coverage = new CoverageCollector(scene)
  const worst = new WorstCollector()
  const frames = await forEachStep(args.range, context, (step) => {
    coverage.observe(step)
    worst.observe(step)
    for (const law of checked) law.observe(step)
  })
  return {
    findings: checked.flatMap((law) => law.findings()),
    frames,
    coverage: coverage.summarize(args.laws),
    worst: worst.values,
  }
}

const readScene = ({ summary, reader }: AnalysisContext): Scene => createScene(summary, reader.extents())

/** Returns the number of frames. */
export async function forEachStep(
  range: FrameRange,
  context: AnalysisContext,
  observe: (step: Step) => void,
): Promise<number> {
  const { windows, signal, progress } = context
  const stepper = new Stepper(readScene(context))
  let frames = 0
  for await (const window of windows.over(range, { signal, progress })) {
    for (let row = window.from; row < window.to; row++) {
      observe(stepper.moveTo(window, row))
      frames += 1
    }
  }
  return frames
}
