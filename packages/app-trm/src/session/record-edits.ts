/** Records what other programs, such as the user's editor, changed in a project since the session last looked. */
import type { SessionRow } from '../store/rows.ts'
import type { Critic } from './critic.ts'

/** The files of a project compared with the start of a session. */
export interface RecordedEdits {
  /** Files that another program changed since the last step, sorted. */
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
    if (finished.length === 0) return { edited: [], landing: null, changed: [] }
    const known = await snapshots.combine(finished)
    const changed = (await snapshots.entries(known)).map(({ path }) => path)
    await snapshots.drop(known)
    return { edited: [], landing: null, changed }
  }
  const known = await snapshots.combine([...finished, start])
  try {
    const edited = await snapshots.compare(config.repo, known)
    const changed = finished.length === 0 ? edited : await snapshots.compare(config.repo, start)
    if (edited.length === 0) return { edited, landing: null, changed }
    const before = await snapshots.select(known, edited)
    const landing = await store.beginLanding({ session_id: id, kind: 'edit', before })
    await store.finishLanding(landing, await snapshots.take(config.repo, edited))
    return { edited, landing, changed }
  } finally {
    await snapshots.drop(known)
  }
}
