/** What a candidate would make of the files, in small. */
import { structuredPatch } from 'diff'
import type { AppliedCandidate, FileContent, FilesBefore } from './candidate/types.ts'

/** Most lines of each side of a file that are shown. */
const mostLines = 40

/** How one file would change. */
export interface FilePreview {
  readonly file: string
  readonly beforeLines: readonly string[]
  readonly afterLines: readonly string[]
  readonly linesAdded: number
  readonly linesRemoved: number
  readonly changeType: 'insertion' | 'deletion' | 'modification' | 'replacement'
}

/** How all files would change. */
export interface Preview {
  readonly filesAffected: readonly string[]
  readonly linesAdded: number
  readonly linesRemoved: number
  readonly linesModified: number
  readonly filesPreviews: readonly FilePreview[]
}

/** The exact changes of an applied candidate, lines with three of context. */
export function previewOf(before: FilesBefore, { changes, report }: AppliedCandidate): Preview {
  const counts = new Map(report.files.map((file) => [file.path, file]))
  const filesPreviews = [...changes].map(([file, after]): FilePreview => {
    const { linesAdded = 0, linesRemoved = 0 } = counts.get(file) ?? {}
    const sides = hunkLines(textOf(before.get(file)), textOf(after))
    return {
      file,
      ...sides,
      linesAdded,
      linesRemoved,
      changeType: typeOf(before.get(file), after, linesAdded, linesRemoved),
    }
  })
  const sum = (of: (file: FilePreview) => number): number =>
    filesPreviews.reduce((total, file) => total + of(file), 0)
  return {
    filesAffected: filesPreviews.map(({ file }) => file),
    linesAdded: sum(({ linesAdded }) => linesAdded),
    linesRemoved: sum(({ linesRemoved }) => linesRemoved),
    linesModified: sum(({ linesAdded, linesRemoved }) => Math.min(linesAdded, linesRemoved)),
    filesPreviews,
  }
}

function typeOf(
  before: FileContent | undefined,
  after: FileContent | null,
  added: number,
  removed: number,
): FilePreview['changeType'] {
  if (before !== undefined && after !== null && added > 0 && removed > 0) return 'modification'
  if (before === undefined || removed === 0) return 'insertion'
  return after === null || added === 0 ? 'deletion' : 'replacement'
}

const textOf = (content: FileContent | null | undefined): string =>
  typeof content === 'string' ? content : ''

function hunkLines(before: string, after: string): Pick<FilePreview, 'beforeLines' | 'afterLines'> {
  const { hunks } = structuredPatch('a', 'b', before, after, '', '', { context: 3 })
  const lines = hunks.flatMap((hunk) => hunk.lines).filter((line) => !line.startsWith('\\'))
  const side = (mark: string): string[] =>
    lines
      .filter((line) => line.startsWith(' ') || line.startsWith(mark))
      .map((line) => line.slice(1))
      .slice(0, mostLines)
  return { beforeLines: side('-'), afterLines: side('+') }
}
