import { CausewayError } from '@causeway/protocol'
import { TrmError } from '../../errors.ts'
import { applyDiff } from './apply-diff.ts'
import { placeEdits, type TextEdit } from './edit-span.ts'
import { parseText, replaceSpans } from './edited-text.ts'
import { editNotebook, isNotebook, readNotebook } from './notebook.ts'
import { type DiffChange, listOperations, type Operation } from './operations.ts'
import { findSyntaxError } from './syntax.ts'
import {
  type AppliedCandidate,
  type Candidate,
  type CandidateWarning,
  type Edit,
  type FileContent,
  isSameContent,
  type OriginalFiles,
} from './types.ts'

/**
 * Returns the sorted paths that `applyCandidate` requires, and the candidate's SHA-256 values by path. Throws if the
 * candidate is invalid.
 */
export function listSources(candidate: Candidate) {
  const operations = listOperations(candidate)
  return {
    paths: [...new Set(operations.flatMap(({ path, from }) => [path, from]))].sort(),
    shas: new Map(operations.flatMap(({ from, sha }) => (sha === undefined ? [] : [[from, sha] as const]))),
  }
}

/** Applies a candidate to the files that `listSources` names. Throws the error of the first operation that fails. */
export function applyCandidate(files: OriginalFiles, candidate: Candidate): AppliedCandidate {
  const changes = new Map<string, FileContent | null>()
  const previousPaths = new Map<string, string>()
  const executableBits = new Map<string, boolean>()
  const warnings: CandidateWarning[] = []
  for (const operation of listOperations(candidate)) {
    const { path, from } = operation
    const before = files.get(from)
    const { after, warnings: operationWarnings = [] } = applyOperation(files, operation, before)
    warnings.push(...operationWarnings, ...createSyntaxWarnings(path, before, after))
    if (from !== path) {
      changes.set(from, null)
      previousPaths.set(path, from)
    }
    if (operation.isExecutable !== undefined) executableBits.set(path, operation.isExecutable)
    if (previousPaths.has(path) || executableBits.has(path) || !isSameContent(before, after ?? undefined))
      changes.set(path, after)
  }
  if (changes.size === 0)
    warnings.unshift({ code: 'NO_CHANGES', message: 'the candidate does not change any file' })
  return { changes, previousPaths, executableBits, warnings }
}

interface Effect {
  /** `null` for a removed file. */
  readonly after: FileContent | null
  readonly warnings?: readonly CandidateWarning[]
}

function applyOperation(files: OriginalFiles, operation: Operation, before: FileContent | undefined): Effect {
  const { path, change } = operation
  switch (change.type) {
    case 'write': {
      const { content, mayExist } = change
      if (before !== undefined && !mayExist) throw createError('FILE_EXISTS', 'the file exists', path)
      if (isNotebook(path)) readNotebook(path, content)
      const isLarge = before !== undefined && content.length >= largeFileLength
      const message = 'the whole file was sent; mode modify or diff would cost less'
      return { after: content, warnings: isLarge ? [{ code: 'LARGE_FILE', path, message }] : [] }
    }
    case 'delete':
      requireFile(before, path)
      return { after: null }
    case 'edit': {
      const text = requireText(before, path)
      if (!isNotebook(path)) return { after: editText(path, text, change.edits) }
      return { after: editNotebook(path, text, change.edits) }
    }
    case 'diff':
      return applyDiffChange(files, operation, change)
  }
}

function applyDiffChange(
  files: OriginalFiles,
  { path, from }: Operation,
  { fileChange, hunks }: DiffChange,
): Effect {
  const isMoved = from !== path
  const existing = files.get(path)
  // A diff may create a file that exists but is empty.
  if (
    (fileChange === 'create' && existing !== undefined && existing !== '') ||
    (isMoved && existing !== undefined)
  )
    throw createError('FILE_EXISTS', 'the file exists', path)
  if (isMoved && hunks.length === 0) return { after: requireFile(files.get(from), from) }
  const text = fileChange === 'create' ? '' : requireText(files.get(from), from)
  const { text: after, warnings } = applyDiff(text, hunks, from)
  if (fileChange === 'delete') {
    if (after === '') return { after: null, warnings }
    throw createError('HUNK_MISMATCH', 'the file contains more than the patch removes', path, {
      remedy: 'use mode files with delete: true to remove it regardless of its content',
    })
  }
  if (isNotebook(path)) readNotebook(path, after)
  const isCrLf = fileChange === 'create' && hunks.every((hunk) => hunk.isCrLf)
  return { after: isCrLf ? after.replaceAll('\n', '\r\n') : after, warnings }
}

function editText(path: string, text: string, edits: readonly Edit[]): string {
  const textEdits = edits.map((edit, index): TextEdit => {
    const isCell = edit.type === 'insertCell' || edit.type === 'replaceCell' || edit.type === 'deleteCell'
    if (!isCell && edit.cell === undefined) return edit
    throw new TrmError(
      'INVALID_EDIT',
      `edit ${index + 1} names a cell, and the file is not a notebook: ${path}`,
      {
        data: { path, edit: index + 1 },
      },
    )
  })
  const parsed = parseText(text)
  return replaceSpans(parsed, placeEdits(parsed, textEdits, path))
}

const createError = (
  code: 'FILE_EXISTS' | 'NOT_TEXT' | 'HUNK_MISMATCH',
  reason: string,
  path: string,
  { remedy }: { remedy?: string } = {},
): CausewayError =>
  new TrmError(code, `${reason}: ${path}`, { data: { path }, ...(remedy === undefined ? {} : { remedy }) })

function requireFile(content: FileContent | undefined, path: string): FileContent {
  if (content !== undefined) return content
  throw new CausewayError('FILE_NOT_FOUND', `file not found: ${path}`, {
    data: { path },
    remedy: 'correct the path, or create the file with mode create or files',
  })
}

function requireText(content: FileContent | undefined, path: string): string {
  const file = requireFile(content, path)
  if (typeof file === 'string') return file
  throw createError('NOT_TEXT', 'the file is not UTF-8 text', path)
}

/** Minimum length in UTF-16 units at which replacing a whole file causes a warning. */
const largeFileLength = 100_000

function createSyntaxWarnings(
  path: string,
  before: FileContent | undefined,
  after: FileContent | null,
): CandidateWarning[] {
  if (typeof after !== 'string' || after === before) return []
  const syntaxError = findSyntaxError(path, after)
  if (syntaxError === undefined || (typeof before === 'string' && findSyntaxError(path, before))) return []
  const { line, reason, source } = syntaxError
  return [{ code: 'SYNTAX', path, message: `line ${line} is no longer valid: ${reason}`, source }]
}
