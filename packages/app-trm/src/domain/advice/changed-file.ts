import { type StructuredPatchHunk, structuredPatch } from 'diff'
import { TrmError } from '../../errors.ts'
import { stripPrefixes } from '../candidate/diff-header.ts'
import { checkLineCount } from '../candidate/edited-text.ts'
import { readDiff } from '../candidate/unified-diff.ts'

/** An added line. */
export interface AddedLine {
  /** Line in the new file, from 1; within the hunk if the hunk has no line numbers. */
  readonly line: number
  readonly text: string
}

/** The changes of one file. */
export interface ChangedFile {
  readonly path: string
  /** Extension in lower case. */
  readonly language: string
  readonly added: readonly AddedLine[]
  readonly removed: number
}

/** A file to review. */
export interface ReviewedFile {
  readonly path: string
  readonly content: string
  readonly orig?: string | undefined
}

/** Returns the files that a diff changes. Throws `NOT_A_DIFF`, `FILE_TOO_LARGE`. */
export function readChangedFiles(diff: string): readonly ChangedFile[] {
  const files = read(diff)
  if (files.length === 0) throw new TrmError('NOT_A_DIFF', 'the text has no hunk')
  return files.map((file): ChangedFile => {
    const { from, to } = stripPrefixes(file)
    const path = to ?? from ?? 'unnamed'
    const added: AddedLine[] = []
    for (const { lines, newStart = 1 } of file.hunks) {
      let line = newStart
      for (const { op, text } of lines) {
        if (op === '+') added.push({ line, text })
        if (op !== '-') line++
      }
    }
    const removed = file.hunks.flatMap(({ lines }) => lines.filter(({ op }) => op === '-')).length
    return { path, language: findExtension(path), added, removed }
  })
}

function read(diff: string) {
  try {
    return readDiff(diff).filter(({ hunks, isBinary, isBare }) => hunks.length > 0 || isBinary || isBare)
  } catch (error) {
    if (!TrmError.is(error, 'INVALID_DIFF')) throw error
    throw new TrmError('NOT_A_DIFF', error.message, { data: error.data, cause: error })
  }
}

/** Compares each file with its original. Throws `FILE_TOO_LARGE`. */
export function compareFiles(files: readonly ReviewedFile[]): readonly ChangedFile[] {
  checkLineCount(
    files.flatMap(({ content, orig = '' }) => [content, orig]),
    'the files to review',
  )
  const comparison = new LineComparison()
  return files.map(({ path, content, orig = '' }) => {
    const [before, after] = [orig.replaceAll('\r\n', '\n'), content.replaceAll('\r\n', '\n')]
    const hunks = comparison.hunks(before, after)
    const added: AddedLine[] = []
    for (const { lines, newStart } of hunks ?? [toWholeHunk(after)]) {
      let line = newStart
      for (const text of lines) if (text.startsWith('+')) added.push({ line: line++, text: text.slice(1) })
    }
    const removed = (hunks ?? []).flatMap(({ lines }) => lines.filter((line) => line.startsWith('-'))).length
    return { path, language: findExtension(path), added, removed }
  })
}

/**
 * Compares texts line by line within a budget. The time of a comparison grows with the square of the number of
 * changed lines, so the sum of these squares is limited for all texts of a review together.
 */
export class LineComparison {
  static readonly #maxChangedLines = 5000
  #budget = LineComparison.#maxChangedLines ** 2

  /** Returns the hunks, without context, or `undefined` if the number of changed lines exceeds the remaining budget. */
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

/** A hunk in which every line is added. */
const toWholeHunk = (text: string) => ({
  newStart: 1,
  lines: text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `+${line}`),
})

const findExtension = (path: string): string => /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ''
