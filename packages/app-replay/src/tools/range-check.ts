import type { BodyId, FrameRange, Recording } from '@causeway/recording'
import { paginate } from '../domain/cursor.ts'
import type { FindingKind } from '../domain/findings/finding.ts'
import { summarizeCheck, toFindingRow } from '../domain/findings/finding-view.ts'
import type { LawName, LawOptions } from '../domain/laws/laws.ts'
import { checkLaws } from '../session/diagnose.ts'
import type { ReplayContext } from '../session/session.ts'
import { maxRunsShown } from './recording-tool.ts'

export interface RangeCheck {
  readonly laws: readonly LawName[]
  readonly kinds: readonly FindingKind[]
  /** Subject of a sentence, such as "the friction cone". */
  readonly about: string
  readonly options?: LawOptions
  readonly body?: BodyId | null
}

interface Page {
  readonly cursor?: string | undefined
  readonly limit?: number | undefined
}

export async function checkRange(
  recording: Recording,
  range: FrameRange,
  { kinds, about, body = null, limit = maxRunsShown, ...check }: RangeCheck & Page,
  ctx: ReplayContext,
) {
  const { findings, frames, coverage, names } = await checkLaws(recording, range, check, ctx)
  const runs = findings
    .filter(({ kind, bodies }) => kinds.includes(kind) && (body === null || bodies.includes(body)))
    .toSorted((a, b) => a.frames.first - b.frames.first)
  const page = { cursor: check.cursor, limit }
  const { items, next_cursor } = paginate(runs, (_, index) => index, page)
  return {
    runs: items.map((finding) => toFindingRow(finding, names)),
    count: runs.length,
    frames_checked: frames,
    truncated: items.length < runs.length,
    next_cursor,
    ...coverage,
    summary: summarizeCheck(runs, { frames, coverage, names }, about),
  }
}
