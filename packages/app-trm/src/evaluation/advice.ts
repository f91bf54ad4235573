import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Critic } from '../session/critic.ts'
import { findLastStep, listLiveSteps, type SessionRow } from '../store/rows.ts'
import { readTexts } from '../workspace/project-files.ts'
import { walkTree } from '../workspace/tree-list.ts'

export type Advice = NonNullable<Awaited<ReturnType<typeof createAdvice>>>

/** Maximum number of files that problems name, and of modules that may define a missing name. */
const [maxFiles, maxModules] = [40, 400]

/** Returns `undefined` before the first evaluation. */
export async function createAdvice(critic: Critic, session: SessionRow) {
  const steps = await critic.store.listSteps(session.id)
  const step = findLastStep(steps)
  if (step === undefined || step.result === null) return undefined
  const { repo } = session.config
  const outputs = (await critic.store.readOutputs(step.id)).flatMap(({ stdout, stderr }) => [stdout, stderr])
  const problems = await critic.engine.call('problems', { outputs, modules: await listModules(repo) })
  const namedFiles = [...problems, ...step.result.failures].flatMap(({ file }) => file ?? [])
  const isNameMissing = problems.some(({ kind }) => ['NameError', 'F821', 'E0602'].includes(kind))
  const projectFiles = isNameMissing ? (await walkTree(repo, { includeIgnored: true })).included : []
  const pythonFiles = projectFiles.filter((path) => path.endsWith('.py')).slice(0, maxModules)
  const files = await readTexts(repo, new Set([...namedFiles.slice(0, maxFiles), ...pythonFiles]))
  const changedIn = new Map(
    listLiveSteps(steps).flatMap(({ number, result }) =>
      (result?.filesChanged ?? []).map((file) => [file, number] as const),
    ),
  )
  const fixes = await critic.engine.call('fix', { problems, files })
  return { result: step.result, problems, files, fixes, changedIn }
}

export async function listModules(repo: string): Promise<ReadonlySet<string>> {
  const names = await Promise.all(
    [repo, join(repo, 'src')].map((folder) => readdir(folder).catch((): string[] => [])),
  )
  return new Set(names.flat().map((name) => name.replace(/\.py$/, '')))
}
