/** What a review looks at: the lines that a change adds to each file. */
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { structuredPatch } from 'diff'
import { plainPaths } from '../candidate/diff-header.ts'
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

/** The files of a diff; throws `NOT_A_DIFF`. */
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
    if (!isCausewayError(error)) throw error
    throw new CausewayError('NOT_A_DIFF', error.message, { data: error.data, cause: error })
  }
}

/** What files add to what they were; of notebooks every code cell counts as a file. */
export function filesOfTexts(files: readonly ReviewedFile[]): readonly ChangedFile[] {
  return files.flatMap((file) => {
    if (!isNotebook(file.path)) return [changed(file, { language: extensionOf(file.path), part: undefined })]
    const before = file.orig === undefined ? [] : readNotebook(file.path, file.orig).cells
    const notebook = readNotebook(file.path, file.content)
    const language = notebook.language === 'python' ? 'py' : notebook.language
    return notebook.cells
      .filter(({ kind }) => kind === 'code')
      .map((cell) => {
        const old = before.find(({ id, index }) =>
          cell.id === undefined ? index === cell.index : id === cell.id,
        )
        const texts = {
          path: file.path,
          content: plainCode(cell.source),
          orig: plainCode(old?.source ?? ''),
        }
        return changed(texts, { language, part: `cell ${cell.index}` })
      })
      .filter(({ added, removed }) => added.length + removed > 0)
  })
}

function changed(
  { path, content, orig = '' }: ReviewedFile,
  { language, part }: Pick<ChangedFile, 'language' | 'part'>,
): ChangedFile {
  const plain = [orig, content].map((text) => text.replaceAll('\r\n', '\n'))
  const [before = '', after = ''] = plain
  const hunks = structuredPatch('', '', before, after, undefined, undefined, {
    context: 0,
    maxEditLength: 5000,
  })?.hunks
  const added: AddedLine[] = []
  for (const { lines, newStart } of hunks ?? [whole(after)]) {
    let line = newStart
    for (const text of lines) if (text.startsWith('+')) added.push({ line: line++, text: text.slice(1) })
  }
  const removed = (hunks ?? []).flatMap(({ lines }) => lines.filter((line) => line.startsWith('-'))).length
  return { path, part, language, added, removed, text: after }
}

/** Where nearly everything differs, everything is new. */
const whole = (text: string) => ({
  newStart: 1,
  lines: text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `+${line}`),
})

const extensionOf = (path: string): string => /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ''
