import { TrmError } from '../../errors.ts'
import { stripPrefixes } from './diff-header.ts'
import { normalizePath } from './path.ts'
import type { Candidate, Edit } from './types.ts'
import { type FileDiff, type Hunk, readDiff } from './unified-diff.ts'

export interface Operation {
  readonly path: string
  /** Path of the original: the previous path of a renamed file, otherwise `path`. */
  readonly from: string
  readonly sha?: string | undefined
  /** The new value of the executable bit, if a patch changes it. */
  readonly isExecutable?: boolean | undefined
  readonly change: Change
}

type Change =
  | { readonly type: 'write'; readonly content: string; readonly mayExist: boolean }
  | { readonly type: 'delete' }
  | { readonly type: 'edit'; readonly edits: readonly Edit[] }
  | DiffChange

export interface DiffChange {
  readonly type: 'diff'
  readonly fileChange: 'create' | 'delete' | 'change'
  readonly hunks: readonly Hunk[]
}

const maxFiles = 100
/** Limited because each edit searches the text of its file. */
const maxEdits = 10_000
/** In UTF-16 units. */
const maxTextLength = 10_000_000

/** Returns at most one operation for each path. */
export function listOperations(candidate: Candidate): readonly Operation[] {
  const operations = toOperations(candidate)
  if (operations.length === 0) throw new TrmError('INVALID_CANDIDATE', 'the candidate names no file')
  if (operations.length > maxFiles)
    throw new TrmError(
      'FILE_TOO_LARGE',
      `the candidate names ${operations.length} files, more than ${maxFiles}`,
    )
  checkDuplicates(operations)
  return operations
}

function toOperations(candidate: Candidate): readonly Operation[] {
  switch (candidate.mode) {
    case 'files':
    case 'create':
      return candidate.files.map((file): Operation => {
        const { content = '', sha } = file
        const path = normalizePath(file.path)
        const fileFields = { path, from: path, sha }
        if ('delete' in file && file.delete === true) return { ...fileFields, change: { type: 'delete' } }
        checkLength(content, path)
        return { ...fileFields, change: { type: 'write', content, mayExist: candidate.mode === 'files' } }
      })
    case 'modify': {
      const editCount = candidate.changes.reduce((sum, change) => sum + change.edits.length, 0)
      if (editCount > maxEdits)
        throw new TrmError('FILE_TOO_LARGE', `the candidate has ${editCount} edits, more than ${maxEdits}`, {
          data: { edits: editCount, max: maxEdits },
        })
      return candidate.changes.map(({ path: givenPath, sha, edits }) => {
        const path = normalizePath(givenPath)
        return { path, from: path, sha, change: { type: 'edit', edits } }
      })
    }
    case 'diff':
      return candidate.changes.map(toDiffOperation)
    case 'patch':
      return readFiles(candidate.patch, 'the patch').map((file) => toOperation(file, stripPrefixes(file)))
  }
}

function checkLength(text: string, name: string): void {
  if (text.length > maxTextLength)
    throw new TrmError(
      'FILE_TOO_LARGE',
      `the text has ${text.length} characters, more than ${maxTextLength}: ${name}`,
    )
}

function readFiles(text: string, name: string): readonly FileDiff[] {
  checkLength(text, name)
  const files = readDiff(text).filter(
    ({ hunks, isBinary, isRename, mode, from, to }) =>
      hunks.length > 0 || isBinary || isRename || mode !== undefined || from === null || to === null,
  )
  if (files.length > 0) return files
  throw new TrmError('INVALID_DIFF', `${name} has no hunk`)
}

/** Uses the path of the change. The paths in the headers must match it. */
function toDiffOperation({
  path: givenPath,
  diff,
  sha,
}: Extract<Candidate, { mode: 'diff' }>['changes'][number]): Operation {
  const path = normalizePath(givenPath)
  const [file, ...otherFiles] = readFiles(diff, `the diff of ${path}`)
  if (file === undefined || otherFiles.length > 0)
    throw new TrmError('INVALID_DIFF', `the diff changes several files: ${path}`, {
      remedy: 'send it as mode patch, or one entry for each file',
      data: { path },
    })
  const { from, to } = stripPrefixes(file)
  const matchesPath = (name: string) =>
    [name, name.replace(/^[^/]\//, '')].some((variant) => variant.replace(/^\.\//, '') === path)
  for (const name of [from, to])
    if (name != null && !matchesPath(name))
      throw new TrmError('PATH_MISMATCH', `the diff names ${name} and not ${path}`, {
        data: { path, named: name },
      })
  const paths = { from: from === null ? null : path, to: to === null ? null : path }
  return { ...toOperation(file, paths), sha }
}

function toOperation(file: FileDiff, { from, to }: Pick<FileDiff, 'from' | 'to'>): Operation {
  const name = to ?? from
  if (name == null) throw new TrmError('INVALID_DIFF', 'the patch has a hunk without a file header')
  const path = normalizePath(name)
  if (file.isBinary)
    throw new TrmError('BINARY_PATCH', `the patch changes bytes: ${path}`, { data: { path } })
  checkMode(file.mode, path)
  return {
    path,
    from: from == null ? path : normalizePath(from),
    isExecutable: file.mode === undefined ? undefined : file.mode === '100755',
    change: {
      type: 'diff',
      fileChange: to === null ? 'delete' : from === null ? 'create' : 'change',
      hunks: file.hunks,
    },
  }
}

function checkMode(mode: string | undefined, path: string): void {
  if (mode === undefined || /^100(644|755)$/.test(mode)) return
  const kind = { '120000': 'a link', '160000': 'a repository' }[mode] ?? `an entry of mode ${mode}`
  throw new TrmError('INVALID_PATH', `the patch makes the path ${kind}: ${path}`, { data: { path } })
}

/** Rejects two operations on the same path, and a path that is a parent folder of another. */
function checkDuplicates(operations: readonly Operation[]): void {
  const seenPaths = new Set<string>()
  for (const { path: target, from } of operations) {
    for (const path of new Set([from, target])) {
      if (seenPaths.has(path))
        throw new TrmError('DUPLICATE_PATH', `the candidate names a path twice: ${path}`, { data: { path } })
      seenPaths.add(path)
    }
  }
  for (const path of seenPaths) {
    const parentFolders = [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index))
    const folder = parentFolders.find((parent) => seenPaths.has(parent))
    if (folder !== undefined)
      throw new TrmError('INVALID_PATH', `a path is both file and folder: ${folder}`, {
        data: { path: folder },
      })
  }
}
