/** From what a client sent to files in memory: read, checked against what the session has seen, applied. */
import { CausewayError } from '@causeway/protocol'
import type { Critic } from './critic.ts'
import type { AppliedCandidate, Candidate, FilesBefore } from './domain/candidate/types.ts'
import { protectedPaths } from './domain/tamper.ts'
import type { SessionRow } from './rows.ts'
import { shaOf, staleFile } from './seen.ts'

/** A candidate that was applied in memory to the files as they are. */
export interface Proposal {
  readonly before: FilesBefore
  readonly applied: AppliedCandidate
}

/**
 * A candidate applied to the project as it is now; throws as the candidate's own checks do, `PROTECTED_FILE` and
 * `STALE_FILE`.
 */
export async function propose(critic: Critic, session: SessionRow, input: unknown): Promise<Proposal> {
  const { candidate, paths } = await critic.engine.call('read', input)
  const before = await critic.files(session.config.repo).read(paths)
  await refuseStale(critic, session, before, shasIn(candidate))
  const applied = await critic.engine.call('apply', { files: before, candidate })
  refuseProtected(session, [...applied.changes.keys()])
  return { before, applied }
}

function refuseProtected({ config }: SessionRow, changed: readonly string[]): void {
  const commands = config.signals.map(({ command }) => command)
  const paths = protectedPaths(changed, config.protect, commands)
  if (paths.length === 0) return
  throw new CausewayError('PROTECTED_FILE', `the session protects ${paths.join(', ')}`, { data: { paths } })
}

/** The states of files that a candidate says it was written for: path -> sha. */
function shasIn(candidate: Candidate): ReadonlyMap<string, string> {
  if (candidate.mode === 'patch') return new Map()
  const parts: readonly { readonly path: string; readonly sha?: string | undefined }[] =
    'files' in candidate ? candidate.files : candidate.changes
  return new Map(parts.flatMap(({ path, sha }) => (sha === undefined ? [] : [[path, sha] as const])))
}

/**
 * A file that is not as the candidate says is not what it was written for; nor, where it says nothing, one that the client
 * has read and that somebody else has changed since.
 */
async function refuseStale(
  critic: Critic,
  { id }: SessionRow,
  before: FilesBefore,
  said: ReadonlyMap<string, string>,
): Promise<void> {
  const seen = await critic.store.seen(id)
  for (const [path, now] of before) {
    const own = said.get(path)
    // One that is gone is told by what the candidate wants with it.
    const known = own ?? (now === undefined ? undefined : seen.get(path))
    if (known !== undefined && (now === undefined || shaOf(now) !== known))
      throw await staleFile(critic, id, { path, known, now })
  }
}
