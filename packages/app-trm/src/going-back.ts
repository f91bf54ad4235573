/** Going back: to before a candidate, to a checkpoint, to the beginning. Only files of the session are written. */
import { CausewayError } from '@causeway/protocol'
import { type Critic, liveSteps } from './critic.ts'
import { freshStanding, type Standing } from './domain/score.ts'
import type { CheckpointRow, LandingRow, SessionRow } from './rows.ts'
import { sawOwn } from './seen.ts'

/** Where a session came back to. */
export interface WentBack {
  readonly standing: Standing
  readonly filesRestored: readonly string[]
}

/** How a caller goes back. */
export interface BackRequest {
  readonly request: string
  /** overwrites files that somebody else has edited since the session wrote them */
  readonly force: boolean
  /** the answer that a repeat of the request gets */
  answer(went: WentBack): unknown
}

/** Takes the newest candidate back; throws `NOTHING_TO_UNDO`, `USER_EDIT_CONFLICT`. */
export async function undo(critic: Critic, session: SessionRow, asked: BackRequest): Promise<WentBack> {
  const { store } = critic
  const live = liveSteps(await store.steps(session.id))
  const last = live.at(-1)
  if (last === undefined)
    throw new CausewayError('NOTHING_TO_UNDO', `no candidate of the session is left: ${session.id}`, {
      remedy: 'submit one first',
      data: { sid: session.id },
    })
  const landing = (await store.landings(session.id)).find(({ id }) => id === last.landing_id)
  return goBack(critic, session, {
    ...asked,
    kind: 'undo',
    target: landing === undefined ? [] : [landing.before],
    standing: last.standing_before,
    live: live.slice(0, -1).map(({ id }) => id),
  })
}

/** Back to a checkpoint: files, step, scores, average, streak and notes as they were then. */
export async function restore(
  critic: Critic,
  session: SessionRow,
  { checkpoint, ...asked }: BackRequest & { readonly checkpoint: CheckpointRow },
): Promise<WentBack> {
  const landings = (await critic.store.landings(session.id)).filter(isWhole)
  const then = landings.filter(({ id }) => id <= checkpoint.landing_id)
  const since = landings.filter(({ id }) => id > checkpoint.landing_id)
  return goBack(critic, session, {
    ...asked,
    kind: 'restore',
    target: [...then.map(({ after }) => after).reverse(), ...since.map(({ before }) => before)],
    standing: checkpoint.standing,
    live: checkpoint.live,
  })
}

/** Back to the project as it was at the start; what else the user has changed since stays. */
export async function reset(critic: Critic, session: SessionRow, asked: BackRequest): Promise<WentBack> {
  const { store } = critic
  const landings = await store.landings(session.id)
  const first = (await store.steps(session.id))[0]
  return goBack(critic, session, {
    ...asked,
    kind: 'reset',
    target: landings.map(({ before }) => before),
    standing: await afterBaseline(critic, session, first?.standing_before),
    live: [],
  })
}

/** The standing after the baseline, or a fresh one. */
async function afterBaseline(
  { store }: Critic,
  { id }: SessionRow,
  first: Standing | undefined,
): Promise<Standing> {
  const steps = await store.steps(id)
  const next = steps.find(({ kind }) => kind !== 'baseline')
  const begun = next?.standing_before ?? first ?? freshStanding('')
  return { ...begun, step: 0 }
}

/** The files of the best step, without going back in the history; throws `USER_EDIT_CONFLICT`. */
export async function filesOfBest(
  critic: Critic,
  session: SessionRow,
  force: boolean,
): Promise<readonly string[]> {
  const { store } = critic
  const best = session.standing.best_step
  const live = liveSteps(await store.steps(session.id))
  const steps = live.filter(({ number }) => best !== null && number <= best)
  const lastLanding = Math.max(0, ...steps.map(({ landing_id }) => landing_id ?? 0))
  const landings = (await store.landings(session.id)).filter(isWhole)
  const target = [
    ...landings
      .filter(({ id }) => id <= lastLanding)
      .map(({ after }) => after)
      .reverse(),
    ...landings.filter(({ id }) => id > lastLanding).map(({ before }) => before),
  ]
  return land(critic, session, { kind: 'best', target, landings, force })
}

type WholeLanding = LandingRow & { readonly after: string }

const isWhole = (landing: LandingRow): landing is WholeLanding => landing.after !== null

interface Destination extends BackRequest {
  readonly kind: LandingRow['kind']
  /** snapshots of which, for each path, the first that has it counts */
  readonly target: readonly string[]
  readonly standing: Standing
  readonly live: readonly number[]
}

async function goBack(
  critic: Critic,
  session: SessionRow,
  { kind, target, standing, live, force, request, answer }: Destination,
): Promise<WentBack> {
  const { store, changed } = critic
  const landings = (await store.landings(session.id)).filter(isWhole)
  const filesRestored = await land(critic, session, { kind, target, landings, force })
  const went = { standing, filesRestored }
  await store.goBack(
    { id: session.id, rev: session.rev, standing, status: 'active' },
    live,
    request,
    answer(went),
  )
  changed(session.id)
  return went
}

/** Writes files of snapshots into the project, and keeps a record of it, as of every other change. */
async function land(
  critic: Critic,
  { id, config }: SessionRow,
  asked: {
    readonly kind: LandingRow['kind']
    readonly target: readonly string[]
    readonly landings: readonly WholeLanding[]
    readonly force: boolean
  },
): Promise<readonly string[]> {
  const { store, snapshots } = critic
  if (asked.target.length === 0) return []
  const target = await snapshots.combine(asked.target)
  const expected = await snapshots.combine(asked.landings.map(({ after }) => after).reverse())
  try {
    const paths = (await snapshots.entries(target)).map(({ path }) => path)
    const before = await snapshots.take(config.repo, paths)
    const options = { expected, force: asked.force, paths }
    const report = await snapshots.restore(target, options).catch(async (error) => {
      await snapshots.drop(before)
      throw error
    })
    const landing = await store.beginLanding({ session_id: id, kind: asked.kind, before })
    await store.landed(landing.id, await snapshots.take(config.repo, paths))
    await sawOwn(critic, { id, repo: config.repo }, paths)
    return [...report.restored, ...report.deleted].sort()
  } finally {
    await snapshots.drop(target, expected)
  }
}
