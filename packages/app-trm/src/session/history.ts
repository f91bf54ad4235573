/** Undo, restore and reset write only files that the session changed. */
import { CausewayError } from '@causeway/protocol'
import { createStanding, type Standing } from '../domain/evaluation/score.ts'
import {
  type CheckpointRow,
  type LandingRow,
  listLiveSteps,
  type SessionRow,
  type StepRow,
} from '../store/rows.ts'
import type { Critic } from './critic.ts'
import { recordOwnChanges } from './seen-files.ts'

export interface Reverted {
  readonly standing: Standing
  readonly filesRestored: readonly string[]
}

export interface RevertRequest {
  readonly request: string
  /** Overwrites files edited after the session wrote them. */
  readonly force: boolean
  /** Creates the result of a repeated request. */
  answer(reverted: Reverted): unknown
}

/** Undoes the last candidate. Throws `NOTHING_TO_UNDO`, `USER_EDIT_CONFLICT`. */
export async function undo(critic: Critic, session: SessionRow, request: RevertRequest): Promise<Reverted> {
  const { store } = critic
  const live = listLiveSteps(await store.steps(session.id))
  const last = live.at(-1)
  if (last === undefined)
    throw new CausewayError('NOTHING_TO_UNDO', `the session has no candidate to undo: ${session.id}`, {
      remedy: 'submit one first',
      data: { sid: session.id },
    })
  const landing = (await store.landings(session.id)).find(({ id }) => id === last.landing_id)
  return revert(critic, session, {
    ...request,
    kind: 'undo',
    target: landing === undefined ? [] : [landing.before],
    standing: last.standing_before,
    live: live.slice(0, -1).map(({ id }) => id),
  })
}

export async function restore(
  critic: Critic,
  session: SessionRow,
  { checkpoint, ...request }: RevertRequest & { readonly checkpoint: CheckpointRow },
): Promise<Reverted> {
  const landings = await critic.store.landings(session.id)
  return revert(critic, session, {
    ...request,
    kind: 'restore',
    target: listTarget(landings, checkpoint.landing_id),
    standing: checkpoint.standing,
    live: checkpoint.live,
  })
}

/** Other changes of the user remain. */
export async function reset(critic: Critic, session: SessionRow, request: RevertRequest): Promise<Reverted> {
  const steps = await critic.store.steps(session.id)
  const landings = listOwn(await critic.store.landings(session.id), steps)
  const first = steps.find(({ kind }) => kind !== 'baseline') ?? steps[0]
  return revert(critic, session, {
    ...request,
    kind: 'reset',
    target: landings.map(({ before }) => before),
    standing: { ...(first?.standing_before ?? createStanding('')), step: 0 },
    live: [],
  })
}

/**
 * Restores the files of the best step and returns their paths; steps and scores remain. Throws `USER_EDIT_CONFLICT`.
 */
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

/** Returns the snapshots of the state after a landing: for each path, the first that contains it counts. */
function listTarget(landings: readonly LandingRow[], lastLanding: number): readonly string[] {
  const finished = landings.filter(isFinished)
  const earlier = finished.filter(({ id }) => id <= lastLanding)
  const later = finished.filter(({ id }) => id > lastLanding)
  return [...earlier.map(({ after }) => after).reverse(), ...later.map(({ before }) => before)]
}

/** Returns the session's landings. Another program's edits belong to it if a step evaluated them as its candidate. */
function listOwn(landings: readonly LandingRow[], steps: readonly StepRow[]): readonly LandingRow[] {
  const submitted = new Set(
    steps.filter(({ status }) => status === 'done').map(({ landing_id }) => landing_id),
  )
  return landings.filter(({ id, kind }) => kind !== 'edit' || submitted.has(id))
}

interface Target {
  readonly kind: LandingRow['kind']
  readonly target: readonly string[]
  readonly force: boolean
}

interface Destination extends RevertRequest, Target {
  readonly standing: Standing
  readonly live: readonly number[]
}

async function revert(critic: Critic, session: SessionRow, destination: Destination): Promise<Reverted> {
  const { standing, live, request, answer } = destination
  const filesRestored = await restoreFiles(critic, session, destination)
  const reverted = { standing, filesRestored }
  const change = { id: session.id, rev: session.rev, standing, status: 'active' } as const
  await critic.store.revert(change, live, { id: request, answer: answer(reverted) })
  critic.notifyChanged(session.id)
  return reverted
}

/** Writes files of snapshots to the project and records a landing. */
async function restoreFiles(
  { store, snapshots }: Critic,
  session: SessionRow,
  { kind, target, force }: Target,
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
