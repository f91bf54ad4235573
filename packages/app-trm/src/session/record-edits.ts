import type { SessionRow } from '../store/rows.ts'
import type { Critic } from './critic.ts'

/** A project's files compared with the start of a session. */
export interface RecordedEdits {
  /** Files changed by another program since the last step, sorted. */
  readonly edited: readonly string[]
  /** The landing of these files; `null` without any. */
  readonly landing: number | null
  /** Files that differ from the start, sorted. */
  readonly changed: readonly string[]
}

/** Throws `SNAPSHOT_TOO_LARGE`. */
export async function recordEdits(
  { store, snapshots }: Critic,
  { id, config, start }: SessionRow,
): Promise<RecordedEdits> {
  const landings = await store.landings(id)
  const finished = landings.flatMap(({ after }) => after ?? []).reverse()
  if (start === null) {
    const known = finished.length === 0 ? [] : (await snapshots.combine(finished)).entries
    return { edited: [], landing: null, changed: known.map(({ path }) => path) }
  }
  const known = await snapshots.combine([...finished, start])
  const edited = await snapshots.compare(config.repo, known)
  const changed = finished.length === 0 ? edited : await snapshots.compare(config.repo, start)
  if (edited.length === 0) return { edited, landing: null, changed }
  const before = await snapshots.select(known, edited)
  const landing = await store.beginLanding({ session_id: id, kind: 'edit', before })
  await store.finishLanding(landing, await snapshots.take(config.repo, edited))
  return { edited, landing, changed }
}
