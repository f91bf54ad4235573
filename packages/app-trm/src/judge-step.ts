/** Judging what lies in a work copy: its commands are run, and a second time where it could have bribed its judges. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { modulesAt } from './advice.ts'
import { auditCommand } from './audit-command.ts'
import { type Critic, changedBy } from './critic.ts'
import { type Assessed, assess, type Evidence } from './domain/assess.ts'
import type { EvalResult } from './domain/result.ts'
import { epsilon } from './domain/score.ts'
import { evaluate } from './evaluate.ts'
import { guardStep } from './guard-step.ts'
import type { Proposal } from './propose.ts'
import type { SessionRow, StepRow } from './rows.ts'

const compress = promisify(gzip)

/** What is judged. */
export interface JudgeRequest {
  readonly kind: EvalResult['kind']
  readonly reason: string | null
  readonly proposal?: Proposal | undefined
  readonly warnings: readonly string[]
  readonly step: StepRow
  /** where the candidate lies and the commands run */
  readonly cwd: string
  readonly signal: AbortSignal
}

/** The result and where the session stands after it; rejects with the signal's reason where it is cancelled. */
export async function judgeStep(
  critic: Critic,
  session: SessionRow,
  { kind, reason, proposal, warnings, step, cwd, signal }: JudgeRequest,
): Promise<Assessed> {
  const { config, standing, baseline } = session
  const filesChanged = [...(proposal?.applied.changes.keys() ?? [])].sort()
  const changed = [...new Set([...changedBy(await critic.store.steps(session.id)), ...filesChanged])]
  const run = (isGuard: boolean) => runStages(critic, session, { step, cwd, changed, signal, isGuard })
  const evidence = await run(false)
  const parts = {
    config,
    problems: await critic.engine.call(
      'problems',
      {
        outputs: evidence.flatMap(({ stdout, stderr }) => [stdout, stderr]),
        modules: await modulesAt(config.repo),
      },
      { isCommandOutput: true },
    ),
    kind,
    standing: { ...standing, notes: reason ?? standing.notes },
    baseline,
    evidence,
    filesChanged,
    warnings,
    ms: 0,
  }
  const first = assess(parts)
  if (!isPromising(first.result, session)) return first
  const guard = await guardStep(critic, session, { cwd, proposal, run: () => run(true) })
  return guard === null ? first : assess({ ...parts, guard })
}

/** A result that would end the session or set the best score is worth a second look. */
const isPromising = ({ kind, rule, score }: EvalResult, { standing }: SessionRow): boolean =>
  kind !== 'baseline' && (rule === 'success' || score > standing.best_score + epsilon)

interface StagesRun {
  readonly step: StepRow
  readonly cwd: string
  readonly changed: readonly string[]
  readonly signal: AbortSignal
  /** a second run: its outputs are not kept */
  readonly isGuard: boolean
}

async function runStages(
  critic: Critic,
  { id, config }: SessionRow,
  { step, cwd, changed, signal, isGuard }: StagesRun,
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
