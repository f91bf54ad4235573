/** Runs selected tests of a project in a work copy, without a step and without a score. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { assess } from '../domain/evaluation/assess.ts'
import type { Evidence } from '../domain/evaluation/judge-signal.ts'
import { listFailing } from '../domain/evaluation/result.ts'
import { selectCases, selectsTest, type TestRun } from '../domain/report/test-run.ts'
import { TrmError } from '../errors.ts'
import { killLeftover, type ProcessMark } from '../runner/process-group.ts'
import type { Critic } from '../session/critic.ts'
import type { Progress } from '../session/running-step.ts'
import { findLastResult } from '../session/steps.ts'
import type { SessionRow } from '../store/rows.ts'
import { createWorkCopy } from '../workspace/work-copy.ts'
import { auditCommand } from './audit-command.ts'
import { findOutputProblems } from './judge-step.ts'
import { runStages } from './run-stages.ts'

interface OnlyRequest {
  readonly only: 'failed' | readonly string[]
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
}

/** Throws `NO_TESTS_CHOSEN` if there is no test to run, `TESTS_NOT_SELECTABLE` if the runner cannot select tests. */
export async function runOnlyTests(critic: Critic, session: SessionRow, request: OnlyRequest) {
  const { id, standing } = session
  const { only } = request
  const ids =
    only === 'failed' ? listFailing(findLastResult(await critic.store.steps(id))) : [...new Set(only)]
  const spec = session.config.signals.find(({ kind }) => kind === 'test')
  if (spec === undefined || ids.length === 0)
    throw new TrmError(
      'NO_TESTS_CHOSEN',
      spec === undefined ? 'the session has no test command' : 'no test failed in the last evaluation',
    )
  const config = { ...session.config, signals: [spec] }
  const evidence = await runSelected(critic, { ...session, config }, ids, request)
  const found = evidence[0]?.finding.tests
  const run = found && selectCases(found, ids)
  const { result } = assess({
    config,
    kind: 'rerun',
    standing,
    baseline: null,
    evidence: evidence.map((one) => ({ ...one, finding: { ...one.finding, tests: run } })),
    problems: await findOutputProblems(critic, config.repo, evidence),
  })
  const { tests, failures, feedback, stages, isolation } = result
  const notRun = findNotRun(run, ids)
  const passed =
    tests === null
      ? `The output of the ${ids.length} selected tests could not be read.`
      : `${tests.passed} of ${tests.total} selected tests pass.`
  const missing = notRun.length === 0 ? '' : ` Did not run: ${notRun.slice(0, 5).join(', ')}.`
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
    summary: `${passed}${missing} No step was used and no score was computed.`,
  }
}

/** A run that names only failures does not show which tests did not run. */
function findNotRun(run: TestRun | undefined, ids: readonly string[]): readonly string[] {
  if (run === undefined || !run.isComplete) return []
  return ids.filter((id) => !run.cases.some((test) => selectsTest(id, test.id)))
}

async function runSelected(
  critic: Critic,
  { id, config, baseline }: SessionRow,
  ids: readonly string[],
  { signal, onProgress }: OnlyRequest,
): Promise<readonly Evidence[]> {
  const { dir, engine, slots, workDir } = critic
  const marker = critic.newId()
  const markFile = join(workDir, `${marker}.mark`)
  let release: (() => void) | undefined
  try {
    release = await slots.acquire(signal)
    const copy = await createWorkCopy(critic, config, { name: marker, signal })
    try {
      return await runStages({
        config,
        engine,
        cwd: copy.cwd,
        hidden: dir,
        failFast: config.failFast,
        marker,
        signal,
        only: { ids, source: baseline?.tests?.source ?? '' },
        onStage: (index, stage) => onProgress({ stage, done: index, total: 1 }),
        async onProcess(spec, mark) {
          await mkdir(workDir, { recursive: true, mode: 0o700 })
          await writeFile(markFile, JSON.stringify(mark), { mode: 0o600 })
          return auditCommand(critic, { session_id: id, occasion: 'only', cwd: copy.cwd }, spec, mark.pid)
        },
      })
    } finally {
      await copy.remove()
    }
  } finally {
    release?.()
    await rm(markFile, { force: true })
  }
}

/** Kills the processes that selected tests of an earlier server left. */
export async function killLeftoverTests(workDir: string): Promise<void> {
  for (const name of await readdir(workDir).catch((): string[] => [])) {
    const [, marker] = /^(.+)\.mark$/.exec(name) ?? []
    if (marker === undefined) continue
    const text = await readFile(join(workDir, name), 'utf8').catch(() => '')
    await killLeftover(parseMark(text), marker)
  }
}

/** A crash may have truncated the file; the marker in the environment identifies the process anyway. */
function parseMark(text: string): ProcessMark | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
