/** From what a client sent to files in memory: read, checked against what the session has seen, applied. */
import { createHash } from 'node:crypto'
import { CausewayError } from '@causeway/protocol'
import type { Critic } from './critic.ts'
import { applyCandidate, candidatePaths } from './domain/candidate/apply.ts'
import { readCandidate } from './domain/candidate/read-candidate.ts'
import type { FileContent, FilesBefore } from './domain/candidate/types.ts'
import type { Proposal } from './run-step.ts'
import type { SessionRow } from './store.ts'

/** SHA-256 of a file's bytes, hex: what `trm.read` tells and `sha` of a candidate means. */
export const shaOf = (content: FileContent): string => createHash('sha256').update(content).digest('hex')

/** A candidate applied to the project as it is now; throws as the candidate's own checks do, and `STALE_FILE`. */
export async function propose(critic: Critic, session: SessionRow, input: unknown): Promise<Proposal> {
  const candidate = readCandidate(input)
  const paths = candidatePaths(candidate)
  const before = await critic.files(session.config.repo).read(paths)
  const applied = applyCandidate(before, candidate, { sha: shaOf })
  await refuseStale(critic, session, before, [...applied.changes.keys()])
  return { before, applied }
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

/** What the session now knows of the files that it wrote itself. */
export async function sawOwn(
  { store, files }: Critic,
  { id, config }: SessionRow,
  paths: readonly string[],
): Promise<void> {
  const known = await store.seen(id)
  const own = paths.filter((path) => known.has(path))
  if (own.length === 0) return
  const now = await files(config.repo).read(own)
  await store.saw(
    id,
    new Map([...now].map(([path, content]) => [path, content === undefined ? '' : shaOf(content)])),
  )
}
