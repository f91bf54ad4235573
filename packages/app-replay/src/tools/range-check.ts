/** The answer of a check over a range of frames: runs, exact count, and where the list goes on. */
import type { FrameRange, Recording } from '@causeway/recording'
import { checkLaws } from '../diagnose.ts'
import { page } from '../domain/cursor.ts'
import type { Finding, FindingKind } from '../domain/laws/finding.ts'
import { checkSummary, type FindingRow, findingRow } from '../domain/laws/finding-view.ts'
import type { LawName, LawOptions } from '../domain/laws/laws.ts'
import type { ReplayContext } from '../session.ts'

/** What is checked: laws, those of their kinds that count, and the name of it all in a sentence. */
export interface RangeCheck {
  readonly laws: readonly LawName[]
  readonly kinds: readonly FindingKind[]
  readonly about: string
  readonly options?: LawOptions
  /** findings that count; default: all */
  readonly isMeant?: (finding: Finding) => boolean
}

/** The runs of a check in one page. */
export interface RangeAnswer {
  readonly runs: readonly FindingRow[]
  readonly count: number
  readonly frames_checked: number
  readonly truncated: boolean
  readonly next_cursor: string | null
  readonly summary: string
}

/** Checks a range near the data. */
export async function checkRange(
  recording: Recording,
  range: FrameRange,
  check: RangeCheck & { readonly part: { cursor: string | undefined; limit: number } },
  { signal, progress }: ReplayContext,
): Promise<RangeAnswer> {
  const { findings, frames } = await checkLaws(recording, range, check, { signal, progress })
  const own = findings
    .filter((finding) => check.kinds.includes(finding.kind) && (check.isMeant?.(finding) ?? true))
    .toSorted((a, b) => a.frames.first - b.frames.first)
  const { items, next_cursor } = page(own, (_, index) => index, check.part)
  return {
    runs: items.map(findingRow),
    count: own.length,
    frames_checked: frames,
    truncated: items.length < own.length,
    next_cursor,
    summary: checkSummary(own, frames, check.about),
  }
}
