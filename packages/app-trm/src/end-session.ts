/** Ending a session: its rows say so, and its snapshots are given back. */
import type { Critic } from './critic.ts'
import { clearDesk } from './desk.ts'
import type { SessionRow } from './rows.ts'

/** Ends a session that evaluates nothing; the files of the project stay as they are. */
export async function endSession(
  { store, snapshots }: Pick<Critic, 'store' | 'snapshots'>,
  { id, rev, config }: SessionRow,
  { request, answer }: { readonly request: string; readonly answer: unknown },
): Promise<void> {
  const landings = await store.landings(id)
  await store.endSession({ id, rev }, request, answer)
  const ids = landings.flatMap(({ before, after }) => (after === null ? [before] : [before, after]))
  if (ids.length > 0) await snapshots.drop(...ids)
  await clearDesk(config)
}
