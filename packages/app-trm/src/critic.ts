/** The critic that all clients share: sessions, snapshots, places for evaluations, and those that run now. */
import { mkdir, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Env, type Log, makeRoots, numberSetting, type Roots } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { sweepDesks } from './desk.ts'
import type { EvalResult } from './domain/result.ts'
import type { SandboxWish } from './domain/sandbox.ts'
import { type Engine, openEngine } from './engine.ts'
import { overlaps, projectBusy } from './project-busy.ts'
import type { SessionRow, StepRow } from './rows.ts'
import { endLeftover } from './runner/process-group.ts'
import { makeSlots, type Slots } from './runner/slots.ts'
import { openSnapshots } from './snapshot/open-snapshots.ts'
import { openProjectFiles } from './snapshot/project-files.ts'
import type { ProjectFiles, Snapshots } from './snapshot/types.ts'
import { openStore, type TrmStore } from './store.ts'
import { takeBack } from './take-back.ts'
import { endTrials } from './trial-mark.ts'

/** An evaluation that runs now. */
export interface Running {
  readonly step: StepRow
  /** real path of the project */
  readonly repo: string
  readonly controller: AbortController
  /** settles with the result when the evaluation is over, whoever waits for it */
  readonly done: Promise<EvalResult>
  /** the command that runs, and what is done of all of them */
  progress: { readonly stage: string; readonly done: number; readonly total: number }
  /** told of every change of `progress` */
  readonly watchers: Set<() => void>
}

/** What the tools work with. */
export interface Critic {
  readonly store: TrmStore
  readonly snapshots: Snapshots
  readonly engine: Engine
  readonly slots: Slots
  /** by session */
  readonly running: Map<string, Running>
  readonly roots: Roots
  /** `any`, `detected`, or a regular expression over whole commands */
  readonly commands: string
  /** names of tokens whose holders may run any command */
  readonly trusted: ReadonlySet<unknown>
  readonly log: Log
  readonly now: () => number
  readonly newId: () => string
  /** fetches pull requests; undefined where the server may not */
  readonly fetch: typeof globalThis.fetch | undefined
  /** what every session wants at least */
  readonly sandbox: SandboxWish
  /** the data folder of the server, real */
  readonly dir: string
  /** where work copies are made */
  readonly workDir: string
  files(root: string): ProjectFiles
  changed(sid: string): void
  close(): Promise<void>
}

/** Why evaluations are stopped when the server is. */
export const shutdown = new CausewayError('CANCELLED', 'the server is stopping')

/** Opens the critic; evaluations that a server before this one could not end are taken back first. */
export async function openCritic(env: Env): Promise<Critic> {
  const { dir, settings, log, now, newId, changed } = env
  const folders = settings.trmRoots
  const roots = Array.isArray(folders) ? folders.filter((folder) => typeof folder === 'string') : []
  const store = openStore(dir, env)
  const snapshots = openSnapshots({ dir: join(dir, 'trm'), log, rows: store.contents, now })
  const state: { collecting: Promise<void> } = { collecting: Promise.resolve() }
  const critic: Critic = {
    store,
    snapshots,
    engine: openEngine(),
    slots: makeSlots(numberSetting(settings, 'trmParallel')),
    running: new Map(),
    roots: makeRoots(() => roots, 'CAUSEWAY_TRM_ROOTS'),
    commands: typeof settings.trmCommands === 'string' ? settings.trmCommands : 'any',
    trusted: new Set(Array.isArray(settings.trmTrusted) ? settings.trmTrusted : []),
    log,
    now,
    newId,
    sandbox: settings.trmSandbox === 'auto' || settings.trmSandbox === 'bwrap' ? settings.trmSandbox : 'none',
    fetch: settings.trmReviewUrl === true ? globalThis.fetch : undefined,
    dir: await realpath(dir),
    workDir: join(dir, 'trm', 'work'),
    files: openProjectFiles,
    changed: (sid) => changed.resource(`trm://sessions/${sid}`),
    async close() {
      const ending = [...critic.running.values()].map(({ controller, done }) => {
        controller.abort(shutdown)
        return done.catch(() => {}) // told to whoever waits for it
      })
      await Promise.all([...ending, state.collecting])
      await critic.engine.close()
      store.close()
    },
  }
  await endTrials(critic.workDir)
  await rm(critic.workDir, { recursive: true, force: true })
  await mkdir(critic.workDir, { recursive: true, mode: 0o700 })
  for (const step of await store.runningSteps()) await interrupt(critic, step)
  await sweepDesks(critic)
  state.collecting = collect(critic)
  return critic
}

/** Gives the space of dropped snapshots back, behind the back of everyone. */
async function collect({ snapshots, log }: Critic): Promise<void> {
  try {
    await snapshots.collect()
  } catch (error) {
    log.warn({ err: error }, 'the space of dropped snapshots could not be given back')
  }
}

/** Ends what is left of an evaluation of an earlier server, and gives the user's files back. */
async function interrupt(critic: Critic, step: StepRow): Promise<void> {
  const fields = { session: step.session_id, step: step.number }
  await endLeftover(step.mark, step.marker)
  try {
    await takeBack(critic, step, 'interrupted')
    critic.log.warn(fields, 'an evaluation was interrupted by a restart')
  } catch (error) {
    // One project that is gone or cannot be written must not keep the app from opening; a reset still knows the landing.
    critic.log.error(
      { ...fields, err: error },
      'what an interrupted evaluation changed could not be taken back',
    )
    await critic.store.abandonStep(step.id, 'interrupted', false)
  }
}

/** The session of an id; throws `SESSION_NOT_FOUND` where there is none, or where it has ended. */
export async function sessionOf(
  { store }: Pick<Critic, 'store'>,
  sid: string | undefined,
): Promise<SessionRow> {
  const row = sid === undefined ? undefined : await store.session(sid)
  if (row !== undefined && row.status !== 'ended') return row
  throw new CausewayError('SESSION_NOT_FOUND', `no active session has this id: ${sid ?? 'none is given'}`, {
    remedy: 'call trm.start, and pass its sessionId as sid',
    data: { sid: sid ?? null },
  })
}

/** Throws `SESSION_BUSY` while a candidate of the session is evaluated, `PROJECT_BUSY` while one of another session is. */
export function refuseBusy(critic: Critic, { id, config }: SessionRow): void {
  refuseProjectBusy(critic, config.repo, id)
  const busy = critic.running.get(id)
  if (busy === undefined) return
  throw new CausewayError('SESSION_BUSY', `step ${busy.step.number} is being evaluated: ${id}`, {
    data: { sid: id, step: busy.step.number, stage: busy.progress.stage },
  })
}

/** Throws `PROJECT_BUSY` while another session than this one evaluates a candidate in the project. */
export function refuseProjectBusy({ running }: Critic, repo: string, id?: string): void {
  for (const other of running.values())
    if (other.step.session_id !== id && overlaps(other.repo, repo))
      throw projectBusy(other.repo, other.step.session_id)
}

/** Steps that count: evaluated, not taken back, the baseline left out. */
export const liveSteps = (steps: readonly StepRow[]): readonly StepRow[] =>
  steps.filter(
    ({ status, undone_ms, kind }) => status === 'done' && undone_ms === null && kind !== 'baseline',
  )

/** Paths that the steps that count have changed. */
export const changedBy = (steps: readonly StepRow[]): readonly string[] => [
  ...new Set(liveSteps(steps).flatMap(({ result }) => result?.filesChanged ?? [])),
]

/** The newest evaluation that counts, the baseline where there is no other. */
export const lastResult = (steps: readonly StepRow[]): EvalResult | undefined =>
  (liveSteps(steps).at(-1) ?? steps.find(({ kind, status }) => kind === 'baseline' && status === 'done'))
    ?.result ?? undefined
