/** What was done as asked but looks unintended. */
import { syntaxError } from './syntax.ts'
import type { CandidateWarning, FileContent, HunkPlacement } from './types.ts'

/** Length of a whole file from which on edits would cost less, in UTF-16 units. */
const largeFile = 100_000

/** Hunks that were placed although context lines differ. */
export const fuzzWarnings = (hunks: readonly HunkPlacement[]): CandidateWarning[] =>
  hunks
    .filter(({ fuzz }) => fuzz > 0)
    .map(({ path, hunk, line, fuzz }) => ({
      code: 'FUZZY_HUNK',
      path,
      message: `hunk ${hunk} was placed at line ${line} although ${fuzz} of its context lines differ from the file`,
    }))

/** Cells whose outputs no longer belong to their source. */
export const staleWarnings = (path: string, cells: readonly number[]): CandidateWarning[] =>
  cells.map((cell) => ({
    code: 'STALE_OUTPUT',
    path,
    message: `the outputs of cell ${cell} are those of its source before`,
  }))

/** A large file that was sent whole although it was there. */
export function sizeWarnings(
  path: string,
  content: string,
  before: FileContent | undefined,
): CandidateWarning[] {
  if (before === undefined || content.length < largeFile) return []
  return [
    { code: 'LARGE_FILE', path, message: 'the whole file was sent; mode modify or diff would cost less' },
  ]
}

/** A file that can no longer be parsed; only what the candidate itself broke. */
export function syntaxWarnings(
  path: string,
  before: FileContent | undefined,
  after: FileContent | null,
): CandidateWarning[] {
  if (typeof after !== 'string' || after === before) return []
  const found = syntaxError(path, after)
  if (found === undefined || (typeof before === 'string' && syntaxError(path, before))) return []
  return [{ code: 'SYNTAX', path, message: `line ${found.line} is no longer valid: ${found.reason}` }]
}
