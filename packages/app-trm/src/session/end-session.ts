import type { SessionRow, StoredRequest } from '../store/rows.ts'
import { removeWorkspace } from '../workspace/workspace.ts'
import type { Critic } from './critic.ts'

/** Ends a session without a running evaluation and removes its snapshots. The project files remain. */
export async function endSession(
  { store, snapshots }: Critic,
  { id, rev, config, start }: SessionRow,
  request: StoredRequest,
): Promise<void> {
  const landings = await store.listLandings(id)
  await store.endSession({ id, rev }, request)
  const ids = [...landings.flatMap(({ before, after }) => [before, after]), start].filter(
    (snapshotId) => snapshotId !== null,
  )
  snapshots.drop(...ids)
  await removeWorkspace(config)
}
