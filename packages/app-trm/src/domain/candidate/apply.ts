import { CausewayError } from '@causeway/protocol'
import { TrmError } from '../../errors.ts'
import { applyDiff } from './apply-diff.ts'
import { placeEdits, type TextEdit } from './edit-span.ts'
import { parseText, replaceSpans, toLineFeeds } from './edited-text.ts'
import { LineComparison } from './line-diff.ts'
import { editCell, editNotebook, isNotebook, readNotebook } from './notebook.ts'
import { type DiffOperation, findSource, listOperations, type Operation } from './operations.ts'
import { findSyntaxError } from './syntax.ts'
import type {
  AppliedCandidate,
  Candidate,
  CandidateWarning,
  Edit,
  FileContent,
  FileReport,
  FilesBefore,
  HunkPlacement,
} from './types.ts'

/** Returns the sorted paths that `applyCandidate` needs. Throws the same errors. */
export function listPaths(candidate: Candidate): readonly string[] {
  const paths = listOperations(candidate).flatMap((operation) => [operation.path, findSource(operation)])
  return [...new Set(paths)].sort()
}

type Hash = (content: FileContent) => string

interface Outcome {
  readonly operation: Operation
  readonly before: FileContent | undefined
  readonly after: FileContent | null
  readonly hunks: readonly HunkPlacement[]
  readonly warnings: readonly CandidateWarning[]
}

type Effect = Partial<Pick<Outcome, 'hunks' | 'warnings'>> & { readonly after: FileContent | null }

/**
 * Applies a candidate to the files of `listPaths`, all or nothing. Throws a `CausewayError` for the first operation
 * that fails. Only candidates with `sha` require `hash`.
 */
export function applyCandidate(files: FilesBefore, candidate: Candidate, hash?: Hash): AppliedCandidate {
  const outcomes = listOperations(candidate).map((operation): Outcome => {
    checkHash(files, operation, hash)
    const before = files.get(findSource(operation))
    const { after, hunks = [], warnings = [] } = applyOperation(files, operation, before)
    return {
      operation,
      before,
      after,
      hunks,
      warnings: [...warnings, ...warnSyntax(operation.path, before, after)],
    }
  })
  const changes = new Map<string, FileContent | null>()
  for (const { operation, before, after } of outcomes) {
    const isRename = operation.type === 'diff' && operation.effect === 'rename'
    if (isRename) changes.set(operation.from, null)
    const hasMode = operation.type === 'diff' && operation.executable !== undefined
    if (isRename || hasMode || !isUnchanged(before, after)) changes.set(operation.path, after)
  }
  const warnings = outcomes.flatMap((outcome) => outcome.warnings)
  if (changes.size === 0)
    warnings.unshift({ code: 'NO_CHANGES', message: 'the candidate does not change any file' })
  const comparison = new LineComparison()
  return {
    changes,
    report: {
      files: outcomes.map((outcome) => createReport(outcome, comparison)),
      hunks: outcomes.flatMap(({ hunks }) => hunks),
      warnings,
    },
  }
}

function checkHash(files: FilesBefore, operation: Operation, hash: Hash | undefined): void {
  if (operation.sha === undefined || hash === undefined) return
  const path = findSource(operation)
  const content = files.get(path)
  const sha = content === undefined ? null : hash(content)
  if (sha === operation.sha) return
  const state = sha === null ? 'does not exist' : 'changed after it was read'
  throw new TrmError('STALE_FILE', `the file ${state}: ${path}`, {
    data: { path, sha, expected: operation.sha },
  })
}

function applyOperation(files: FilesBefore, operation: Operation, before: FileContent | undefined): Effect {
  const { path } = operation
  switch (operation.type) {
    case 'write': {
      const { content, mayExist } = operation
      if (before !== undefined && !mayExist) throw createError('FILE_EXISTS', 'the file exists', path)
      if (isNotebook(path)) readNotebook(path, content)
      const isLarge = before !== undefined && content.length >= largeFile
      const message = 'the whole file was sent; mode modify or diff would cost less'
      return { after: content, warnings: isLarge ? [{ code: 'LARGE_FILE', path, message }] : [] }
    }
    case 'delete':
      requireFile(before, path)
      return { after: null }
    case 'edit': {
      const text = requireText(before, path)
      if (!isNotebook(path)) return { after: editText(path, text, operation.edits) }
      return { after: editNotebook(path, text, operation.edits) }
    }
    case 'diff':
      return applyDiffOperation(files, operation)
  }
}

function applyDiffOperation(files: FilesBefore, operation: DiffOperation): Effect {
  const { path, from, effect, hunks, cell } = operation
  const before = files.get(from)
  const isMoved = effect === 'rename'
  const existing = files.get(path)
  // A diff that creates a file may start from an empty file.
  if (
    (effect === 'create' && existing !== undefined && existing !== '') ||
    (isMoved && existing !== undefined)
  )
    throw createError('FILE_EXISTS', 'the file exists', path)
  if (isMoved && hunks.length === 0) return { after: requireFile(before, from) }
  const text = effect === 'create' ? '' : requireText(before, from)
  if (cell !== undefined) {
    let placed: readonly HunkPlacement[] = []
    const after = editCell(path, text, cell, (source, name) => {
      const result = applyDiff(source, hunks, name)
      placed = result.hunks
      return result.text
    })
    return { after, hunks: placed, warnings: warnFuzz(placed) }
  }
  const applied = applyDiff(text, hunks, from)
  const report = { hunks: applied.hunks, warnings: warnFuzz(applied.hunks) }
  if (effect === 'delete') {
    if (applied.text === '') return { after: null, ...report }
    throw createError('HUNK_MISMATCH', 'the file contains more than the patch removes', path, {
      remedy: 'use mode files with delete: true to remove it regardless of its content',
    })
  }
  if (isNotebook(path)) readNotebook(path, applied.text)
  const isCrLf = effect === 'create' && hunks.every((hunk) => hunk.isCrLf)
  return { after: isCrLf ? applied.text.replaceAll('\n', '\r\n') : applied.text, ...report }
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
  const found = requireFile(content, path)
  if (typeof found === 'string') return found
  throw createError('NOT_TEXT', 'the file is not UTF-8 text', path)
}

function isUnchanged(before: FileContent | undefined, after: FileContent | null): boolean {
  if (typeof before === 'string' || typeof after === 'string') return before === after
  return before === undefined ? after === null : before === after
}

function createReport({ operation, before, after }: Outcome, comparison: LineComparison): FileReport {
  const isDiff = operation.type === 'diff'
  const isRename = isDiff && operation.effect === 'rename'
  const [linesRemoved, linesAdded] = comparison.count(toComparable(before), toComparable(after))
  const changed = before === undefined ? 'created' : isUnchanged(before, after) ? 'unchanged' : 'modified'
  return {
    path: operation.path,
    kind: isRename ? 'renamed' : after === null ? 'deleted' : changed,
    linesAdded,
    linesRemoved,
    ...(isDiff && operation.executable !== undefined ? { executable: operation.executable } : {}),
    ...(isRename ? { from: operation.from } : {}),
  }
}

const toComparable = (content: FileContent | null | undefined): string =>
  typeof content === 'string' ? toLineFeeds(content) : ''

/** Length of a whole file above which edits would cost less, in UTF-16 units. */
const largeFile = 100_000

const warnFuzz = (hunks: readonly HunkPlacement[]): CandidateWarning[] =>
  hunks
    .filter(({ fuzz }) => fuzz > 0)
    .map(({ path, hunk, line, fuzz }) => ({
      code: 'FUZZY_HUNK',
      path,
      message: `hunk ${hunk} was placed at line ${line} although ${fuzz} of its context lines differ from the file`,
    }))

function warnSyntax(
  path: string,
  before: FileContent | undefined,
  after: FileContent | null,
): CandidateWarning[] {
  if (typeof after !== 'string' || after === before) return []
  const found = findSyntaxError(path, after)
  if (found === undefined || (typeof before === 'string' && findSyntaxError(path, before))) return []
  const { line, reason, source } = found
  return [{ code: 'SYNTAX', path, message: `line ${line} is no longer valid: ${reason}`, source }]
}
