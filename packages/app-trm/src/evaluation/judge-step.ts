/** Evaluates a candidate in a work copy, twice if its verdict needs confirmation. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type AbsentPath, findNamedPaths } from '../domain/evaluation/absent-path.ts'
import { type Assessment, assess } from '../domain/evaluation/assess.ts'
import type { Evidence } from '../domain/evaluation/judge-signal.ts'
import { epsilon } from '../domain/evaluation/score.ts'
import type { SignalSpec } from '../domain/evaluation/signal.ts'
import type { Critic } from '../session/critic.ts'
import type { Proposal } from '../session/propose.ts'
import type { SessionRow, StepRow } from '../store/rows.ts'
import { walkTree } from '../workspace/tree-list.ts'
import { listModules } from './advice.ts'
import { runGuard } from './run-guard.ts'
import { runStages } from './run-stages.ts'

export interface JudgeRequest {
  readonly proposal?: Proposal | undefined
  readonly accept?: readonly string[] | undefined
  readonly filesChanged: readonly string[]
  readonly changedPaths: readonly string[]
  readonly step: StepRow
  readonly cwd: string
  readonly signal: AbortSignal
}

/** Rejects with the signal's reason after an abort. */
export async function judgeStep(
  critic: Critic,
  session: SessionRow,
  request: JudgeRequest,
): Promise<Assessment> {
  const { config, standing, baseline } = session
  const { accept = [], proposal, filesChanged } = request
  const { kind, reason } = request.step
  const warnings = proposal?.warnings ?? []
  const run = (signals: readonly SignalSpec[], occasion: string) =>
    runCommands(critic, { ...session, config: { ...config, signals } }, request, occasion)
  const evidence = await run(config.signals, '')
  const accepted = [...new Set([...(standing.accepted ?? []), ...accept])]
  const input = {
    config,
    kind,
    standing: {
      ...standing,
      notes: reason ?? standing.notes,
      ...(accepted.length === 0 ? {} : { accepted }),
    },
    baseline,
    evidence,
    problems: await findOutputProblems(critic, config.repo, evidence),
    filesChanged,
    warnings: warnings.map(({ code, message }) => `${code}: ${message}`),
  }
  const firstAssessment = assess(input)
  if (kind === 'baseline' && config.isolate && firstAssessment.result.signals.some(({ ok }) => !ok)) {
    const outputs = evidence.flatMap(({ finding, stdout, stderr }) => [
      stdout,
      stderr,
      ...(finding.tests?.cases ?? []).map(({ message = '' }) => message),
    ])
    const { skipped } = await walkTree(config.project)
    const isAbsent = ({ path }: AbsentPath) => !existsSync(join(request.cwd, path))
    const absent = findNamedPaths(skipped.filter(isAbsent), outputs)
    if (absent.length > 0) return assess({ ...input, absent })
  }
  if (kind === 'baseline' || config.protect !== 'compare' || !config.isolate) return firstAssessment
  const { rule, score } = firstAssessment.result
  const isPromising =
    rule === 'success' || standing.best_step === null || score > standing.best_score + epsilon
  const guard = await runGuard(critic, session, { ...request, evidence, isPromising, run })
  return guard === null ? firstAssessment : assess({ ...input, guard })
}

export async function findOutputProblems({ engine }: Critic, repo: string, evidence: readonly Evidence[]) {
  const outputs = evidence.flatMap(({ stdout, stderr }) => [stdout, stderr])
  return engine.call('problems', { outputs, modules: await listModules(repo) }, { isEvaluation: true })
}

/** Stores only the output of the first run, which has no `occasion`. */
async function runCommands(
  critic: Critic,
  { id, config }: SessionRow,
  { step, cwd, signal }: JudgeRequest,
  occasion: string,
): Promise<readonly Evidence[]> {
  const { store } = critic
  const total = critic.running.get(id)?.progress.total ?? config.signals.length
  const reportProgress = (stage: string, done: number): void =>
    critic.running
      .get(id)
      ?.report(
        occasion === '' ? { stage, done, total } : { stage: `${stage}, ${occasion}`, done: total, total },
      )
  return runStages({
    critic,
    config,
    cwd,
    audit: { session_id: id, occasion: `step ${step.number}${occasion === '' ? '' : ' guard'}` },
    failFast: config.failFast && step.kind !== 'baseline',
    marker: step.marker,
    signal,
    onStage: (index, name) => reportProgress(name, index),
    onProcess: (spec, mark) => store.setStage(step.id, spec.name, mark),
    async onStageEnd(index, { summary, stdout, stderr }) {
      if (occasion !== '') return
      await store.saveOutput(step.id, { stage: summary.stage, stdout, stderr })
      reportProgress(summary.stage, index + 1)
      critic.notifyChanged(id)
    },
  })
}
