import { randomUUID } from 'node:crypto'
import { lstat, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addReport } from '../domain/command/command.ts'
import { createEnvironment, createReportEnvironment, redact } from '../domain/command/environment.ts'
import { createBwrapArguments } from '../domain/command/sandbox.ts'
import { type SelectedTests, selectTests } from '../domain/command/select-tests.ts'
import {
  type Evidence,
  isSuccessful,
  readChecks,
  type StageEnd,
  type StageFinding,
} from '../domain/evaluation/judge-signal.ts'
import { computeMedian, computeSpread, type Metric } from '../domain/evaluation/metric.ts'
import type { SignalSpec } from '../domain/evaluation/signal.ts'
import { replacePaths } from '../domain/report/test-run.ts'
import type { SessionConfig } from '../domain/session-config.ts'
import { TrmError } from '../errors.ts'
import type { ProcessMark } from '../runner/process-group.ts'
import { type CommandResult, runCommand } from '../runner/run-command.ts'
import type { Critic } from '../session/critic.ts'
import type { CommandRow } from '../store/rows.ts'

export interface StageRun {
  readonly critic: Pick<Critic, 'engine' | 'dir' | 'store' | 'log' | 'now'>
  readonly config: SessionConfig
  readonly cwd: string
  readonly audit: Pick<CommandRow, 'session_id' | 'occasion'>
  readonly failFast: boolean
  readonly marker: string
  readonly signal: AbortSignal
  /** Ids of the tests to run instead of all tests, and the source of the last run. */
  readonly selection?: { readonly ids: readonly string[]; readonly source: string } | undefined
  onStage?(index: number, name: string): void
  onProcess?(spec: SignalSpec, mark: ProcessMark): Promise<void>
  onStageEnd?(index: number, stage: Evidence): Promise<void>
}

const maxReportBytes = 20 * 2 ** 20

const isEvaluation = true

/** Rejects with the signal's reason after an abort. */
export async function runStages(run: StageRun): Promise<readonly Evidence[]> {
  const stages: Evidence[] = []
  let failedSignal: string | undefined
  for (const [index, spec] of run.config.signals.entries()) {
    run.signal.throwIfAborted()
    if (failedSignal !== undefined) {
      stages.push(createSkippedStage(run, spec, failedSignal))
      continue
    }
    run.onStage?.(index, spec.name)
    const stage = await runStage(run, spec)
    run.signal.throwIfAborted()
    stages.push(stage)
    await run.onStageEnd?.(index, stage)
    if (run.failFast && !isSuccessful(stage.finding.end)) failedSignal = spec.name
  }
  return stages
}

function createSkippedStage({ config }: StageRun, spec: SignalSpec, failedBefore: string): Evidence {
  const end: StageEnd = { exitCode: null, timedOut: false, cancelled: false, timeoutS: config.timeoutS }
  return {
    finding: { spec, end, failedBefore },
    summary: { stage: spec.name, exitCode: null, timedOut: false, ms: 0, bytes: 0, truncated: false },
    stdout: '',
    stderr: '',
  }
}

async function runStage(run: StageRun, spec: SignalSpec): Promise<Evidence> {
  if (spec.kind === 'test') return runTests(run, spec)
  if (spec.kind === 'perf') return runBenchmark(run, spec)
  const result = await runSignal(run, spec, spec.command)
  const { stdout, stderr } = cleanResult(run, result)
  const diagnostics = await run.critic.engine.call('diagnostics', `${stdout}\n${stderr}`, { isEvaluation })
  const checks = spec.kind === 'check' ? readChecks(stdout) : undefined
  return toEvidence(run, spec, [result], { diagnostics, checks })
}

/** Reports have random names in a separate folder, so that tests cannot write their own results. */
async function runTests(run: StageRun, spec: SignalSpec): Promise<Evidence> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-trm-'))
  const createPath = (extension: string) => join(folder, `${randomUUID()}.${extension}`)
  const [xml, nodeXml, appendedReport] = [createPath('xml'), createPath('xml'), createPath('report')]
  try {
    const { command, env } = chooseTests(run, addReport(spec.command, appendedReport))
    const result = await runSignal(run, spec, command, {
      env: createReportEnvironment({ xml, nodeXml }, run.config.env, env),
      writable: [folder],
    })
    const reportTexts = await Promise.all([xml, nodeXml, appendedReport].map(readReport))
    const reports = reportTexts.filter((text) => text !== undefined)
    const evidence = { reports, ...cleanResult(run, result) }
    const tests = await run.critic.engine.call('tests', evidence, { isEvaluation })
    return toEvidence(run, spec, [result], {
      tests: tests && replacePaths(tests, (text) => removeFolder(run, text)),
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function chooseTests({ selection }: StageRun, command: string): SelectedTests {
  if (selection === undefined) return { command, env: {} }
  const selectedTests = selectTests(command, selection.source, selection.ids)
  if (selectedTests !== undefined) return selectedTests
  throw new TrmError('TESTS_NOT_SELECTABLE', `the command cannot run selected tests: ${command}`)
}

/** Returns `undefined` if the report is missing, too large or not a regular file. */
async function readReport(file: string): Promise<string | undefined> {
  try {
    const stats = await lstat(file)
    return stats.isFile() && stats.size <= maxReportBytes ? await readFile(file, 'utf8') : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function runBenchmark(run: StageRun, spec: SignalSpec): Promise<Evidence> {
  const { repeat } = run.config.perf
  const results: CommandResult[] = []
  const metrics: Metric[] = []
  for (let attempt = 0; attempt < repeat; attempt++) {
    const result = await runSignal(run, spec, spec.command)
    results.push(result)
    const { stdout, stderr } = cleanResult(run, result)
    const metric = await run.critic.engine.call('metric', [stdout, stderr], { isEvaluation })
    if (metric === undefined || result.exitCode !== 0) break
    metrics.push(metric)
  }
  const values = metrics.map(({ value }) => value)
  const value = computeMedian(values)
  const isMeasured = metrics.length === repeat && value !== undefined
  return toEvidence(run, spec, results, {
    metric: isMeasured ? { value, unit: metrics[0]?.unit ?? '' } : undefined,
    relativeSpread: computeSpread(values),
  })
}

interface SignalOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly writable?: readonly string[]
}

async function runSignal(
  run: StageRun,
  spec: SignalSpec,
  command: string,
  { env = {}, writable = [] }: SignalOptions = {},
): Promise<CommandResult> {
  const { critic, config, cwd, marker, signal } = run
  let onEnd: ((result: CommandResult) => Promise<void>) | undefined
  const sandboxFolders = { cwd, repo: config.project, writable, hidden: critic.dir }
  const result = await runCommand({
    command,
    sandbox: config.sandbox === 'bwrap' ? createBwrapArguments(sandboxFolders) : undefined,
    cwd,
    env: { ...createEnvironment(process.env, config.env, env), PWD: cwd },
    timeoutMs: config.timeoutS * 1000,
    marker,
    signal,
    async onStart(mark) {
      await run.onProcess?.(spec, mark)
      onEnd = await auditCommand(run, spec, mark.pid)
    },
  })
  await onEnd?.(result)
  return result
}

async function auditCommand(
  { critic: { store, log, now }, audit, cwd }: StageRun,
  { name: stage, command }: SignalSpec,
  pid: number,
): Promise<(result: CommandResult) => Promise<void>> {
  const row = { ...audit, cwd, stage, command, pid, started_ms: now() }
  const id = await store.addCommand(row)
  log.info(row, 'command started')
  return async ({ exitCode, timedOut, ms, stdout, stderr }) => {
    const end = { exit_code: exitCode, ms, bytes: stdout.bytes + stderr.bytes }
    await store.finishCommand(id, end)
    log.info({ ...audit, cwd, stage, pid, timedOut, ...end }, 'command ended')
  }
}

function toEvidence(
  run: StageRun,
  spec: SignalSpec,
  results: readonly CommandResult[],
  fields: Omit<StageFinding, 'spec' | 'end'>,
): Evidence {
  const lastResult = results.at(-1)
  if (lastResult === undefined) throw new Error('a stage without a command')
  const { exitCode, timedOut, cancelled } = lastResult
  return {
    finding: { spec, end: { exitCode, timedOut, cancelled, timeoutS: run.config.timeoutS }, ...fields },
    summary: {
      stage: spec.name,
      exitCode,
      timedOut,
      ms: results.reduce((sum, { ms }) => sum + ms, 0),
      bytes: results.reduce((sum, { stdout, stderr }) => sum + stdout.bytes + stderr.bytes, 0),
      truncated: results.some(({ stdout, stderr }) => stdout.truncated || stderr.truncated),
    },
    ...cleanResult(run, lastResult),
  }
}

const cleanResult = (run: StageRun, { stdout, stderr }: CommandResult) => ({
  stdout: redact(removeFolder(run, stdout.text), run.config.env),
  stderr: redact(removeFolder(run, stderr.text), run.config.env),
})

const removeFolder = ({ cwd }: StageRun, text: string): string =>
  text.replaceAll(`file://${cwd}/`, '').replaceAll(`${cwd}/`, '').replaceAll(cwd, '.')
