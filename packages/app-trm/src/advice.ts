/** What is known when advice is asked for: the outputs of the last evaluation, and the code that they speak of. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { isCausewayError } from '@causeway/protocol'
import { type Critic, lastResult, liveSteps } from './critic.ts'
import type { Problem } from './domain/feedback/problem.ts'
import type { Fix } from './domain/fix/fix.ts'
import type { EvalResult } from './domain/result.ts'
import type { SessionRow, StepRow } from './rows.ts'

const unpack = promisify(gunzip)

/** Everything that advice is made of. */
export interface Advice {
  readonly result: EvalResult
  readonly problems: readonly Problem[]
  /** texts of the files that problems name and that the session has changed */
  readonly files: ReadonlyMap<string, string>
  readonly fixes: readonly Fix[]
  /** file -> the step that changed it last */
  readonly touched: ReadonlyMap<string, number>
}

/** Most files whose text is looked at, and whose definitions are. */
const [mostFiles, mostModules] = [40, 400]

const passedOver = /^(\.|node_modules$|venv$|env$|build$|dist$|__pycache__$|site-packages$)/

/** The advice on the last evaluation that counts; undefined before the first one. */
export async function adviceOn(critic: Critic, session: SessionRow): Promise<Advice | undefined> {
  const steps = await critic.store.steps(session.id)
  const result = lastResult(steps)
  const step =
    liveSteps(steps).at(-1) ?? steps.find(({ kind, status }) => kind === 'baseline' && status === 'done')
  if (result === undefined || step === undefined) return undefined
  const outputs = await outputsOf(critic, step)
  const { repo } = session.config
  const found = await critic.engine.call('problems', { outputs, modules: await modulesAt(repo) })
  const touched = new Map(
    liveSteps(steps).flatMap(({ result: one }) =>
      (one?.filesChanged ?? []).map((file) => [file, one?.step ?? 0] as const),
    ),
  )
  const named = found.flatMap(({ file }) => (file === undefined ? [] : [file]))
  const files = await textsOf(critic, repo, [...new Set([...named, ...touched.keys()])].slice(0, mostFiles))
  const definitions = found.some(({ kind }) => kind === 'NameError' || kind === 'F821' || kind === 'E0602')
    ? await critic.engine.call('definitions', await pythonTexts(repo))
    : new Map<string, readonly string[]>()
  return {
    result,
    problems: found,
    files,
    fixes: await critic.engine.call('fix', { problems: found, files, definitions, outputs }),
    touched,
  }
}

async function outputsOf({ store }: Critic, { id }: StepRow): Promise<readonly string[]> {
  const stages = await store.outputStages(id)
  const rows = await Promise.all(stages.map((stage) => store.output(id, stage)))
  const texts = rows.flatMap((row) => (row === undefined ? [] : [row.stdout, row.stderr]))
  return Promise.all(texts.map(async (bytes) => (await unpack(bytes)).toString()))
}

/** Top-level modules of the project: files and folders of its root and of `src`. */
export async function modulesAt(repo: string): Promise<ReadonlySet<string>> {
  const names = await Promise.all(
    [repo, join(repo, 'src')].map((folder) => readdir(folder).catch((): string[] => [])),
  )
  return new Set(names.flat().map((name) => name.replace(/\.py$/, '')))
}

/** Texts of files as far as they are text and in the project. */
async function textsOf(
  critic: Critic,
  repo: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  for (const path of paths) {
    try {
      const content = (await critic.files(repo).read([path])).get(path)
      if (typeof content === 'string') texts.set(path, content)
    } catch (error) {
      if (!isCausewayError(error)) throw error // a path that a tool printed need not be one of the project
    }
  }
  return texts
}

/** The texts of the project's Python files, by path. */
async function pythonTexts(repo: string): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  for (const path of await pythonFiles(repo)) {
    texts.set(path, await readFile(join(repo, path), 'utf8').catch(() => ''))
  }
  return texts
}

async function pythonFiles(repo: string): Promise<readonly string[]> {
  const found: string[] = []
  const waiting = ['']
  for (
    let folder = waiting.shift();
    folder !== undefined && found.length < mostModules;
    folder = waiting.shift()
  ) {
    const entries = await readdir(join(repo, folder), { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      if (passedOver.test(entry.name)) continue
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) waiting.push(path)
      else if (entry.isFile() && path.endsWith('.py')) found.push(path)
    }
  }
  return found.slice(0, mostModules)
}
