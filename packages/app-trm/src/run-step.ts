/** One evaluation from its beginning to its end: land, copy, run, judge, commit; or take everything back. */
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { modulesAt } from './advice.ts'
import { auditCommand } from './audit-command.ts'
import { type Critic, changedBy, type Running, shutdown } from './critic.ts'
import { assess, type Evidence } from './domain/assess.ts'
import type { EvalResult } from './domain/result.ts'
import { epsilon } from './domain/score.ts'
import { evaluate } from './evaluate.ts'
import { guardStep } from './guard-step.ts'
import type { Proposal } from './propose.ts'
import type { SessionRow, StepRow } from './rows.ts'
import { sawOwn } from './seen.ts'
import type { WriteOptions } from './snapshot/types.ts'
import { takeBack } from './take-back.ts'
import { workCopy } from './work-copy.ts'

const compress = promisify(gzip)

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
      const filesChanged = [...(asked.proposal?.applied.changes.keys() ?? [])].sort()
      const changed = [...new Set([...changedBy(await store.steps(session.id)), ...filesChanged])]
      const place = { step, cwd: copy.cwd, changed, signal }
      const evidence = await runStages(critic, session, place)
      const parts = {
        config,
        problems: await critic.engine.call('problems', {
          outputs: evidence.flatMap(({ stdout, stderr }) => [stdout, stderr]),
          modules: await modulesAt(config.repo),
        }),
        kind: asked.kind,
        standing: { ...session.standing, notes: asked.reason ?? session.standing.notes },
        baseline: session.baseline,
        evidence,
        filesChanged,
        warnings: asked.warnings,
      }
      const guard = isPromising(assess({ ...parts, ms: 0 }).result, session)
        ? await guardStep(critic, session, {
            cwd: copy.cwd,
            proposal: asked.proposal,
            run: () => runStages(critic, session, { ...place, isGuard: true }),
          })
        : null
      const assessed = assess({ ...parts, guard, ms: Math.round(performance.now() - started) })
      const landed = await lateLanding(critic, session, begun, assessed.result)
      const result = { ...assessed.result, landed }
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

/** A result that would end the session or set the best score is worth a second look. */
const isPromising = ({ kind, rule, score }: EvalResult, { standing }: SessionRow): boolean =>
  kind !== 'baseline' && (rule === 'success' || score > standing.best_score + epsilon)

/** Under `improved` a candidate lands once it is known to be better; says whether it is in the user's files. */
async function lateLanding(
  critic: Critic,
  { id, config, standing }: SessionRow,
  { asked, step }: Begun,
  { score }: EvalResult,
): Promise<boolean> {
  const { store, snapshots } = critic
  if (asked.proposal === undefined) return false
  if (config.write !== 'improved') return config.write === 'each'
  const { changes } = asked.proposal.applied
  const isBetter = standing.best_step === null || score > standing.best_score + epsilon
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

interface StagesRun {
  readonly step: StepRow
  readonly cwd: string
  readonly changed: readonly string[]
  readonly signal: AbortSignal
  /** a second run: its outputs are not kept */
  readonly isGuard?: boolean
}

async function runStages(
  critic: Critic,
  { id, config }: SessionRow,
  { step, cwd, changed, signal, isGuard = false }: StagesRun,
): Promise<readonly Evidence[]> {
  const { dir, store, running, changed: tellChange, engine } = critic
  const total = config.signals.length
  const tell = (stage: string, done: number): void => {
    const current = running.get(id)
    if (current === undefined) return
    current.progress = isGuard
      ? { stage: `${stage}, judges as at the start`, done: total, total }
      : { stage, done, total }
    for (const watcher of current.watchers) watcher()
  }
  return evaluate({
    config,
    engine,
    cwd,
    hidden: dir,
    changed,
    failFast: config.failFast && step.kind !== 'baseline',
    marker: step.marker,
    signal,
    onStage: (index, name) => tell(name, index),
    async onProcess(spec, mark) {
      await store.stage(step.id, spec.name, mark)
      const occasion = `step ${step.number}${isGuard ? ' guard' : ''}`
      return auditCommand(critic, { session_id: id, occasion, cwd }, spec, mark.pid)
    },
    async onStageEnd(index, { summary, stdout, stderr }) {
      if (isGuard) return
      const [out, err] = await Promise.all([compress(stdout), compress(stderr)])
      await store.saveOutput(step.id, { stage: summary.stage, stdout: out, stderr: err })
      tell(summary.stage, index + 1)
      tellChange(id)
    },
  })
}
