import { LineComparison } from './candidate/line-diff.ts'
import type { AppliedCandidate, OriginalFiles } from './candidate/types.ts'

const maxLines = 40

type Preview = Pick<AppliedCandidate, 'changes' | 'moved'> & { readonly before: OriginalFiles }

/** Lists a renamed file with both paths. */
export function createPreview({ before, changes, moved }: Preview) {
  const comparison = new LineComparison()
  const left = new Set(moved.values())
  const filesPreviews = [...changes].map(([file, after]) => {
    const content = before.get(moved.get(file) ?? file)
    const texts = [left.has(file) ? null : content, after].map((one) => (typeof one === 'string' ? one : ''))
    const lines = comparison.compare(texts[0] ?? '', texts[1] ?? '', 3).flatMap((hunk) => hunk.lines)
    const select = (...signs: readonly string[]) => lines.filter((line) => signs.includes(line[0] ?? ''))
    const show = (sign: string) =>
      select(' ', sign)
        .map((line) => line.slice(1))
        .slice(0, maxLines)
    const [linesAdded, linesRemoved] = [select('+').length, select('-').length]
    const added = linesAdded > 0 && linesRemoved > 0 ? 'modification' : 'insertion'
    const changeType = after === null || (linesAdded === 0 && linesRemoved > 0) ? 'deletion' : added
    return { file, beforeLines: show('-'), afterLines: show('+'), linesAdded, linesRemoved, changeType }
  })
  const sum = (count: (file: (typeof filesPreviews)[number]) => number): number =>
    filesPreviews.reduce((total, file) => total + count(file), 0)
  return {
    filesAffected: filesPreviews.map(({ file }) => file),
    linesAdded: sum(({ linesAdded }) => linesAdded),
    linesRemoved: sum(({ linesRemoved }) => linesRemoved),
    linesModified: sum(({ linesAdded, linesRemoved }) => Math.min(linesAdded, linesRemoved)),
    filesPreviews,
  }
}
