import type { FrameRange, WorstValues } from '@causeway/recording'
import type { AnalysisContext } from '@causeway/recording/worker'
import { type Coverage, CoverageCollector } from '../domain/coverage/coverage.ts'
import type { Finding } from '../domain/findings/finding.ts'
import type { Law } from '../domain/laws/law.ts'
import { type LawName, type LawOptions, laws } from '../domain/laws/laws.ts'
import { WorstCollector } from '../domain/runs/worst-values.ts'
import { type Rounding, RoundingMeter } from '../domain/steps/rounding.ts'
import { createScene, type Scene } from '../domain/steps/scene.ts'
import type { Step } from '../domain/steps/step.ts'
import { Stepper } from '../domain/steps/stepper.ts'

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
  const selectedLaws: Law[] = args.laws.map((name) => laws[name](args.options))
  const scene = await readScene(context)
  const coverage = new CoverageCollector(scene)
  const worst = new WorstCollector()
  const observe = (step: Step): void => {
    coverage.observe(step)
    worst.observe(step)
    for (const law of selectedLaws) law.observe(step)
  }
  const frames = await forEachStep(args.range, context, observe, scene)
  return {
    findings: selectedLaws.flatMap((law) => law.findings()),
    frames,
    coverage: coverage.summarize(args.laws),
    worst: worst.values,
  }
}

const readScene = async (context: AnalysisContext): Promise<Scene> =>
  createScene(context.summary, context.reader.extents(), await measureRounding(context))

/** Rounding is measured in `sampleCount` samples of `framesPerSample` frames. */
const roundingSample = { sampleCount: 4, framesPerSample: 25 } as const

async function measureRounding({ summary, windows, signal }: AnalysisContext): Promise<Rounding> {
  const meter = new RoundingMeter()
  const { frames } = summary
  if (frames !== null)
    for (let sampleIndex = 0; sampleIndex < roundingSample.sampleCount; sampleIndex++) {
      const start = Math.floor(
        frames.first_frame +
          (sampleIndex * (frames.last_frame - frames.first_frame)) / roundingSample.sampleCount,
      )
      const range = { start, end: start + roundingSample.framesPerSample - 1 }
      for await (const window of windows.over(range, { signal, progress() {} })) meter.add(window)
    }
  return meter.measure(summary.dt_s ?? Number.NaN)
}

/** Returns the number of frames. */
export async function forEachStep(
  range: FrameRange,
  context: AnalysisContext,
  observe: (step: Step) => void,
  scene?: Scene,
): Promise<number> {
  const { windows, signal, progress } = context
  const stepper = new Stepper(scene ?? (await readScene(context)))
  let frames = 0
  for await (const window of windows.over(range, { signal, progress })) {
    for (let row = window.from; row < window.to; row++) {
      observe(stepper.moveTo(window, row))
      frames += 1
    }
  }
  return frames
}
