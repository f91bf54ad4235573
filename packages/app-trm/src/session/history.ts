/** Undo, restore and reset. They write only files that the session changed. */
import { CausewayError } from '@causeway/protocol'
import { createStanding, readAverage, roundScore, type Standing } from '../domain/evaluation/score.ts'
import { TrmError } from '../errors.ts'
import { type LandingRow, listLiveSteps, type SessionRow, type StepRow } from '../store/rows.ts'
import type { Critic } from './critic.ts'
import { recordSessionChanges } from './seen-files.ts'

interface Destination {
  readonly kind: LandingRow['kind']
  /** Ids of snapshots. A path is restored from the first snapshot that contains it. */
  readonly targets: readonly string[]
  readonly standing: Standing
  readonly liveStepIds: readonly number[]
}

/** Throws `NOTHING_TO_UNDO`. */
export async function findUndoDestination({ store }: Critic, { id: sid }: SessionRow): Promise<Destination> {
  const liveSteps = listLiveSteps(await store.listSteps(sid))
  const lastStep = liveSteps.at(-1)
  if (lastStep === undefined)
    throw new CausewayError('NOTHING_TO_UNDO', `the session has no candidate to undo: ${sid}`, {
      remedy: 'submit one first',
      data: { sid },
    })
  const landing = (await store.listLandings(sid)).find(({ id }) => id === lastStep.landing_id)
  return {
    kind: 'undo',
    targets: landing === undefined ? [] : [landing.before],
    standing: lastStep.standing_before,
    liveStepIds: liveSteps.slice(0, -1).map(({ id }) => id),
  }
}

/** Throws `CHECKPOINT_NOT_FOUND`. */
export async function findCheckpointDestination(
  { store }: Critic,
  { id: sid }: SessionRow,
  cid: string,
): Promise<Destination> {
  const checkpoints = await store.listCheckpoints(sid)
  const checkpoint = cid === 'latest' ? checkpoints.at(-1) : checkpoints.find(({ id }) => id === cid)
  if (checkpoint === undefined)
    throw new TrmError('CHECKPOINT_NOT_FOUND', `the session has no checkpoint ${cid}`, {
      data: { sid, checkpoints: checkpoints.map(({ id }) => id) },
    })
  const { standing, live: liveStepIds, landing_id } = checkpoint
  return {
    kind: 'restore',
    targets: listTarget(await store.listLandings(sid), landing_id),
    standing,
    liveStepIds,
  }
}

export async function findResetDestination({ store }: Critic, { id }: SessionRow): Promise<Destination> {
  const steps = await store.listSteps(id)
  const landings = listOwnLandings(await store.listLandings(id), steps)
  const firstStep = steps.find(({ kind }) => kind !== 'baseline') ?? steps[0]
  return {
    kind: 'reset',
    targets: landings.map(({ before }) => before),
    standing: { ...(firstStep?.standing_before ?? createStanding('')), step: 0 },
    liveStepIds: [],
  }
}

interface RevertRequest {
  readonly request: string
  /** Whether to overwrite files edited after the session wrote them. */
  readonly force: boolean
  /** `Undone`, `Restored` or `Reset`. */
  readonly outcome: string
}

/** Restores files, scores and steps, and returns the result of the call. Throws `USER_EDIT_CONFLICT`. */
export async function revert(
  critic: Critic,
  session: SessionRow,
  destination: Destination,
  { request, force, outcome }: RevertRequest,
) {
  const { standing, liveStepIds } = destination
  const filesRestored = await restoreFiles(critic, session, { ...destination, force })
  const writtenText = filesRestored.length === 0 ? 'No file changed' : `Written: ${filesRestored.join(', ')}`
  const result = {
    message: `${outcome}; now at step ${standing.step}`,
    currentStep: standing.step,
    score: standing.best_score,
    emaScore: readAverage(standing),
    filesRestored,
    summary: `${outcome}: step ${standing.step}, best score ${roundScore(standing.best_score)}. ${writtenText}.`,
  }
  const change = { id: session.id, rev: session.rev, standing, status: 'active' } as const
  await critic.store.revert(change, liveStepIds, { id: request, answer: result })
  critic.notifyChanged(session.id)
  return result
}

/** Does not change steps or scores. Throws `USER_EDIT_CONFLICT`. */
export async function restoreBestFiles(
  critic: Critic,
  session: SessionRow,
  force: boolean,
): Promise<readonly string[]> {
  const bestStep = session.standing.best_step
  const liveSteps = listLiveSteps(await critic.store.listSteps(session.id))
  const steps = liveSteps.filter(({ number }) => bestStep !== null && number <= bestStep)
  const lastLanding = Math.max(0, ...steps.map(({ landing_id }) => landing_id ?? 0))
  const landings = await critic.store.listLandings(session.id)
  return restoreFiles(critic, session, { kind: 'best', targets: listTarget(landings, lastLanding), force })
}

type FinishedLanding = LandingRow & { readonly after: string }

const isFinished = (landing: LandingRow): landing is FinishedLanding => landing.after !== null

function listTarget(landings: readonly LandingRow[], lastLanding: number): readonly string[] {
  const finishedLandings = landings.filter(isFinished)
  const earlierLandings = finishedLandings.filter(({ id }) => id <= lastLanding)
  const laterLandings = finishedLandings.filter(({ id }) => id > lastLanding)
  return [
    ...earlierLandings.map(({ after }) => after).reverse(),
    ...laterLandings.map(({ before }) => before),
  ]
}

/** Returns the session's landings. They include another program's edits if a step evaluated them as its candidate. */
function listOwnLandings(landings: readonly LandingRow[], steps: readonly StepRow[]): readonly LandingRow[] {
  const submittedLandingIds = new Set(
    steps.filter(({ status }) => status === 'done').map(({ landing_id }) => landing_id),
  )
  return landings.filter(({ id, kind }) => kind !== 'edit' || submittedLandingIds.has(id))
}

async function restoreFiles(
  { store, snapshots }: Critic,
  session: SessionRow,
  { kind, targets, force }: Pick<Destination, 'kind' | 'targets'> & { readonly force: boolean },
): Promise<readonly string[]> {
  const { id, config } = session
  if (targets.length === 0) return []
  const landings = listOwnLandings(await store.listLandings(id), await store.listSteps(id))
  if (landings.length === 0) return []
  const targetManifest = await snapshots.combine(targets)
  const ownManifest = await snapshots.combine(landings.map(({ before }) => before))
  const afterSnapshots = landings.filter(isFinished).map((landing) => landing.after)
  const expected = await snapshots.combine([
    ...afterSnapshots.reverse(),
    ...landings.map(({ before }) => before),
  ])
  // Skips files that only the user changed.
  const ownPaths = new Set(ownManifest.entries.map(({ path }) => path))
  const paths = targetManifest.entries.map(({ path }) => path).filter((path) => ownPaths.has(path))
  const before = await snapshots.take(config.repo, paths)
  const report = await snapshots.restore(targetManifest, { expected, force, paths }).catch((error) => {
    snapshots.drop(before)
    throw error
  })
  const landing = store.beginLanding({ session_id: id, kind, before })
  await store.finishLanding(landing, await snapshots.take(config.repo, paths))
  await recordSessionChanges(store, session, paths)
  return [...report.restored, ...report.deleted].sort()
}
