import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { CausewayError } from '@causeway/protocol'
import { findScripts } from '../domain/command/command.ts'
import type { GuardFinding } from '../domain/evaluation/guard.ts'
import type { Evidence } from '../domain/evaluation/judge-signal.ts'
import { listProbeFiles, type Probe, reportsProbe } from '../domain/evaluation/probe.ts'
import type { SignalSpec } from '../domain/evaluation/signal.ts'
import type { Suspicion } from '../domain/evaluation/suspicion.ts'
import { findShadowingPackages, findTampering, isSource, isTestPath } from '../domain/evaluation/tamper.ts'
import type { TestRun } from '../domain/report/test-run.ts'
import type { Critic } from '../session/critic.ts'
import { createManifest, type Manifest } from '../snapshot/snapshot-entry.ts'
import type { SessionRow } from '../store/rows.ts'
import { readFiles, readTexts, writeFiles } from '../workspace/project-files.ts'
import { listAll } from '../workspace/tree-list.ts'

interface GuardRequest {
  readonly cwd: string
  readonly changedPaths: readonly string[]
  readonly evidence: readonly Evidence[]
  readonly isPromising: boolean
  run(signals: readonly SignalSpec[], occasion: string): Promise<readonly Evidence[]>
}

/** Maximum number of texts to read, of bytes in a text, and of test files with a probe. */
const [maxTexts, maxTextBytes, maxProbes] = [400, 500_000, 20]

const isEvaluation = true

const isDataFile = (path: string): boolean => /\.(csv|tsv|txt|ya?ml|toml|ini|dat)$/.test(path)

const codeFile = /\.(py|[cm]?[jt]sx?|json|mk|sh|bash)$|(^|\/)(GNU)?(Makefile|makefile)$/

/** Returns `null` if no change could forge the verdict and the step is not promising. */
export async function runGuard(
  critic: Critic,
  session: SessionRow,
  request: GuardRequest,
): Promise<GuardFinding | null> {
  const { isPromising, run } = request
  // A test may have removed the work copy.
  if (!existsSync(request.cwd)) return null
  const start = await readStartManifest(critic, session)
  const guard = { ...request, critic, session, start }
  const originals = await readOriginals(guard)
  const files = await restoreGuardedFiles(guard, originals)
  const suspicions = [
    ...findDependencySuspicions(guard),
    ...(await findSuspiciousCode(guard, files, originals)),
  ]
  if (files.length === 0 && suspicions.length === 0 && !isPromising) return null
  const evidence = files.length === 0 ? undefined : await run(session.config.signals, 'tests as at the start')
  const probe = isPromising ? await runProbe(guard) : 'not possible'
  return { files, evidence, probe, suspicions }
}

interface GuardRun extends GuardRequest {
  readonly critic: Critic
  readonly session: SessionRow
  /** Snapshot of all files at the start or, for sessions of version 0.1, of the changed files. */
  readonly start: Manifest
}

async function readStartManifest(
  { store, snapshots }: Critic,
  { id, start, config }: SessionRow,
): Promise<Manifest> {
  const ids = start === null ? (await store.listLandings(id)).map(({ before }) => before) : [start]
  return ids.length === 0 ? createManifest(config.repo, []) : snapshots.combine(ids)
}

/** The text of a new file is empty. */
async function readOriginals({
  critic,
  start,
  changedPaths,
}: GuardRun): Promise<ReadonlyMap<string, string>> {
  const selectedPaths = changedPaths.filter((path) => codeFile.test(path)).slice(0, maxTexts)
  const texts = new Map(selectedPaths.map((path) => [path, '']))
  const readablePaths = new Set(
    start.entries.filter(({ bytes }) => bytes <= maxTextBytes).map(({ path }) => path),
  )
  const contents = await critic.snapshots.read(
    start,
    selectedPaths.filter((path) => readablePaths.has(path)),
  )
  for (const [path, content] of contents) if (typeof content === 'string') texts.set(path, content)
  return texts
}

/** Restores tests, their configuration, and the files that these use. Returns the restored paths. */
async function restoreGuardedFiles(
  guard: GuardRun,
  originals: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  const { changedPaths, cwd, session } = guard
  if (changedPaths.length === 0) return []
  const commands = session.config.signals.map(({ command }) => command)
  const createdPaths = new Set([...originals].filter(([, text]) => text === '').map(([path]) => path))
  const tamperedPaths = findTampering(changedPaths, commands, createdPaths).map(({ path }) => path)
  const existingPaths = new Set(guard.start.entries.map(({ path }) => path))
  const restoredPaths = await restore(guard, [
    ...tamperedPaths,
    ...findShadowingPackages(createdPaths, existingPaths),
  ])
  const checks = new Set(
    session.config.signals
      .filter(({ kind }) => kind === 'check' || kind === 'lint')
      .flatMap((signal) => findScripts(signal.command)),
  )
  // Data that other code also names is input and not an expected result.
  const testedFiles = changedPaths.every(isSource) ? scriptFile : codeFile
  const texts = await readTexts(
    guard.cwd,
    await listFiles(cwd, (path) => testedFiles.test(path) || checks.has(path)),
  )
  const request = { texts, originals, changedPaths, checks }
  const helpers = await guard.critic.engine.call('findHelpers', request, { isEvaluation })
  return [...restoredPaths, ...(await restore(guard, helpers))].sort()
}

const scriptFile = /(^|\/)(package\.json|(GNU)?(Makefile|makefile)|[^/]+\.(sh|bash))$/

async function restore(
  { critic, session, start, cwd }: GuardRun,
  paths: readonly string[],
): Promise<readonly string[]> {
  // A session of version 0.1 that has changed no file has no snapshot.
  const hasSnapshot = session.start !== null || start.entries.length > 0
  return paths.length > 0 && hasSnapshot ? critic.snapshots.restoreTo(cwd, start, { paths, force: true }) : []
}

async function listFiles(
  cwd: string,
  isOtherFile = (_path: string): boolean => false,
): Promise<readonly string[]> {
  return (await listAll(cwd))
    .filter(({ stats }) => stats.isFile() && stats.size <= maxTextBytes)
    .map(({ path }) => path)
    .filter((path) => codeFile.test(path) && (isTestPath(path) || isOtherFile(path)))
    .slice(0, maxTexts)
}

/** Returns suspicions for changed files in linked or copied folders, which cannot be restored. */
function findDependencySuspicions({ changedPaths, session: { config } }: GuardRun): readonly Suspicion[] {
  const folders = [...config.link, ...config.copy]
  return changedPaths
    .filter((path) => folders.some((folder) => path === folder || path.startsWith(`${folder}/`)))
    .flatMap((path) =>
      (['test', 'lint', 'perf', 'check'] as const).map((kind) => ({
        kind,
        path,
        line: 1,
        why: 'is a dependency',
      })),
    )
}

async function findSuspiciousCode(
  guard: GuardRun,
  restoredPaths: readonly string[],
  originals: ReadonlyMap<string, string>,
): Promise<readonly Suspicion[]> {
  const files = await listAll(guard.cwd)
  const existingFiles = new Set(files.filter(({ stats }) => stats.isFile()).map(({ path }) => path))
  const sources = [...originals.keys()].filter(
    (path) => existingFiles.has(path) && !restoredPaths.includes(path),
  )
  const texts = await readTexts(guard.cwd, [...sources, ...findNewData(guard, existingFiles, restoredPaths)])
  const comparedFiles = [...texts].map(([path, after]) => ({
    path,
    before: originals.get(path) ?? '',
    after,
  }))
  try {
    const tests = [...(await readTexts(guard.cwd, await listFiles(guard.cwd))).values()]
    return await guard.critic.engine.call('findSuspicions', { files: comparedFiles, tests }, { isEvaluation })
  } catch (error) {
    const [first] = comparedFiles
    if (first === undefined || !CausewayError.is(error, 'DEADLINE_EXCEEDED')) throw error
    return [{ kind: 'test', path: first.path, line: 1, why: 'is among files that take too long to check' }]
  }
}

/** Returns data files created by the session, which can contain copies of tested values. */
function findNewData(
  { start, changedPaths }: GuardRun,
  existingFiles: ReadonlySet<string>,
  restoredPaths: readonly string[],
): readonly string[] {
  const dataFiles = changedPaths.filter(
    (path) => isDataFile(path) && existingFiles.has(path) && !restoredPaths.includes(path),
  )
  const existingPaths = new Set(start.entries.map(({ path }) => path))
  return dataFiles.filter((path) => !existingPaths.has(path)).slice(0, maxTexts)
}

/** If the probe's failures are reported only with the original files, the candidate forged the verdict. */
async function runProbe(guard: GuardRun): Promise<GuardFinding['probe']> {
  const testFinding = guard.evidence.find(({ finding }) => finding.spec.kind === 'test')?.finding
  if (testFinding?.tests === undefined) return 'not possible'
  const texts = await readTexts(
    guard.cwd,
    listProbeFiles(await listFiles(guard.cwd), testFinding.tests).slice(0, maxProbes),
  )
  const probes = await createProbes(guard, texts, testFinding.tests)
  const unreportedProbes = await findUnreportedProbes(guard, testFinding.spec, probes)
  if (probes.length === 0) return 'not possible'
  if (unreportedProbes.length === 0) return 'reported'
  await restore(guard, guard.changedPaths)
  const controls = await createProbes(
    guard,
    await readTexts(
      guard.cwd,
      unreportedProbes.map(({ path }) => path),
    ),
    testFinding.tests,
  )
  const unreportedControls = await findUnreportedProbes(guard, testFinding.spec, controls)
  if (unreportedControls.length < controls.length) return 'not reported'
  return unreportedProbes.length < probes.length ? 'reported' : 'not possible'
}

function createProbes(
  { critic }: GuardRun,
  texts: ReadonlyMap<string, string>,
  tests: TestRun,
): Promise<readonly Probe[]> {
  const ids = Array.from(texts, () => randomUUID().slice(0, 8))
  return critic.engine.call('createProbes', { texts, tests, ids }, { isEvaluation })
}

async function findUnreportedProbes(
  guard: GuardRun,
  spec: SignalSpec,
  probes: readonly Probe[],
): Promise<readonly Probe[]> {
  if (probes.length === 0) return []
  const { cwd } = guard
  for (const { path, text } of probes)
    await writeFiles(cwd, new Map([[path, text]]), { before: await readFiles(cwd, [path]) })
  const [evidence] = await guard.run([spec], 'with tests that must fail')
  return probes.filter((probe) => !reportsProbe(evidence?.finding.tests, probe))
}
