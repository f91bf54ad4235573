/** From what a client sent to files in memory: read, checked against what the session has seen, applied. */
import { CausewayError } from '@causeway/protocol'
import type { Critic } from './critic.ts'
import type { AppliedCandidate, FilesBefore } from './domain/candidate/types.ts'
import { protectedPaths } from './domain/tamper.ts'
import type { SessionRow } from './rows.ts'
import { shaOf } from './seen.ts'

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
  const applied = await critic.engine.call('apply', { files: before, candidate })
  refuseProtected(session, [...applied.changes.keys()])
  await refuseStale(critic, session, before, [...applied.changes.keys()])
  return { before, applied }
}

function refuseProtected({ config }: SessionRow, changed: readonly string[]): void {
  const commands = config.signals.map(({ command }) => command)
  const paths = protectedPaths(changed, config.protect, commands)
  if (paths.length === 0) return
  throw new CausewayError('PROTECTED_FILE', `the session protects ${paths.join(', ')}`, { data: { paths } })
}

/** A file that the client has read, and that somebody else has changed since, is not what the candidate was written for. */
async function refuseStale(
  { store }: Critic,
  { id }: SessionRow,
  before: FilesBefore,
  changed: readonly string[],
): Promise<void> {
  const seen = await store.seen(id)
  for (const path of changed) {
    const [known, content] = [seen.get(path), before.get(path)]
    if (known === undefined || content === undefined || shaOf(content) === known) continue
    throw new CausewayError('STALE_FILE', `the file has changed since it was read: ${path}`, {
      remedy: 'call trm.read for it again, then submit what fits it now',
      data: { path, read: known, now: shaOf(content) },
    })
  }
}
