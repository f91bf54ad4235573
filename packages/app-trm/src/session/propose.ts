import { removeRoots } from '../domain/candidate/path.ts'
import type { AppliedCandidate, CandidateWarning, OriginalFiles } from '../domain/candidate/types.ts'
import { TrmError } from '../errors.ts'
import { rejectsPython } from '../runner/python-syntax.ts'
import type { SessionRow } from '../store/rows.ts'
import { readFiles } from '../workspace/project-files.ts'
import type { Critic } from './critic.ts'
import { createStaleError, hashContent } from './seen-files.ts'

export interface Proposal extends AppliedCandidate {
  readonly before: OriginalFiles
}

/**
 * Applies a candidate in memory to the current project. Throws the errors of the candidate, `PROTECTED_FILE` and
 * `STALE_FILE`.
 */
export async function propose(critic: Critic, session: SessionRow, input: unknown): Promise<Proposal> {
  const { repo, project } = session.config
  const { candidate, paths, shas } = await critic.engine.call('read', removeRoots(input, [repo, project]))
  const before = await readFiles(repo, paths)
  await checkStale(critic, session, before, shas)
  const appliedCandidate = await critic.engine.call('apply', { files: before, candidate })
  await checkProtected(critic, session, [...appliedCandidate.changes.keys()])
  return { ...appliedCandidate, before, warnings: await confirmWarnings(appliedCandidate.warnings) }
}

/** Removes warnings about Python code that the interpreter accepts. */
async function confirmWarnings(warnings: readonly CandidateWarning[]): Promise<readonly CandidateWarning[]> {
  const confirmedWarnings = await Promise.all(
    warnings.map(async ({ source, ...warning }) =>
      source === undefined || (await rejectsPython(source)) ? [warning] : [],
    ),
  )
  return confirmedWarnings.flat()
}

async function checkProtected(
  { engine }: Critic,
  { config: { signals, protect: protection } }: SessionRow,
  changed: readonly string[],
): Promise<void> {
  const commands = signals.map(({ command }) => command)
  const paths = await engine.call('findProtected', { paths: changed, protection, commands })
  if (paths.length === 0) return
  throw new TrmError('PROTECTED_FILE', `the session protects ${paths.join(', ')}`, { data: { paths } })
}

/** Throws `STALE_FILE` if a file differs from the candidate's sha, or without a sha from what the client read. */
async function checkStale(
  critic: Critic,
  { id }: SessionRow,
  before: OriginalFiles,
  shas: ReadonlyMap<string, string>,
): Promise<void> {
  const seenHashes = await critic.store.readSeenHashes(id)
  for (const [path, currentContent] of before) {
    // A removed file without a sha is reported when the candidate is applied.
    const expectedHash = shas.get(path) ?? (currentContent === undefined ? undefined : seenHashes.get(path))
    if (
      expectedHash !== undefined &&
      (currentContent === undefined || hashContent(currentContent) !== expectedHash)
    )
      throw await createStaleError(critic, id, { path, expectedHash, currentContent })
  }
}
