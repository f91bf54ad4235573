/** Undo, restore and reset. They write only files that the session changed. */
import { CausewayError } from '@causeway/protocol'
import { createStanding, readAverage, roundScore, type Standing } from '../domain/evaluation/score.ts'
import { TrmError } from '../errors.ts'
import { type LandingRow, listLiveSteps, type SessionRow, type StepRow } from '../store/rows.ts'
import type { Critic } from './critic.ts'
import { recordOwnChanges } from './seen-files.ts'

interface Destination {
  readonly kind: LandingRow['kind']
  /** Ids of snapshots. A path is restored from the first snapshot that contains it. */
  readonly target: readonly string[]
  readonly standing: Standing
  readonly live: readonly number[]
}

/** Throws `NOTHING_TO_UNDO`. */
export async function findBeforeLast({ store }: Critic, { id: sid }: SessionRow): Promise<Destination> {
  const live = listLiveSteps(await store.steps(sid))
  const last = live.at(-1)
  if (last === undefined)
    throw new CausewayError('NOTHING_TO_UNDO', `the session has no candidate to undo: ${sid}`, {
      remedy: 'submit one first',
      data: { sid },
    })
  const landing = (await store.landings(sid)).find(({ id }) => id === last.landing_id)
  return {
    kind: 'undo',
    target: landing === undefined ? [] : [landing.before],
    standing: last.standing_before,
    live: live.slice(0, -1).map(({ id }) => id),
  }
}

/** Throws `CHECKPOINT_NOT_FOUND`. */
export async function findCheckpoint(
  { store }: Critic,
  { id: sid }: SessionRow,
  cid: string,
): Promise<Destination> {
  const checkpoints = await store.checkpoints(sid)
  const found = cid === 'latest' ? checkpoints.at(-1) : checkpoints.find(({ id }) => id === cid)
  if (found === undefined)
    throw new TrmError('CHECKPOINT_NOT_FOUND', `the session has no checkpoint ${cid}`, {
      data: { sid, checkpoints: checkpoints.map(({ id }) => id) },
    })
  const { standing, live, landing_id } = found
  return { kind: 'restore', target: listTarget(await store.landings(sid), landing_id), standing, live }
}

export async function findStart({ store }: Critic, { id }: SessionRow): Promise<Destination> {
  const steps = await store.steps(id)
  const landings = listOwn(await store.landings(id), steps)
  const first = steps.find(({ kind }) => kind !== 'baseline') ?? steps[0]
  return {
    kind: 'reset',
    target: landings.map(({ before }) => before),
    standing: { ...(first?.standing_before ?? createStanding('')), step: 0 },
    live: [],
  }
}

interface RevertRequest {
  readonly request: string
  /** Whether to overwrite files edited after the session wrote them. */
  readonly force: boolean
  /** `Undone`, `Restored` or `Reset`. */
  readonly done: string
}

/** Restores files, scores and steps, and returns the result of the call. Throws `USER_EDIT_CONFLICT`. */
export async function revert(
  critic: Critic,
  session: SessionRow,
  destination: Destination,
  { request, force, done }: RevertRequest,
) {
  const { standing, live } = destination
  const filesRestored = await restoreFiles(critic, session, { ...destination, force })
  const written = filesRestored.length === 0 ? 'No file changed' : `Written: ${filesRestored.join(', ')}`
  const result = {
    message: `${done}; now at step ${standing.step}`,
    currentStep: standing.step,
    score: standing.best_score,
    emaScore: readAverage(standing),
    filesRestored,
    summary: `${done}: step ${standing.step}, best score ${roundScore(standing.best_score)}. ${written}.`,
  }
  const change = { id: session.id, rev: session.rev, standing, status: 'active' } as const
  await critic.store.revert(change, live, { id: request, answer: result })
  critic.notifyChanged(session.id)
  return result
}

/** Does not change steps or scores. Throws `USER_EDIT_CONFLICT`. */
export async function restoreBestFiles(
  critic: Critic,
  session: SessionRow,
  force: boolean,
): Promise<readonly string[]> {
  const best = session.standing.best_step
  const live = listLiveSteps(await critic.store.steps(session.id))
  const steps = live.filter(({ number }) => best !== null && number <= best)
  const lastLanding = Math.max(0, ...steps.map(({ landing_id }) => landing_id ?? 0))
  const landings = await critic.store.landings(session.id)
  return restoreFiles(critic, session, { kind: 'best', target: listTarget(landings, lastLanding), force })
}

type FinishedLanding = LandingRow & { readonly after: string }

const isFinished = (landing: LandingRow): landing is FinishedLanding => landing.after !== null

function listTarget(landings: readonly LandingRow[], lastLanding: number): readonly string[] {
  const finished = landings.filter(isFinished)
  const earlier = finished.filter(({ id }) => id <= lastLanding)
  const later = finished.filter(({ id }) => id > lastLanding)
  return [...earlier.map(({ after }) => after).reverse(), ...later.map(({ before }) => before)]
}

/** Returns the session's landings. They include another program's edits if a step evaluated them as its candidate. */
function listOwn(landings: readonly LandingRow[], steps: readonly StepRow[]): readonly LandingRow[] {
  const submitted = new Set(
    steps.filter(({ status }) => status === 'done').map(({ landing_id }) => landing_id),
  )
  return landings.filter(({ id, kind }) => kind !== 'edit' || submitted.has(id))
}

async function restoreFiles(
  { store, snapshots }: Critic,
  session: SessionRow,
  { kind, target, force }: Pick<Destination, 'kind' | 'target'> & { readonly force: boolean },
): Promise<readonly string[]> {
  const { id, config } = session
  if (target.length === 0) return []
  const landings = listOwn(await store.landings(id), await store.steps(id))
  if (landings.length === 0) return []
  const wanted = await snapshots.combine(target)
  const own = await snapshots.combine(landings.map(({ before }) => before))
  const after = landings.filter(isFinished).map((landing) => landing.after)
  const expected = await snapshots.combine([...after.reverse(), ...landings.map(({ before }) => before)])
  // Skips files that only the user changed.
  const ownPaths = new Set(own.entries.map(({ path }) => path))
  const paths = wanted.entries.map(({ path }) => path).filter((path) => ownPaths.has(path))
  const before = await snapshots.take(config.repo, paths)
  const report = await snapshots.restore(wanted, { expected, force, paths }).catch((error) => {
    snapshots.drop(before)
    throw error
  })
  const landing = await store.beginLanding({ session_id: id, kind, before })
  await store.finishLanding(landing, await snapshots.take(config.repo, paths))
  await recordOwnChanges(store, session, paths)
  return [...report.restored, ...report.deleted].sort()
}
