import { CausewayError } from '@causeway/protocol'
import { editCell, editNotebook } from '../notebook/edit-notebook.ts'
import { isNotebook, readNotebook } from '../notebook/notebook.ts'
import { applyDiff } from './apply-diff.ts'
import { changedLines } from './changed-lines.ts'
import { editSpans, type TextEdit } from './edit-span.ts'
import { editedText, lineFeeds, written } from './edited-text.ts'
import { type Operation, operations, sourceOf } from './plan.ts'
import { syntaxError } from './syntax.ts'
import type {
  AppliedCandidate,
  ApplyOptions,
  Candidate,
  CandidateWarning,
  Edit,
  FileContent,
  FileReport,
  FilesBefore,
  HunkPlacement,
} from './types.ts'

/** What an operation made of its file. */
interface Outcome {
  readonly operation: Operation
  readonly before: FileContent | undefined
  readonly after: FileContent | null
  readonly hunks: readonly HunkPlacement[]
  readonly warnings: readonly CandidateWarning[]
}

/** Length of a whole file from which on edits would cost less, in UTF-16 units. */
const largeFile = 100_000

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
  const nothing: CandidateWarning = {
    code: 'NO_CHANGES',
    message: 'the candidate leaves every file as it is',
  }
  return {
    changes,
    report: {
      files: outcomes.map(reportOf),
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
  return [applied.text, rest]
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

function isEqual(before: FileContent | undefined, after: FileContent | null): boolean {
  if (typeof before === 'string' || typeof after === 'string') return before === after
  return before === undefined ? after === null : before === after
}

function reportOf({ operation, before, after }: Outcome): FileReport {
  const { path } = operation
  const isDiff = operation.type === 'diff'
  const isRename = isDiff && operation.effect === 'rename'
  const executable = isDiff && operation.executable !== undefined ? { executable: operation.executable } : {}
  const [linesRemoved, linesAdded] = changedLines(textOrNone(before), textOrNone(after))
  const kind = isRename ? 'renamed' : kindOf(before, after)
  return {
    path,
    kind,
    linesAdded,
    linesRemoved,
    ...executable,
    ...(isRename ? { from: operation.from } : {}),
  }
}

function kindOf(before: FileContent | undefined, after: FileContent | null): FileReport['kind'] {
  if (after === null) return 'deleted'
  if (before === undefined) return 'created'
  return isEqual(before, after) ? 'unchanged' : 'modified'
}

const textOrNone = (content: FileContent | null | undefined): string =>
  typeof content === 'string' ? lineFeeds(content) : ''

const fuzzWarnings = (hunks: readonly HunkPlacement[]): CandidateWarning[] =>
  hunks
    .filter(({ fuzz }) => fuzz > 0)
    .map(({ path, hunk, line, fuzz }) => ({
      code: 'FUZZY_HUNK',
      path,
      message: `hunk ${hunk} was placed at line ${line} although ${fuzz} of its context lines differ from the file`,
    }))

const staleWarnings = (path: string, cells: readonly number[]): CandidateWarning[] =>
  cells.map((cell) => ({
    code: 'STALE_OUTPUT',
    path,
    message: `the outputs of cell ${cell} are those of its source before`,
  }))

function sizeWarnings(path: string, content: string, before: FileContent | undefined): CandidateWarning[] {
  if (before === undefined || content.length < largeFile) return []
  return [
    { code: 'LARGE_FILE', path, message: 'the whole file was sent; mode modify or diff would cost less' },
  ]
}

/** Only what the candidate itself broke. */
function syntaxWarnings(
  path: string,
  before: FileContent | undefined,
  after: FileContent | null,
): CandidateWarning[] {
  if (typeof after !== 'string' || after === before) return []
  const found = syntaxError(path, after)
  if (found === undefined || (typeof before === 'string' && syntaxError(path, before))) return []
  return [{ code: 'SYNTAX', path, message: `line ${found.line} is no longer valid: ${found.reason}` }]
}
