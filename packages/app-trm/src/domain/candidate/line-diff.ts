import { type StructuredPatchHunk, structuredPatch } from 'diff'

/**
 * Compares texts line by line. The time grows with the square of the number of changed lines, so the sum of the
 * squares is limited.
 */
export class LineComparison {
  static readonly #maxChangedLines = 4000
  #budget = LineComparison.#maxChangedLines ** 2

  /** Returns the hunks, or one hunk that replaces everything if too much differs. */
  compare(before: string, after: string, context = 0) {
    const maxEditLength = Math.floor(Math.sqrt(this.#budget))
    const hunks = createHunks(before, after, { context, maxEditLength })
    const lines = hunks?.flatMap((hunk) => hunk.lines.filter((line) => /^[+-]/.test(line)))
    this.#budget -= (lines?.length ?? maxEditLength) ** 2
    if (hunks !== undefined) return hunks
    const mark = (text: string, sign: string) => splitLines(text).map((line) => sign + line)
    return [{ newStart: 1, lines: [...mark(before, '-'), ...mark(after, '+')] }]
  }
}

const splitLines = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

interface HunkOptions {
  readonly context: number
  readonly maxEditLength?: number
  /** Milliseconds. */
  readonly timeout?: number
}

/** Returns the hunks of a unified diff, or `undefined` if a limit was reached. */
export function createHunks(
  before: string,
  after: string,
  options: HunkOptions,
): readonly StructuredPatchHunk[] | undefined {
  return structuredPatch('a', 'b', before, after, undefined, undefined, options)?.hunks
}

/** Without file headers. */
export const formatHunks = (hunks: readonly StructuredPatchHunk[]): string =>
  hunks
    .flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${formatRange(oldStart, oldLines)} +${formatRange(newStart, newLines)} @@`,
      ...lines,
    ])
    .join('\n')

/** An empty range is formatted as the preceding line. */
const formatRange = (start: number, lines: number): string => `${lines === 0 ? start - 1 : start},${lines}`

const maxCharacters = 3500

/** Returns a unified diff with one line of context, limited to a few thousand characters. */
export function formatDiff(before: string, after: string): string {
  const hunks = createHunks(before, after, { context: 1, maxEditLength: 4000 })
  if (hunks === undefined) return '(most of it has changed)'
  const text = formatHunks(hunks)
  return text.length <= maxCharacters
    ? text
    : `${text.slice(0, maxCharacters)}\n… (${hunks.length} hunks in total)`
}
