/** Giving the user's files back after an evaluation that came to nothing. */
import type { Log } from '@causeway/app-kit'
import { isCausewayError } from '@causeway/protocol'
import type { StepRow } from './rows.ts'
import { type SeenParts, sawOwn } from './seen.ts'
import type { Snapshots } from './snapshot/types.ts'

/** What it takes. */
export interface BackParts extends SeenParts {
  readonly snapshots: Snapshots
  readonly log: Log
}

/**
 * Puts back what the candidate of a step changed, and closes the step. Files that the user has edited meanwhile stay
 * as they are: then the landing stays on record, so that a reset still knows of it.
 */
export async function takeBack(
  parts: BackParts,
  step: StepRow,
  status: 'interrupted' | 'cancelled' | 'failed',
): Promise<void> {
  const { store, snapshots, log } = parts
  const landing = (await store.landings(step.session_id)).find(({ id }) => id === step.landing_id)
  let isBack = true
  if (landing !== undefined) {
    try {
      // Without a state after it the writing itself was cut off: nobody else has seen these files.
      const options = landing.after === null ? { force: true } : { expected: landing.after }
      const { restored, deleted } = await snapshots.restore(landing.before, options)
      const session = await store.session(step.session_id)
      if (session !== undefined)
        await sawOwn(parts, { id: session.id, repo: session.config.repo }, [...restored, ...deleted])
    } catch (error) {
      if (!isCausewayError(error) || error.code !== 'USER_EDIT_CONFLICT') throw error
      isBack = false
      if (landing.after === null) throw error
      log.warn(
        { session: step.session_id, step: step.number },
        'files were edited meanwhile and are left as they are',
      )
    }
  }
  await store.abandonStep(step.id, status, isBack)
}
