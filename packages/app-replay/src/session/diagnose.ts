import type { AnalysisRequest, FrameRange, Recording, RecordingSummary } from '@causeway/recording'
import type { CallOptions } from '@causeway/worker'
import type { CheckFramesArgs, CheckFramesResult } from '../analysis/check-frames.ts'
import type { BodyNames } from '../domain/bodies/body-names.ts'
import type { NotChecked } from '../domain/coverage/coverage.ts'
import type { CheckedLaw } from '../domain/coverage/law-table.ts'
import { type RankedFinding, rankFindings } from '../domain/findings/ranking.ts'
import { resolveFrameRange } from '../domain/frames/frame-range.ts'
import { type LawName, type LawOptions, laws } from '../domain/laws/laws.ts'
import { readBodyNames } from './body-names.ts'

/** Shorter ranges are not cached. */
const minCachedFrames = 500

const allLaws = Object.keys(laws) as LawName[]

export interface CheckedLaws extends CheckFramesResult {
  readonly names: BodyNames
}

/** The findings are unranked. */
export async function checkLaws(
  recording: Recording,
  range: FrameRange,
  check: { readonly laws: readonly LawName[]; readonly options?: LawOptions },
  { signal, progress }: CallOptions = {},
): Promise<CheckedLaws> {
  const { start, end } = range
  const args: CheckFramesArgs = { range, laws: check.laws, options: check.options ?? {} }
  const isCached = start === null || end === null || end - start >= minCachedFrames
  const options = { signal, progress, isCached }
  const result = await recording.analyse<CheckFramesResult>('checkFrames', args, options)
  const bodies = result.findings.flatMap((finding) => finding.bodies)
  return { ...result, names: await readBodyNames(recording, bodies, { signal }) }
}

export const listPrecomputedAnalyses = ({ frames }: RecordingSummary): readonly AnalysisRequest[] => {
  if (frames === null) return []
  const args: CheckFramesArgs = { range: resolveFrameRange({}, frames), laws: allLaws, options: {} }
  return [{ name: 'checkFrames', args }]
}

export async function readFrameCoverage(
  recording: Recording,
  frame: number,
  laws: readonly LawName[],
): Promise<{ readonly laws_checked: readonly CheckedLaw[]; readonly not_checked: readonly NotChecked[] }> {
  const { coverage } = await checkLaws(recording, { start: frame, end: frame }, { laws })
  return { laws_checked: coverage.checked, not_checked: coverage.not_checked }
}

export interface Diagnosis extends Omit<CheckedLaws, 'findings'> {
  readonly findings: readonly RankedFinding[]
}

export async function diagnose(
  recording: Recording,
  range: FrameRange,
  options: CallOptions = {},
): Promise<Diagnosis> {
  const { findings, ...checked } = await checkLaws(recording, range, { laws: allLaws }, options)
  return { findings: rankFindings(findings), ...checked }
}
