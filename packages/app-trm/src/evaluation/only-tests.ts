/** Runs selected tests of a project in a work copy, without a step or a score. */
import { assess } from '../domain/evaluation/assess.ts'
import type { Evidence } from '../domain/evaluation/judge-signal.ts'
import { listFailedTests } from '../domain/evaluation/result.ts'
import { selectCases, selectsTest, type TestRun } from '../domain/report/test-run.ts'
import { TrmError } from '../errors.ts'
import type { Critic } from '../session/critic.ts'
import type { Progress } from '../session/running-step.ts'
import { findLastResult, type SessionRow } from '../store/rows.ts'
import { withWorkCopy } from '../workspace/work-copy.ts'
import { findOutputProblems } from './judge-step.ts'
import { runStages } from './run-stages.ts'

interface OnlyRequest {
  readonly only: 'failed' | readonly string[]
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
}

/**
 * Throws `NO_TESTS_CHOSEN` if there is no test to run, and `TESTS_NOT_SELECTABLE` if the runner cannot select tests.
 */
export async function runOnlyTests(critic: Critic, session: SessionRow, request: OnlyRequest) {
  const { id, standing } = session
  const { only } = request
  const ids =
    only === 'failed' ? listFailedTests(findLastResult(await critic.store.listSteps(id))) : [...new Set(only)]
  const spec = session.config.signals.find(({ kind }) => kind === 'test')
  if (spec === undefined || ids.length === 0)
    throw new TrmError(
      'NO_TESTS_CHOSEN',
      spec === undefined ? 'the session has no test command' : 'no test failed in the last evaluation',
    )
  const config = { ...session.config, signals: [spec] }
  const evidence = await runSelected(critic, { ...session, config }, ids, request)
  const allTests = evidence[0]?.finding.tests
  const run = allTests && selectCases(allTests, ids)
  const { result } = assess({
    config,
    kind: 'rerun',
    standing,
    baseline: null,
    evidence: evidence.map((stage) => ({ ...stage, finding: { ...stage.finding, tests: run } })),
    problems: await findOutputProblems(critic, config.repo, evidence),
  })
  const { tests, failures, feedback, stages, isolation } = result
  const notRun = findNotRun(run, ids)
  const passedText =
    tests === null
      ? `The output of the ${ids.length} selected tests could not be read.`
      : `${tests.passed} of ${tests.total} selected tests pass.`
  const notRunText = notRun.length === 0 ? '' : ` Did not run: ${notRun.slice(0, 5).join(', ')}.`
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
    summary: `${passedText}${notRunText} No step was used and no score was computed.`,
  }
}

/** Returns the ids that did not run, or an empty list if the run names only failures. */
function findNotRun(run: TestRun | undefined, ids: readonly string[]): readonly string[] {
  if (run === undefined || !run.isComplete) return []
  return ids.filter((id) => !run.cases.some((test) => selectsTest(id, test.id)))
}

function runSelected(
  critic: Critic,
  { id, config, baseline }: SessionRow,
  ids: readonly string[],
  { signal, onProgress }: OnlyRequest,
): Promise<readonly Evidence[]> {
  const marker = critic.newId()
  return withWorkCopy(critic, config, { marker, signal }, (cwd) =>
    runStages({
      critic,
      config,
      cwd,
      audit: { session_id: id, occasion: 'only' },
      failFast: config.failFast,
      marker,
      signal,
      selection: { ids, source: baseline?.tests?.source ?? '' },
      onStage: (index, stage) => onProgress({ stage, done: index, total: 1 }),
    }),
  )
}
