/** One evaluation from its beginning to its end: land, copy, run, judge, commit; or take everything back. */
import { randomUUID } from 'node:crypto'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { type Critic, type Running, shutdown } from './critic.ts'
import type { EvalResult } from './domain/result.ts'
import { epsilon } from './domain/score.ts'
import { judgeStep } from './judge-step.ts'
import type { Proposal } from './propose.ts'
import type { SessionRow, StepRow } from './rows.ts'
import { sawOwn } from './seen.ts'
import type { WriteOptions } from './snapshot/types.ts'
import { takeBack } from './take-back.ts'
import { workCopy } from './work-copy.ts'

/** What is to be evaluated. */
export interface StepRequest {
  readonly kind: EvalResult['kind']
  readonly request: string
  readonly reason: string | null
  readonly proposal?: Proposal | undefined
  readonly warnings: readonly string[]
}

/**
 * Lands the candidate and begins to evaluate it. What is wrong until then is thrown, with nothing changed and no step
 * used. The evaluation goes on whoever waits for it.
 */
export async function beginStep(critic: Critic, session: SessionRow, asked: StepRequest): Promise<Running> {
  const { store, snapshots, running } = critic
  const { config, standing } = session
  const changes = asked.proposal?.applied.changes ?? new Map()
  const lands = changes.size > 0 && config.write !== 'improved'
  const before = lands ? await snapshots.take(config.repo, [...changes.keys()]) : undefined
  const step = await store.beginStep(
    { id: session.id, rev: session.rev, standing: { ...standing, notes: asked.reason ?? standing.notes } },
    {
      session_id: session.id,
      number: asked.kind === 'baseline' ? standing.step : standing.step + 1,
      kind: asked.kind,
      request: asked.request,
      marker: randomUUID(),
      reason: asked.reason,
      standing_before: standing,
    },
    before,
  )
  if (lands && asked.proposal !== undefined) {
    try {
      await critic.files(config.repo).write(changes, writeOptions(asked.proposal))
      await store.landed(step.landing_id ?? 0, await snapshots.take(config.repo, [...changes.keys()]))
      await sawOwn(critic, { id: session.id, repo: config.repo }, [...changes.keys()])
    } catch (error) {
      await takeBack(critic, step, 'failed')
      throw error
    }
  }
  const controller = new AbortController()
  const started: Running = {
    step,
    repo: config.repo,
    controller,
    done: Promise.resolve().then(() => finish(critic, session, { asked, step, controller })),
    progress: { stage: 'waiting', done: 0, total: config.signals.length },
    watchers: new Set(),
  }
  running.set(session.id, started)
  started.done.catch(() => {}) // whoever waits hears of it; nobody may be waiting
  return started
}

/** New paths -> old ones and x bits, as the report of a candidate tells them. */
function writeOptions({ before, applied: { report } }: Proposal): WriteOptions {
  const renamed = report.files.flatMap(({ path, from }) =>
    from === undefined ? [] : [[path, from] as const],
  )
  const bits = report.files.flatMap(({ path, executable }) =>
    executable === undefined ? [] : [[path, executable] as const],
  )
  return { before, moved: new Map(renamed), executable: new Map(bits) }
}

interface Begun {
  readonly asked: StepRequest
  readonly step: StepRow
  readonly controller: AbortController
}

async function finish(critic: Critic, session: SessionRow, begun: Begun): Promise<EvalResult> {
  const { running, changed } = critic
  const { step, controller } = begun
  try {
    return await evaluated(critic, session, begun)
  } catch (error) {
    const { aborted, reason } = controller.signal
    await takeBack(critic, step, aborted ? (reason === shutdown ? 'interrupted' : 'cancelled') : 'failed')
    throw aborted ? cancelled(reason) : error
  } finally {
    running.delete(session.id)
    changed(session.id)
  }
}

const cancelled = (reason: unknown): CausewayError =>
  isCausewayError(reason)
    ? reason
    : new CausewayError('CANCELLED', 'the evaluation was cancelled; the files are as before')

async function evaluated(critic: Critic, session: SessionRow, begun: Begun): Promise<EvalResult> {
  const { store, slots } = critic
  const { config } = session
  const { asked, step, controller } = begun
  const { signal } = controller
  const started = performance.now()
  const free = await slots.take(signal)
  try {
    const copy = await workCopy(critic, config, { name: step.marker, signal })
    try {
      if (asked.proposal !== undefined && config.write === 'improved')
        await critic.files(copy.cwd).write(asked.proposal.applied.changes, writeOptions(asked.proposal))
      const place = { cwd: copy.cwd, signal }
      const assessed = await judgeStep(critic, session, { ...asked, step, ...place })
      const landed = await lateLanding(critic, session, begun, assessed.result)
      const result = { ...assessed.result, landed, ms: Math.round(performance.now() - started) }
      signal.throwIfAborted()
      await store.finishStep(step.id, result, {
        id: session.id,
        rev: session.rev + 1,
        standing: assessed.standing,
        baseline: assessed.baseline,
        status: result.shouldHalt ? 'halted' : 'active',
      })
      return result
    } finally {
      await copy.remove()
    }
  } finally {
    free()
  }
}

/** Under `improved` a candidate lands once it is known to be better; says whether it is in the user's files. */
async function lateLanding(
  critic: Critic,
  { id, config, standing }: SessionRow,
  { asked, step }: Begun,
  { score, guard }: EvalResult,
): Promise<boolean> {
  const { store, snapshots } = critic
  if (asked.proposal === undefined) return false
  if (config.write !== 'improved') return config.write === 'each'
  const { changes } = asked.proposal.applied
  const sure = Math.min(score, guard?.score ?? score)
  const isBetter = standing.best_step === null || sure > standing.best_score + epsilon
  if (!isBetter || changes.size === 0) return false
  const paths = [...changes.keys()]
  const before = await snapshots.take(config.repo, paths)
  const landing = await store.beginLanding({ session_id: id, kind: 'submit', before })
  await store.linkLanding(step.id, landing.id)
  await critic.files(config.repo).write(changes, writeOptions(asked.proposal))
  await store.landed(landing.id, await snapshots.take(config.repo, paths))
  await sawOwn(critic, { id, repo: config.repo }, paths)
  return true
}
