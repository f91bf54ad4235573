/** What a review looks at: the lines that a change adds to each file. */
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { type StructuredPatchHunk, structuredPatch } from 'diff'
import { plainPaths } from '../candidate/diff-header.ts'
import { checkLineCount } from '../candidate/edited-text.ts'
import { readDiff } from '../candidate/unified-diff.ts'
import { isNotebook, plainCode, readNotebook } from '../notebook/notebook.ts'

/** A line that the change adds. */
export interface AddedLine {
  /** In the new file, from 1; within the hunk where no header tells. */
  readonly line: number
  readonly text: string
}

/** A file, or a cell of a notebook, as the change leaves it. */
export interface ChangedFile {
  readonly path: string
  /** `cell 3` of a notebook; lines count within it. */
  readonly part: string | undefined
  /** Extension in lower case; `py` for code cells of Python. */
  readonly language: string
  readonly added: readonly AddedLine[]
  readonly removed: number
  /** The whole text after the change, where it is known. */
  readonly text: string | undefined
}

/** A file as a client sends it for review. */
export interface ReviewedFile {
  readonly path: string
  readonly content: string
  readonly orig?: string | undefined
}

/** The files of a diff; throws `NOT_A_DIFF`, `FILE_TOO_LARGE`. */
export function filesOfDiff(diff: string): readonly ChangedFile[] {
  const files = read(diff)
  if (files.length === 0) throw new CausewayError('NOT_A_DIFF', 'the text has no hunk')
  return files.map((file): ChangedFile => {
    const { from, to } = plainPaths(file)
    const path = to ?? from ?? 'unnamed'
    const added: AddedLine[] = []
    for (const { lines, statedNew = 1 } of file.hunks) {
      let line = statedNew
      for (const { op, text } of lines) {
        if (op === '+') added.push({ line, text })
        if (op !== '-') line++
      }
    }
    const removed = file.hunks.flatMap(({ lines }) => lines.filter(({ op }) => op === '-')).length
    return { path, part: undefined, language: extensionOf(path), added, removed, text: undefined }
  })
}

function read(diff: string) {
  try {
    return readDiff(diff).filter(({ hunks, isBinary, isBare }) => hunks.length > 0 || isBinary || isBare)
  } catch (error) {
    if (!isCausewayError(error) || error.code !== 'INVALID_DIFF') throw error
    throw new CausewayError('NOT_A_DIFF', error.message, { data: error.data, cause: error })
  }
}

/** Returns what each file adds to its original; every code cell of a notebook counts as a file. Throws `FILE_TOO_LARGE`. */
export function filesOfTexts(files: readonly ReviewedFile[]): readonly ChangedFile[] {
  checkLineCount(
    files.flatMap(({ content, orig = '' }) => [content, orig]),
    'the files to review',
  )
  const comparison = new LineComparison()
  return files.flatMap((file) => {
    if (!isNotebook(file.path))
      return [changed(comparison, file, { language: extensionOf(file.path), part: undefined })]
    const before = file.orig === undefined ? [] : readNotebook(file.path, file.orig).cells
    const beforeById = new Map(before.map((cell) => [cell.id, cell]))
    const notebook = readNotebook(file.path, file.content)
    const language = notebook.language === 'python' ? 'py' : notebook.language
    return notebook.cells
      .filter(({ kind }) => kind === 'code')
      .map((cell) => {
        const old = cell.id === undefined ? before[cell.index] : beforeById.get(cell.id)
        const texts = {
          path: file.path,
          content: plainCode(cell.source),
          orig: plainCode(old?.source ?? ''),
        }
        return changed(comparison, texts, { language, part: `cell ${cell.index}` })
      })
      .filter(({ added, removed }) => added.length + removed > 0)
  })
}

function changed(
  comparison: LineComparison,
  { path, content, orig = '' }: ReviewedFile,
  { language, part }: Pick<ChangedFile, 'language' | 'part'>,
): ChangedFile {
  const plain = [orig, content].map((text) => text.replaceAll('\r\n', '\n'))
  const [before = '', after = ''] = plain
  const hunks = comparison.hunks(before, after)
  const added: AddedLine[] = []
  for (const { lines, newStart } of hunks ?? [whole(after)]) {
    let line = newStart
    for (const text of lines) if (text.startsWith('+')) added.push({ line: line++, text: text.slice(1) })
  }
  const removed = (hunks ?? []).flatMap(({ lines }) => lines.filter((line) => line.startsWith('-'))).length
  return { path, part, language, added, removed, text: after }
}

/**
 * Compares texts line by line within a budget. The time of a comparison grows with the square of the number of
 * changed lines, so the sum of these squares is limited for all texts of a review together.
 */
export class LineComparison {
  static readonly #maxChangedLines = 5000
  #budget = LineComparison.#maxChangedLines ** 2

  /** Returns the hunks, without context, or `undefined` if the number of changed lines exceeds what is left of the budget. */
  hunks(before: string, after: string): readonly StructuredPatchHunk[] | undefined {
    const maxEditLength = Math.floor(Math.sqrt(this.#budget))
    const hunks = structuredPatch('', '', before, after, undefined, undefined, {
      context: 0,
      maxEditLength,
    })?.hunks
    const changedLines = hunks?.reduce((sum, { oldLines, newLines }) => sum + oldLines + newLines, 0)
    this.#budget -= (changedLines ?? maxEditLength) ** 2
    return hunks
  }
}

/** The hunk of a file of which too much has changed to compare it: every line is new. */
const whole = (text: string) => ({
  newStart: 1,
  lines: text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `+${line}`),
})

const extensionOf = (path: string): string => /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ''
