import { TrmError } from '../errors.ts'
import type { StepRow } from '../store/rows.ts'
import type { Critic } from './critic.ts'
import { recordSessionChanges } from './seen-files.ts'

/**
 * Restores the files that a step's candidate changed, and ends the step. Files that the user edited remain unchanged,
 * and the landing remains for a reset.
 */
export async function rollBack(
  { store, snapshots, log }: Pick<Critic, 'store' | 'snapshots' | 'log'>,
  step: StepRow,
  status: 'interrupted' | 'cancelled' | 'failed',
): Promise<void> {
  const landing = (await store.listLandings(step.session_id)).find(({ id }) => id === step.landing_id)
  let isRestored = true
  // Edits by another program are not rolled back. The next step records them again.
  if (landing !== undefined && landing.kind !== 'edit') {
    try {
      // If `after` is missing, the landing was interrupted while it wrote files.
      const options = landing.after === null ? { force: true } : { expected: landing.after }
      const { restored, deleted } = await snapshots.restore(landing.before, options)
      const session = await store.findSession(step.session_id)
      if (session !== undefined) await recordSessionChanges(store, session, [...restored, ...deleted])
    } catch (error) {
      if (!TrmError.is(error, 'USER_EDIT_CONFLICT') || landing.after === null) throw error
      isRestored = false
      const fields = { session: step.session_id, step: step.number }
      log.warn(fields, 'files were edited during the evaluation and are not restored')
    }
  }
  await store.abandonStep(step.id, status, isRestored)
}
