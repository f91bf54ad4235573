/** A candidate as a list of operations on single files, whatever its mode. */
import { CausewayError } from '@causeway/protocol'
import { plainPaths } from './diff-header.ts'
import { checkedPath } from './path.ts'
import type { Candidate, CellAddress, DiffChange, Edit } from './types.ts'
import { type FileDiff, type Hunk, readDiff } from './unified-diff.ts'

/** What is done to one file. All paths are checked. */
export type Operation = { readonly path: string; readonly sha?: string | undefined } & (
  | { readonly type: 'write'; readonly content: string; readonly mayExist: boolean }
  | { readonly type: 'delete' }
  | { readonly type: 'edit'; readonly edits: readonly Edit[] }
  | {
      readonly type: 'diff'
      readonly hunks: readonly Hunk[]
      /** The path before, of a rename or a copy; else the same. */
      readonly from: string
      readonly effect: 'create' | 'delete' | 'change' | 'rename' | 'copy'
      readonly executable?: boolean | undefined
      readonly cell?: CellAddress | undefined
    }
)

/** Most files of a candidate. */
const mostFiles = 100
/** Most edits of a candidate: each one searches the text of its file. */
const maxEdits = 10_000
/** Longest text of a file, a diff or a patch, in UTF-16 units: ten million. */
const longestText = 10_000_000

/**
 * The operations of a candidate, each path at most once. Throws `INVALID_PATH`, `DUPLICATE_PATH`, `PATH_MISMATCH`,
 * `INVALID_DIFF`, `BINARY_PATCH`, `FILE_TOO_LARGE`, `INVALID_CANDIDATE`.
 */
export function operations(candidate: Candidate): readonly Operation[] {
  const list = ofMode(candidate)
  if (list.length === 0) throw new CausewayError('INVALID_CANDIDATE', 'the candidate names no file')
  if (list.length > mostFiles) {
    throw new CausewayError(
      'FILE_TOO_LARGE',
      `the candidate names ${list.length} files, more than ${mostFiles}`,
    )
  }
  refuseDuplicates(list)
  return list
}

/** The path that an operation reads. */
export const sourceOf = (operation: Operation): string =>
  operation.type === 'diff' ? operation.from : operation.path

function ofMode(candidate: Candidate): readonly Operation[] {
  switch (candidate.mode) {
    case 'files':
    case 'create':
      return candidate.files.map(({ path, content, delete: isDeleted, sha }): Operation => {
        const checked = checkedPath(path)
        if (isDeleted === true) return { type: 'delete', path: checked, sha }
        const mayExist = candidate.mode === 'files'
        return { type: 'write', path: checked, content: sized(content ?? '', checked), mayExist, sha }
      })
    case 'modify': {
      const edits = candidate.changes.reduce((sum, change) => sum + change.edits.length, 0)
      if (edits > maxEdits)
        throw new CausewayError('FILE_TOO_LARGE', `the candidate has ${edits} edits, more than ${maxEdits}`, {
          data: { edits, max: maxEdits },
        })
      return candidate.changes.map(({ path, edits, sha }) => ({
        type: 'edit',
        path: checkedPath(path),
        edits,
        sha,
      }))
    }
    case 'diff':
      return candidate.changes.map(ofChange)
    case 'patch': {
      const files = readFiles(candidate.patch, 'the patch')
      return files.map((file) => ofFile(file, plainPaths(file)))
    }
  }
}

function sized(text: string, name: string): string {
  if (text.length <= longestText) return text
  throw new CausewayError(
    'FILE_TOO_LARGE',
    `the text has ${text.length} characters, more than ${longestText}: ${name}`,
  )
}

/** The files of a diff of which it says something. */
function readFiles(text: string, name: string): readonly FileDiff[] {
  const files = readDiff(sized(text, name)).filter(
    ({ hunks, isBinary, isBare, mode, from, to }) =>
      hunks.length > 0 || isBinary || isBare || mode !== undefined || from === null || to === null,
  )
  if (files.length > 0) return files
  throw new CausewayError('INVALID_DIFF', `${name} has no hunk`)
}

/** A change of mode diff: its own path counts, headers may confirm it. */
function ofChange({ path, diff, sha, cell }: DiffChange): Operation {
  const checked = checkedPath(path)
  const [file, ...more] = readFiles(diff, `the diff of ${checked}`)
  if (file === undefined || more.length > 0) {
    throw new CausewayError('INVALID_DIFF', `the diff changes several files: ${checked}`, {
      remedy: 'send it as mode patch, or one entry for each file',
      data: { path: checked },
    })
  }
  const named = plainPaths(file)
  for (const name of new Set([named.from, named.to])) {
    if (name == null || [name, name.replace(/^[^/]\//, '')].some((one) => isSame(one, checked))) continue
    throw new CausewayError('PATH_MISMATCH', `the diff names ${name} and not ${checked}`, {
      data: { path: checked, named: name },
    })
  }
  const from = named.from === null ? null : checked
  const to = named.to === null ? null : checked
  return { ...ofFile({ ...file, isCopy: false }, { from, to }), sha, ...(cell === undefined ? {} : { cell }) }
}

const isSame = (name: string, checked: string): boolean => name.replace(/^\.\//, '') === checked

/** One file of a diff whose paths are known. */
function ofFile(file: FileDiff, { from, to }: Pick<FileDiff, 'from' | 'to'>): Operation & { type: 'diff' } {
  const name = to ?? from
  if (name == null) throw new CausewayError('INVALID_DIFF', 'a hunk of the patch stands under no file header')
  const path = checkedPath(name)
  if (file.isBinary)
    throw new CausewayError('BINARY_PATCH', `the patch changes bytes: ${path}`, { data: { path } })
  if (file.mode !== undefined && !/^100(644|755)$/.test(file.mode)) {
    const what =
      { '120000': 'a link', '160000': 'a repository' }[file.mode] ?? `something of mode ${file.mode}`
    throw new CausewayError('INVALID_PATH', `the patch makes ${what} of the path: ${path}`, {
      data: { path },
    })
  }
  const source = from == null ? path : checkedPath(from)
  const executable = file.mode === undefined ? {} : { executable: file.mode === '100755' }
  const effect = effectOf(file, { isNew: from === null, isGone: to === null, isSame: source === path })
  return { type: 'diff', path, from: source, effect, hunks: file.hunks, ...executable }
}

function effectOf(
  { isCopy }: FileDiff,
  { isNew, isGone, isSame }: { isNew: boolean; isGone: boolean; isSame: boolean },
): (Operation & { type: 'diff' })['effect'] {
  if (isGone) return 'delete'
  if (isNew) return 'create'
  if (isSame) return 'change'
  return isCopy ? 'copy' : 'rename'
}

/** Every path may be changed by one operation only, and none may be a folder of another. */
function refuseDuplicates(list: readonly Operation[]): void {
  const seen = new Set<string>()
  for (const operation of list) {
    const isRename = operation.type === 'diff' && operation.effect === 'rename'
    for (const path of isRename ? [operation.from, operation.path] : [operation.path]) {
      if (seen.has(path)) {
        throw new CausewayError('DUPLICATE_PATH', `the candidate names a path twice: ${path}`, {
          data: { path },
        })
      }
      seen.add(path)
    }
  }
  for (const path of seen) {
    const folder = [...path.matchAll(/\//g)]
      .map(({ index }) => path.slice(0, index))
      .find((one) => seen.has(one))
    if (folder === undefined) continue
    throw new CausewayError('INVALID_PATH', `a path is both file and folder: ${folder}`, {
      data: { path: folder },
    })
  }
}
