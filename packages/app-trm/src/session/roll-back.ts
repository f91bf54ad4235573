import { TrmError } from '../errors.ts'
import type { StepRow } from '../store/rows.ts'
import type { Critic } from './critic.ts'
import { recordOwnChanges } from './seen-files.ts'

/**
 * Restores the files that the candidate of a step changed, and ends the step. Files that the user edited stay; the landing
 * then remains, so that a reset can use it.
 */
export async function rollBack(
  { store, snapshots, log }: Pick<Critic, 'store' | 'snapshots' | 'log'>,
  step: StepRow,
  status: 'interrupted' | 'cancelled' | 'failed',
): Promise<void> {
  const landing = (await store.landings(step.session_id)).find(({ id }) => id === step.landing_id)
  let isRestored = true
  // Files that another program changed stay, and the next step records them again.
  if (landing !== undefined && landing.kind !== 'edit') {
    try {
      // A landing without a state after it was interrupted while it wrote the files.
      const options = landing.after === null ? { force: true } : { expected: landing.after }
      const { restored, deleted } = await snapshots.restore(landing.before, options)
      const session = await store.session(step.session_id)
      if (session !== undefined) await recordOwnChanges(store, session, [...restored, ...deleted])
    } catch (error) {
      if (!TrmError.is(error, 'USER_EDIT_CONFLICT') || landing.after === null) throw error
      isRestored = false
      const fields = { session: step.session_id, step: step.number }
      log.warn(fields, 'files were edited during the evaluation and are not restored')
    }
  }
  await store.abandonStep(step.id, status, isRestored)
}
