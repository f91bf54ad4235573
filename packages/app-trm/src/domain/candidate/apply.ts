import { CausewayError } from '@causeway/protocol'
import { editCell, editNotebook } from '../notebook/edit-notebook.ts'
import { isNotebook, readNotebook } from '../notebook/notebook.ts'
import { applyDiff } from './apply-diff.ts'
import { ChangedLineCounter } from './changed-lines.ts'
import { editSpans, type TextEdit } from './edit-span.ts'
import { editedText, written } from './edited-text.ts'
import { isEqual, type Outcome, reportOf } from './outcome.ts'
import { type Operation, operations, sourceOf } from './plan.ts'
import type {
  AppliedCandidate,
  ApplyOptions,
  Candidate,
  CandidateWarning,
  Edit,
  FileContent,
  FilesBefore,
  HunkPlacement,
} from './types.ts'
import { fuzzWarnings, sizeWarnings, staleWarnings, syntaxWarnings } from './warning.ts'

/** The paths that must be read before a candidate can be applied, sorted; throws as `applyCandidate` does. */
export function candidatePaths(candidate: Candidate): readonly string[] {
  const paths = operations(candidate).flatMap((operation) => [operation.path, sourceOf(operation)])
  return [...new Set(paths)].sort()
}

/**
 * Applies a candidate to the files that `candidatePaths` names. Pure; all or nothing: throws a `CausewayError` whose
 * code tells why the first refused part is refused, and changes nothing then.
 */
export function applyCandidate(
  files: FilesBefore,
  candidate: Candidate,
  { sha }: ApplyOptions = {},
): AppliedCandidate {
  const outcomes = operations(candidate).map((operation) => {
    refuseStale(files, operation, sha)
    return outcomeOf(files, operation)
  })
  const changes = new Map<string, FileContent | null>()
  for (const { operation, before, after } of outcomes) {
    const isRename = operation.type === 'diff' && operation.effect === 'rename'
    if (isRename) changes.set(operation.from, null)
    const isMarked = operation.type === 'diff' && operation.executable !== undefined
    if (isRename || isMarked || !isEqual(before, after)) changes.set(operation.path, after)
  }
  const warnings = outcomes.flatMap((outcome) => outcome.warnings)
  const counter = new ChangedLineCounter()
  const nothing: CandidateWarning = {
    code: 'NO_CHANGES',
    message: 'the candidate leaves every file as it is',
  }
  return {
    changes,
    report: {
      files: outcomes.map((outcome) => reportOf(outcome, counter)),
      hunks: outcomes.flatMap(({ hunks }) => hunks),
      warnings: changes.size === 0 ? [nothing, ...warnings] : warnings,
    },
  }
}

function refuseStale(files: FilesBefore, operation: Operation, sha: ApplyOptions['sha']): void {
  if (operation.sha === undefined || sha === undefined) return
  const path = sourceOf(operation)
  const content = files.get(path)
  const found = content === undefined ? null : sha(content)
  if (found === operation.sha) return
  const state = found === null ? 'does not exist' : 'has changed since it was read'
  throw new CausewayError('STALE_FILE', `the file ${state}: ${path}`, {
    data: { path, sha: found, expected: operation.sha },
  })
}

function outcomeOf(files: FilesBefore, operation: Operation): Outcome {
  const { path } = operation
  const before = files.get(sourceOf(operation))
  const done = (after: FileContent | null, more: Partial<Outcome> = {}): Outcome => ({
    operation,
    before: operation.type === 'diff' && operation.effect === 'copy' ? undefined : before,
    after,
    hunks: [],
    ...more,
    warnings: [...(more.warnings ?? []), ...syntaxWarnings(path, before, after)],
  })
  switch (operation.type) {
    case 'write': {
      if (before !== undefined && !operation.mayExist) throw refusal('FILE_EXISTS', 'the file exists', path)
      if (isNotebook(path)) readNotebook(path, operation.content)
      return done(operation.content, { warnings: sizeWarnings(path, operation.content, before) })
    }
    case 'delete':
      existing(before, path)
      return done(null)
    case 'edit': {
      const text = textOf(before, path)
      if (!isNotebook(path)) return done(editText(path, text, operation.edits))
      const { text: after, stale } = editNotebook(path, text, operation.edits)
      return done(after, { warnings: staleWarnings(path, stale) })
    }
    case 'diff':
      return done(...diffed(files, operation))
  }
}

/** The file after a diff, and how its hunks were placed. */
function diffed(
  files: FilesBefore,
  operation: Operation & { type: 'diff' },
): [FileContent | null, Pick<Outcome, 'hunks' | 'warnings'>] {
  const { path, from, effect, hunks, cell } = operation
  const before = files.get(from)
  const isElsewhere = effect === 'rename' || effect === 'copy'
  if (effect === 'create' || isElsewhere) {
    // An empty file is what a diff of a file to create starts from.
    const there = files.get(path)
    if (there !== undefined && (isElsewhere || there !== ''))
      throw refusal('FILE_EXISTS', 'the file exists', path)
  }
  if (isElsewhere && hunks.length === 0) return [existing(before, from), { hunks: [], warnings: [] }]
  const text = effect === 'create' ? '' : textOf(before, from)
  if (cell !== undefined) {
    const placed: HunkPlacement[] = []
    const edited = editCell(path, text, cell, (source, where) => {
      const result = applyDiff(source, hunks, where)
      placed.push(...result.hunks)
      return result.text
    })
    return [
      edited.text,
      { hunks: placed, warnings: [...staleWarnings(path, edited.stale), ...fuzzWarnings(placed)] },
    ]
  }
  const applied = applyDiff(text, hunks, from)
  const rest = { hunks: applied.hunks, warnings: fuzzWarnings(applied.hunks) }
  if (effect === 'delete') {
    if (applied.text === '') return [null, rest]
    throw refusal('HUNK_MISMATCH', 'the file holds more than the patch removes', path, {
      remedy: 'use mode files with delete: true to remove it whatever it holds',
    })
  }
  if (isNotebook(path)) readNotebook(path, applied.text)
  const isCrLf = effect === 'create' && hunks.every((hunk) => hunk.isCrLf)
  return [isCrLf ? applied.text.replaceAll('\n', '\r\n') : applied.text, rest]
}

function editText(path: string, text: string, edits: readonly Edit[]): string {
  const plain = edits.map((edit, index): TextEdit => {
    const isCell = edit.type === 'insertCell' || edit.type === 'replaceCell' || edit.type === 'deleteCell'
    if (!isCell && edit.cell === undefined) return edit
    throw new CausewayError(
      'INVALID_EDIT',
      `edit ${index + 1} names a cell of what is no notebook: ${path}`,
      {
        data: { path, edit: index + 1 },
      },
    )
  })
  const edited = editedText(text)
  return written(edited, editSpans(edited, plain, path))
}

const refusal = (
  code: 'FILE_EXISTS' | 'FILE_NOT_FOUND' | 'NOT_TEXT' | 'HUNK_MISMATCH',
  reason: string,
  path: string,
  { remedy }: { remedy?: string } = {},
): CausewayError =>
  new CausewayError(code, `${reason}: ${path}`, {
    data: { path },
    ...(remedy === undefined ? {} : { remedy }),
  })

function existing(content: FileContent | undefined, path: string): FileContent {
  if (content !== undefined) return content
  throw refusal('FILE_NOT_FOUND', 'there is no such file', path, {
    remedy: 'correct the path, or create the file with mode create or files',
  })
}

function textOf(content: FileContent | undefined, path: string): string {
  const found = existing(content, path)
  if (typeof found === 'string') return found
  throw refusal('NOT_TEXT', 'the file is not UTF-8 text', path)
}
