import { LineComparison } from './candidate/line-diff.ts'
import type { AppliedCandidate, OriginalFiles } from './candidate/types.ts'

const maxLines = 40

type Preview = Pick<AppliedCandidate, 'changes' | 'previousPaths'> & { readonly before: OriginalFiles }

/** Compares the changed files. Lists a renamed file under both paths. */
export function createPreview({ before, changes, previousPaths }: Preview) {
  const comparison = new LineComparison()
  const removedPaths = new Set(previousPaths.values())
  const filesPreviews = [...changes].map(([file, after]) => {
    const content = before.get(previousPaths.get(file) ?? file)
    const texts = [removedPaths.has(file) ? null : content, after].map((content) =>
      typeof content === 'string' ? content : '',
    )
    const lines = comparison.compare(texts[0] ?? '', texts[1] ?? '', 3).flatMap((hunk) => hunk.lines)
    const selectLines = (...signs: readonly string[]) => lines.filter((line) => signs.includes(line[0] ?? ''))
    const list = (sign: string) =>
      selectLines(' ', sign)
        .map((line) => line.slice(1))
        .slice(0, maxLines)
    const [linesAdded, linesRemoved] = [selectLines('+').length, selectLines('-').length]
    const addedType = linesAdded > 0 && linesRemoved > 0 ? 'modification' : 'insertion'
    const changeType = after === null || (linesAdded === 0 && linesRemoved > 0) ? 'deletion' : addedType
    return { file, beforeLines: list('-'), afterLines: list('+'), linesAdded, linesRemoved, changeType }
  })
  const sumFiles = (count: (file: (typeof filesPreviews)[number]) => number): number =>
    filesPreviews.reduce((total, file) => total + count(file), 0)
  return {
    filesAffected: filesPreviews.map(({ file }) => file),
    linesAdded: sumFiles(({ linesAdded }) => linesAdded),
    linesRemoved: sumFiles(({ linesRemoved }) => linesRemoved),
    linesModified: sumFiles(({ linesAdded, linesRemoved }) => Math.min(linesAdded, linesRemoved)),
    filesPreviews,
  }
}
