import { formatPatch, OMIT_HEADERS, type StructuredPatch, structuredPatch } from 'diff'
import { splitLines } from '../file-part.ts'

/** Compares texts. The time grows with the square of the number of changed lines, so the sum of squares is limited. */
export class LineComparison {
  static readonly #maxChangedLines = 4000
  #budget = LineComparison.#maxChangedLines ** 2

  /** Returns the hunks, or one hunk that replaces everything if too much differs. */
  compare(before: string, after: string, context = 0) {
    const maxEditLength = Math.floor(Math.sqrt(this.#budget))
    const hunks = createPatch(before, after, { context, maxEditLength })?.hunks
    const lines = hunks?.flatMap((hunk) => hunk.lines.filter((line) => /^[+-]/.test(line)))
    this.#budget -= (lines?.length ?? maxEditLength) ** 2
    if (hunks !== undefined) return hunks
    const markLines = (text: string, sign: string) => splitLines(text).map((line) => sign + line)
    return [{ newStart: 1, lines: [...markLines(before, '-'), ...markLines(after, '+')] }]
  }
}

interface HunkOptions {
  readonly context: number
  readonly maxEditLength?: number
  /** Milliseconds. */
  readonly timeout?: number
}

/** Returns `undefined` if a limit was reached. */
export const createPatch = (before: string, after: string, options: HunkOptions) =>
  structuredPatch('a', 'b', before, after, undefined, undefined, options)

/** Omits file headers. */
export const formatHunks = (patch: StructuredPatch): string => formatPatch(patch, OMIT_HEADERS).slice(0, -1)

const maxCharacters = 3500

export function formatDiff({ before, after }: { readonly before: string; readonly after: string }): string {
  const patch = createPatch(before, after, { context: 1, maxEditLength: 4000 })
  if (patch === undefined) return '(most of it has changed)'
  const text = formatHunks(patch)
  return text.length <= maxCharacters
    ? text
    : `${text.slice(0, maxCharacters)}\n… (${patch.hunks.length} hunks in total)`
}
