/** Collects the input of `suggest` and `fix`: the outputs of the last evaluation and the code that they name. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { isCausewayError } from '@causeway/protocol'
import type { Fix } from '../domain/advice/fix.ts'
import type { EvalResult } from '../domain/evaluation/result.ts'
import type { Problem } from '../domain/feedback/problem.ts'
import type { Critic } from '../session/critic.ts'
import { findLastStep, listLiveSteps } from '../session/steps.ts'
import type { SessionRow, StepRow } from '../store/rows.ts'

const decompress = promisify(gunzip)

export interface Advice {
  readonly result: EvalResult
  readonly problems: readonly Problem[]
  /** Texts of the files that problems name or the session changed, by path. */
  readonly files: ReadonlyMap<string, string>
  readonly fixes: readonly Fix[]
  /** Last step that changed a file, by path. */
  readonly changedIn: ReadonlyMap<string, number>
}

/** Maximum files whose text is read, and Python files whose definitions are read. */
const [maxFiles, maxModules] = [40, 400]

const skippedFolders = /^(\.|node_modules$|venv$|env$|build$|dist$|__pycache__$|site-packages$)/

/** Returns advice on the last evaluation; `undefined` before the first. */
export async function createAdvice(critic: Critic, session: SessionRow): Promise<Advice | undefined> {
  const steps = await critic.store.steps(session.id)
  const step = findLastStep(steps)
  if (step === undefined || step.result === null) return undefined
  const { repo } = session.config
  const outputs = await readOutputs(critic, step)
  const problems = await critic.engine.call('problems', { outputs, modules: await listModules(repo) })
  const changedIn = new Map(
    listLiveSteps(steps).flatMap(({ number, result }) =>
      (result?.filesChanged ?? []).map((file) => [file, number] as const),
    ),
  )
  const named = problems.flatMap(({ file }) => file ?? [])
  const files = await readTexts(critic, repo, [...new Set([...named, ...changedIn.keys()])])
  const isNameMissing = problems.some(({ kind }) => ['NameError', 'F821', 'E0602'].includes(kind))
  const definitions = isNameMissing
    ? await critic.engine.call('definitions', await readPythonFiles(repo))
    : new Map<string, readonly string[]>()
  const fixes = await critic.engine.call('fix', { problems, files, definitions })
  return { result: step.result, problems, files, fixes, changedIn }
}

async function readOutputs({ store }: Critic, { id }: StepRow): Promise<readonly string[]> {
  const stages = await store.outputStages(id)
  const rows = await Promise.all(stages.map((stage) => store.output(id, stage)))
  const compressed = rows.flatMap((row) => (row === undefined ? [] : [row.stdout, row.stderr]))
  return Promise.all(compressed.map(async (bytes) => (await decompress(bytes)).toString()))
}

/** Returns the top-level modules of the project: files and folders of its root and of `src`. */
export async function listModules(repo: string): Promise<ReadonlySet<string>> {
  const names = await Promise.all(
    [repo, join(repo, 'src')].map((folder) => readdir(folder).catch((): string[] => [])),
  )
  return new Set(names.flat().map((name) => name.replace(/\.py$/, '')))
}

/** Reads the text files among paths. A path that a tool printed may not be in the project. */
async function readTexts(
  critic: Critic,
  repo: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  for (const path of paths.slice(0, maxFiles)) {
    try {
      const content = (await critic.files(repo).read([path])).get(path)
      if (typeof content === 'string') texts.set(path, content)
    } catch (error) {
      if (!isCausewayError(error)) throw error
    }
  }
  return texts
}

async function readPythonFiles(repo: string): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  const pending = ['']
  for (let folder = pending.shift(); folder !== undefined; folder = pending.shift()) {
    const entries = await readdir(join(repo, folder), { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      if (skippedFolders.test(entry.name)) continue
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) pending.push(path)
      else if (entry.isFile() && path.endsWith('.py') && texts.size < maxModules)
        texts.set(path, await readFile(join(repo, path), 'utf8').catch(() => ''))
    }
    if (texts.size >= maxModules) break
  }
  return texts
}
