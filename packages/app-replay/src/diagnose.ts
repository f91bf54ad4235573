/** Every law over a range of frames, ranked. */
import type { Foreseen, FrameRange, Recording, RecordingSummary } from '@causeway/recording'
import type { CallOptions } from '@causeway/worker'
import type { SweepArgs, SweepResult } from './analysis/sweep.ts'
import { frameRange } from './domain/frame-range.ts'
import type { Finding } from './domain/laws/finding.ts'
import { type LawName, type LawOptions, laws } from './domain/laws/laws.ts'
import { type RankedFinding, rankFindings } from './domain/laws/ranking.ts'

/** What was found, the cause first, over how many frames. */
export interface Diagnosis {
  readonly findings: readonly RankedFinding[]
  readonly frames: number
}

/** Holds the frames of a range against some laws; the findings in order of their first frame. */
export async function checkLaws(
  recording: Recording,
  range: FrameRange,
  { laws, options: lawOptions = {} }: { readonly laws: readonly LawName[]; readonly options?: LawOptions },
  options: CallOptions = {},
): Promise<{ readonly findings: readonly Finding[]; readonly frames: number }> {
  const args: SweepArgs = { range, laws, options: lawOptions }
  const { signal, progress } = options
  return recording.analyse<SweepResult>('sweep', args, { signal, progress, isKept: isLong(range) })
}

/** Frames from which on an answer is kept: shorter looks are soon repeated, and would push out long ones. */
const longRange = 500

const isLong = ({ start, end }: FrameRange): boolean =>
  start === null || end === null || end - start >= longRange

const everyLaw = Object.keys(laws) as LawName[]

/** What a first diagnosis of the whole recording will ask. */
export const firstQuestions = ({ frames }: RecordingSummary): readonly Foreseen[] =>
  frames === null
    ? []
    : [
        {
          name: 'sweep',
          args: { range: frameRange({}, frames), laws: everyLaw, options: {} } satisfies SweepArgs,
        },
      ]

/** Holds the frames of a range against every law and ranks what that finds. */
export async function diagnose(
  recording: Recording,
  range: FrameRange,
  options: CallOptions = {},
): Promise<Diagnosis> {
  const { findings, frames } = await checkLaws(recording, range, { laws: everyLaw }, options)
  return { findings: rankFindings(findings), frames }
}
