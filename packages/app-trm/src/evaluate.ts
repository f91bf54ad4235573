/** Running the commands of a session in a folder, one after the other, and reading what they left behind. */
import { randomUUID } from 'node:crypto'
import { lstat, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { withReport } from './domain/command.ts'
import { type Coverage, coverageFiles } from './domain/coverage.ts'
import { commandEnvironment, redact, reportEnvironment } from './domain/environment.ts'
import { isGood, readChecks, type StageEnd, type StageFinding } from './domain/evaluation.ts'
import { type Metric, median, relativeSpread } from './domain/metric.ts'
import { relocated } from './domain/report/read-tests.ts'
import type { StageSummary } from './domain/result.ts'
import { bwrapArguments } from './domain/sandbox.ts'
import { type SelectedTests, selectTests } from './domain/select-tests.ts'
import type { SessionConfig } from './domain/session-config.ts'
import type { SignalSpec } from './domain/signal.ts'
import type { Engine } from './engine.ts'
import type { MetricRequest } from './engine-methods.ts'
import type { ProcessMark } from './runner/process-group.ts'
import { type CommandResult, runCommand } from './runner/run-command.ts'

/** One command of an evaluation. */
export interface Stage {
  readonly finding: StageFinding
  readonly summary: StageSummary
  /** without secrets and without the folder it ran in */
  readonly stdout: string
  readonly stderr: string
}

/** Hears how a command went. */
export type CommandEnd = (result: CommandResult) => Promise<void>

/** What an evaluation needs. */
export interface EvaluationRun {
  readonly config: SessionConfig
  /** reads reports and complaints: an output can be large */
  readonly engine: Engine
  /** where the commands run */
  readonly cwd: string
  /** the server's data, which a confined command does not see */
  readonly hidden: string
  /** paths that the session has changed, whose coverage is told */
  readonly changed: readonly string[]
  /** runs nothing more after a check, the tests or a linter failed */
  readonly failFast: boolean
  readonly marker: string
  readonly signal: AbortSignal
  /** Ids of the only tests to run, and what tests were read from before. */
  readonly only?: { readonly ids: readonly string[]; readonly source: string } | undefined
  /** before a command begins, with the process once it runs */
  onStage(index: number, name: string): void
  onProcess(spec: SignalSpec, mark: ProcessMark): Promise<CommandEnd>
  onStageEnd(index: number, stage: Stage): Promise<void>
}

/** Largest report that is read, bytes. */
const mostReport = 20 * 2 ** 20

/** Marks calls of the engine that read what a command wrote. */
const isCommandOutput = true

/** Runs every command of the session; a cancelled evaluation rejects with the signal's reason. */
export async function evaluate(run: EvaluationRun): Promise<readonly Stage[]> {
  const stages: Stage[] = []
  let failed: string | undefined
  for (const [index, spec] of run.config.signals.entries()) {
    run.signal.throwIfAborted()
    if (failed !== undefined) {
      stages.push(notRun(run, spec, failed))
      continue
    }
    run.onStage(index, spec.name)
    const stage = await runStage(run, spec)
    run.signal.throwIfAborted()
    stages.push(stage)
    await run.onStageEnd(index, stage)
    if (run.failFast && !isGood(stage.finding.end)) failed = spec.name
  }
  return stages
}

/** The stage of a command that was left out because another one failed. */
function notRun({ config }: EvaluationRun, spec: SignalSpec, failed: string): Stage {
  const end: StageEnd = { exitCode: null, timedOut: false, cancelled: false, timeoutS: config.timeoutS }
  return {
    finding: { spec, end, notRunAfter: failed },
    summary: { stage: spec.name, exitCode: null, timedOut: false, ms: 0, bytes: 0, truncated: false },
    stdout: '',
    stderr: '',
  }
}

async function runStage(run: EvaluationRun, spec: SignalSpec): Promise<Stage> {
  if (spec.kind === 'test') return testStage(run, spec)
  if (spec.kind === 'perf') return perfStage(run, spec)
  const result = await command(run, spec, spec.command)
  const text = cleaned(run, result)
  const diagnostics = await run.engine.call('diagnostics', `${text.stdout}\n${text.stderr}`, {
    isCommandOutput,
  })
  const checks = spec.kind === 'check' ? readChecks(text.stdout) : undefined
  return stageOf(run, spec, [result], { diagnostics, checks })
}

/** Reports go to a folder of their own under names that nobody can foresee: a test may not write its own verdict. */
async function testStage(run: EvaluationRun, spec: SignalSpec): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-trm-'))
  const [xml, nodeXml, appended] = ['xml', 'xml', 'report'].map((end) =>
    join(folder, `${randomUUID()}.${end}`),
  )
  if (xml === undefined || nodeXml === undefined || appended === undefined) throw new Error('three names')
  try {
    const earlier = await coverageStamps(run.cwd)
    const chosen = chosenTests(run, withReport(spec.command, appended))
    const result = await command(run, spec, chosen.command, {
      env: reportEnvironment({ xml, nodeXml }, run.config.env, chosen.env),
      writable: [folder],
    })
    const reports = (await Promise.all([xml, nodeXml, appended].map((file) => readReport(file)))).filter(
      (text) => text !== undefined,
    )
    const text = cleaned(run, result)
    const tests = await run.engine.call('tests', { reports, ...text }, { isCommandOutput })
    return stageOf(run, spec, [result], {
      tests: tests && relocated(tests, (one) => withoutFolder(run, one)),
      diagnostics: [],
      coverage: await freshCoverage(run, earlier),
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The command for the tests that are wanted; throws `TESTS_NOT_SELECTABLE`. */
function chosenTests({ only }: EvaluationRun, command: string): SelectedTests {
  if (only === undefined) return { command, env: {} }
  const selected = selectTests(command, only.source, only.ids)
  if (selected !== undefined) return selected
  throw new CausewayError('TESTS_NOT_SELECTABLE', `nothing can be chosen of this command: ${command}`)
}

/** What tells a file of coverage from an earlier one: file -> its identity, size and time. */
async function coverageStamps(cwd: string): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(
    coverageFiles.map(async (source) => {
      const { ino = 0, size = 0, mtimeMs = 0 } = (await lstat(join(cwd, source)).catch(() => undefined)) ?? {}
      return [source, `${ino} ${size} ${mtimeMs}`] as const
    }),
  )
  return new Map(found)
}

/** The coverage that a command has written since then. */
async function freshCoverage(
  { cwd, changed, engine }: EvaluationRun,
  earlier: ReadonlyMap<string, string>,
): Promise<Coverage | undefined> {
  for (const [source, stamp] of await coverageStamps(cwd)) {
    const text = stamp === earlier.get(source) ? undefined : await readReport(join(cwd, source))
    const coverage =
      text === undefined
        ? undefined
        : await engine.call('coverage', { source, text, changed }, { isCommandOutput })
    if (coverage !== undefined) return coverage
  }
  return undefined
}

/** Several runs, of which the median counts. */
async function perfStage(run: EvaluationRun, spec: SignalSpec): Promise<Stage> {
  const { repeat, pattern, unit } = run.config.perf
  const results: CommandResult[] = []
  const metrics: Metric[] = []
  for (let time = 0; time < repeat; time++) {
    const result = await command(run, spec, spec.command)
    results.push(result)
    const { stdout, stderr } = cleaned(run, result)
    const metric = await readMetric(run.engine, { outputs: [stdout, stderr], pattern, unit })
    if (metric === undefined || result.exitCode !== 0) break
    metrics.push(metric)
  }
  const values = metrics.map((metric) => metric.value)
  const value = median(values)
  const measured = metrics.length === repeat && value !== undefined
  return stageOf(run, spec, results, {
    metric: measured ? { value, unit: metrics[0]?.unit ?? '' } : undefined,
    spread: relativeSpread(values),
  })
}

/** Reads the measure in a worker if the client gave a pattern, which may backtrack; one over the time limit finds nothing. */
async function readMetric(engine: Engine, request: MetricRequest): Promise<Metric | undefined> {
  try {
    return await engine.call('metric', request, { inWorker: request.pattern !== undefined, isCommandOutput })
  } catch (error) {
    if (isCausewayError(error) && error.code === 'DEADLINE_EXCEEDED') return undefined
    throw error
  }
}

/** How a command of a session differs from others. */
interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>
  /** beyond the folder that it runs in */
  readonly writable?: readonly string[]
}

async function command(
  { config, cwd, hidden, marker, signal, onProcess }: EvaluationRun,
  spec: SignalSpec,
  text: string,
  { env: more = {}, writable = [] }: CommandOptions = {},
): Promise<CommandResult> {
  let ended: CommandEnd | undefined
  const result = await runCommand({
    command: text,
    within:
      config.sandbox === 'bwrap'
        ? bwrapArguments({ cwd, repo: config.project, writable, hidden })
        : undefined,
    cwd,
    env: { ...commandEnvironment(process.env, config.env, more), PWD: cwd },
    timeoutMs: config.timeoutS * 1000,
    marker,
    signal,
    async onStart(mark) {
      ended = await onProcess(spec, mark)
    },
  })
  await ended?.(result)
  return result
}

function stageOf(
  run: EvaluationRun,
  spec: SignalSpec,
  results: readonly CommandResult[],
  read: Omit<StageFinding, 'spec' | 'end'>,
): Stage {
  const last = results.at(-1)
  if (last === undefined) throw new Error('a stage without a run')
  const { exitCode, timedOut, cancelled } = last
  return {
    finding: { spec, end: { exitCode, timedOut, cancelled, timeoutS: run.config.timeoutS }, ...read },
    summary: {
      stage: spec.name,
      exitCode,
      timedOut,
      ms: results.reduce((sum, { ms }) => sum + ms, 0),
      bytes: results.reduce((sum, { stdout, stderr }) => sum + stdout.bytes + stderr.bytes, 0),
      truncated: results.some(({ stdout, stderr }) => stdout.truncated || stderr.truncated),
    },
    ...cleaned(run, last),
  }
}

const cleaned = (run: EvaluationRun, { stdout, stderr }: CommandResult) => ({
  stdout: redact(withoutFolder(run, stdout.text), run.config.env),
  stderr: redact(withoutFolder(run, stderr.text), run.config.env),
})

/** Paths of the work copy become paths of the project. */
const withoutFolder = ({ cwd }: EvaluationRun, text: string): string =>
  text.replaceAll(`file://${cwd}/`, '').replaceAll(`${cwd}/`, '').replaceAll(cwd, '.')

/** A report that a runner wrote; undefined where there is none, a link, or one too large to be one. */
async function readReport(file: string): Promise<string | undefined> {
  try {
    const stats = await lstat(file)
    return stats.isFile() && stats.size <= mostReport ? await readFile(file, 'utf8') : undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
