import { createHunks } from './candidate/line-diff.ts'
import type { AppliedCandidate, FileContent, FilesBefore } from './candidate/types.ts'

const maxLines = 40

interface FilePreview {
  readonly file: string
  readonly beforeLines: readonly string[]
  readonly afterLines: readonly string[]
  readonly linesAdded: number
  readonly linesRemoved: number
  readonly changeType: 'insertion' | 'deletion' | 'modification' | 'replacement'
}

/** Returns the changed lines of a candidate with three lines of context. */
export function createPreview(before: FilesBefore, { changes, report }: AppliedCandidate) {
  const reports = new Map(report.files.map((file) => [file.path, file]))
  const filesPreviews = [...changes].map(([file, after]): FilePreview => {
    const { linesAdded = 0, linesRemoved = 0 } = reports.get(file) ?? {}
    const content = before.get(file)
    const changeType = findChangeType(content, after, linesAdded, linesRemoved)
    return { file, ...findLines(toText(content), toText(after)), linesAdded, linesRemoved, changeType }
  })
  const sum = (count: (file: FilePreview) => number): number =>
    filesPreviews.reduce((total, file) => total + count(file), 0)
  return {
    filesAffected: filesPreviews.map(({ file }) => file),
    linesAdded: sum(({ linesAdded }) => linesAdded),
    linesRemoved: sum(({ linesRemoved }) => linesRemoved),
    linesModified: sum(({ linesAdded, linesRemoved }) => Math.min(linesAdded, linesRemoved)),
    filesPreviews,
  }
}

function findChangeType(
  before: FileContent | undefined,
  after: FileContent | null,
  added: number,
  removed: number,
): FilePreview['changeType'] {
  if (before !== undefined && after !== null && added > 0 && removed > 0) return 'modification'
  if (before === undefined || removed === 0) return 'insertion'
  return after === null || added === 0 ? 'deletion' : 'replacement'
}

const toText = (content: FileContent | null | undefined): string =>
  typeof content === 'string' ? content : ''

function findLines(before: string, after: string): Pick<FilePreview, 'beforeLines' | 'afterLines'> {
  const hunks = createHunks(before, after, { context: 3 })
  const lines = (hunks ?? []).flatMap((hunk) => hunk.lines).filter((line) => !line.startsWith('\\'))
  const select = (mark: string): string[] =>
    lines
      .filter((line) => line.startsWith(' ') || line.startsWith(mark))
      .map((line) => line.slice(1))
      .slice(0, maxLines)
  return { beforeLines: select('-'), afterLines: select('+') }
}
