/** Running a few tests of a project as it is: a look that uses no step and gives no score. */
import { CausewayError } from '@causeway/protocol'
import { modulesAt } from './advice.ts'
import { type Critic, lastResult } from './critic.ts'
import { assess, type Evidence } from './domain/assess.ts'
import { chosenOf, type TestRun } from './domain/report/test-run.ts'
import { failingIds } from './domain/result.ts'
import type { SessionRow } from './rows.ts'
import { trialRun } from './trial-run.ts'

/** Which tests, and how the caller hears of it. */
export interface OnlyRequest {
  readonly only: 'failed' | readonly string[]
  readonly signal: AbortSignal
  readonly onProgress: (progress: { stage: string; done: number; total: number }) => void
}

/** What they came to; throws `NO_TESTS_CHOSEN` where there is nothing to run, `TESTS_NOT_SELECTABLE` where nothing can choose. */
export async function onlyTests(
  critic: Critic,
  session: SessionRow,
  { only, signal, onProgress }: OnlyRequest,
) {
  const { id, config, standing, baseline } = session
  const ids = only === 'failed' ? failingIds(lastResult(await critic.store.steps(id))) : [...new Set(only)]
  const spec = config.signals.find(({ kind }) => kind === 'test')
  if (spec === undefined || ids.length === 0)
    throw new CausewayError(
      'NO_TESTS_CHOSEN',
      spec === undefined ? 'the session has no test command' : 'no test failed in the last evaluation',
    )
  const alone = { ...session, config: { ...config, signals: [spec], coverageWeight: 0 } }
  const evidence = await trialRun(critic, alone, {
    occasion: 'only',
    signal,
    only: { ids, source: baseline?.tests?.source ?? '' },
    onStage: (index, stage) => onProgress({ stage, done: index, total: 1 }),
  })
  const [{ finding } = { finding: undefined }] = evidence
  const run = finding?.tests && chosenOf(finding.tests, ids)
  const { result } = assess({
    config: alone.config,
    kind: 'rerun',
    standing,
    baseline: null,
    evidence: evidence.map((one): Evidence => ({ ...one, finding: { ...one.finding, tests: run } })),
    problems: await critic.engine.call(
      'problems',
      {
        outputs: evidence.flatMap(({ stdout, stderr }) => [stdout, stderr]),
        modules: await modulesAt(config.repo),
      },
      { isCommandOutput: true },
    ),
    filesChanged: [],
    warnings: [],
    ms: 0,
  })
  const { tests, failures, feedback, stages, isolation } = result
  const notRun = missingOf(run, ids)
  return {
    sessionId: id,
    status: 'done',
    kind: 'only',
    step: standing.step,
    score: null,
    emaScore: standing.ema,
    bestScore: standing.best_score,
    tests,
    shouldHalt: false,
    reasons: [],
    feedback,
    failures,
    notRun,
    stages,
    isolation,
    summary: `${toldOf(tests, ids.length)}${notRun.length === 0 ? '' : ` Did not run: ${notRun.slice(0, 5).join(', ')}.`} No step was used and nothing is scored.`,
  }
}

/** Of a run that names failures alone nothing can be said of the others. */
const missingOf = (run: TestRun | undefined, ids: readonly string[]): readonly string[] => {
  if (run === undefined || !run.isComplete) return []
  const known = new Set(run.cases.map(({ id }) => id))
  return ids.filter((id) => !known.has(id))
}

const toldOf = (tests: { readonly passed: number; readonly total: number } | null, wanted: number): string =>
  tests === null
    ? `The output of the ${wanted} chosen tests could not be read.`
    : `${tests.passed} of ${tests.total} chosen tests pass.`
