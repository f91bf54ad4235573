/** Trying a repair out in a copy of the project: it is offered only if its error is gone and nothing got worse. */
import type { Critic } from './critic.ts'
import { assess } from './domain/assess.ts'
import { hidesOthers, type Problem } from './domain/feedback/problem.ts'
import type { Fix } from './domain/fix/fix.ts'
import type { EvalResult } from './domain/result.ts'
import type { SessionRow } from './rows.ts'
import { trialRun } from './trial-run.ts'

/** A repair, and what became of it when it was tried out. */
export interface TriedFix extends Fix {
  /** False where there was no time for it, or the session evaluates in place. */
  readonly verified: boolean
  /** Score of the evaluation with it alone; null where it was not tried out. */
  readonly scoreAfter: number | null
}

/** What a trial is compared with. */
export interface TrialRequest {
  readonly result: EvalResult
  readonly problems: readonly Problem[]
  readonly fixes: readonly Fix[]
  /** Ends the trial that runs; no further one is begun. */
  readonly signal: AbortSignal
  /** After this many milliseconds no further trial is begun, and the one that runs is ended. */
  readonly limitMs: number
  readonly onTrial: (done: number, total: number) => void
}

/** The repairs that help, and those for which there was no time. Each is tried alone, in a copy of its own. */
export async function tried(
  critic: Critic,
  session: SessionRow,
  { result, problems, fixes, signal, limitMs, onTrial }: TrialRequest,
): Promise<readonly TriedFix[]> {
  const limit = AbortSignal.timeout(limitMs)
  const either = AbortSignal.any([signal, limit])
  const kept: TriedFix[] = []
  for (const [index, fix] of fixes.entries()) {
    onTrial(index, fixes.length)
    const trial =
      session.config.isolate && !limit.aborted ? await trialOf(critic, session, fix, either) : undefined
    signal.throwIfAborted()
    if (trial === undefined) kept.push({ ...fix, verified: false, scoreAfter: null })
    else if (helps({ result, problems }, trial, fix)) {
      kept.push({ ...fix, verified: true, scoreAfter: trial.result.score })
    }
  }
  return kept
}

interface Trial {
  readonly result: EvalResult
  readonly problems: readonly Problem[]
}

/** Evaluates the project with one repair; undefined where it was ended before it was over. */
async function trialOf(
  critic: Critic,
  { id, config, standing, baseline }: SessionRow,
  fix: Fix,
  signal: AbortSignal,
): Promise<Trial | undefined> {
  const { engine, files } = critic
  const { candidate, paths } = await engine.call('read', fix.candidateToFix)
  const changed: string[] = []
  try {
    const evidence = await trialRun(
      critic,
      { id, config },
      {
        occasion: 'trial',
        signal,
        async prepare(cwd) {
          const before = await files(cwd).read(paths)
          const { changes } = await engine.call('apply', { files: before, candidate })
          await files(cwd).write(changes, { before })
          changed.push(...changes.keys())
        },
      },
    )
    const { result } = assess({
      config,
      kind: 'rerun',
      standing,
      baseline,
      evidence,
      filesChanged: changed,
      warnings: [],
      ms: 0,
    })
    const outputs = evidence.flatMap(({ stdout, stderr }) => [stdout, stderr])
    return { result, problems: await engine.call('problems', { outputs, modules: new Set<string>() }) }
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

/** Its error is reported less, nothing hides more than before, and no signal is lower; a benchmark is too noisy to count. */
function helps(before: Trial, after: Trial, { issue }: Fix): boolean {
  const told = (problems: readonly Problem[]) =>
    problems
      .filter(
        ({ file, kind, message }) =>
          issue.startsWith(file ?? '') && issue.includes(`${kind}: ${firstLine(message)}`.slice(0, 100)),
      )
      .reduce((sum, { count }) => sum + count, 0)
  const isLower = after.result.signals.some(({ name, kind, value }) => {
    const earlier = before.result.signals.find((one) => one.name === name)
    return kind !== 'perf' && earlier !== undefined && value < earlier.value
  })
  const hidden = ({ problems }: Trial) => problems.filter(hidesOthers).length
  const isLess = told(after.problems) < told(before.problems) || after.result.score > before.result.score
  return isLess && !isLower && hidden(after) <= hidden(before)
}

const firstLine = (text: string): string => text.split('\n')[0] ?? ''
