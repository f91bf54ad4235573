/** Every law over a range of frames, ranked. */
import type { FrameRange, Recording } from '@causeway/recording'
import type { CallOptions } from '@causeway/worker'
import type { SweepArgs, SweepResult } from './analysis/sweep.ts'
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
  return recording.analyse<SweepResult>('sweep', args, options)
}

/** Holds the frames of a range against every law and ranks what that finds. */
export async function diagnose(
  recording: Recording,
  range: FrameRange,
  options: CallOptions = {},
): Promise<Diagnosis> {
  const every = { laws: Object.keys(laws) as LawName[] }
  const { findings, frames } = await checkLaws(recording, range, every, options)
  return { findings: rankFindings(findings), frames }
}
