/** What the vault keeps open: the workers of its long runs. It has no data of its own. */
import type { CallContext, Env } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { type RestingWorkers, startWorker, WorkerPool, workerFile } from '@causeway/worker'
import type { DebriefCommand } from './domain/command.ts'
import { idsOf, runTool } from './run.ts'
import type { VaultMethods } from './vault-methods.ts'
import type { AnyVaultTool, ToolArgs } from './vault-tool.ts'
import { weightOf } from './weight.ts'

/** The open vault. */
export interface Vault {
  /** Runs a tool on arguments that its schema has passed. */
  run(tool: AnyVaultTool, args: ToolArgs, ctx: CallContext): Promise<DebriefCommand>
  /** The memory of the workers. */
  readonly memory: RestingWorkers
  health(): Readonly<Record<string, unknown>>
  close(): Promise<void>
}

/** Positions up to which a run stays on this thread, where it takes less than ten milliseconds. */
const lightRun = 400

/** Opens the vault; a worker starts when it is first needed. */
export function openVault({ newId, roots }: Pick<Env, 'newId' | 'roots'>): Vault {
  const counts = { inline: 0, worker: 0 }
  const start = () =>
    startWorker<VaultMethods>(workerFile('vault-worker', import.meta.url), {
      name: 'the worker of the tool vault',
    })
  const pool = new WorkerPool<VaultMethods>(start, { name: 'runs of the tool vault', maxRunning: 2 })

  return {
    async run(tool, args, { clientKey: client, signal, progress }) {
      const run = newId()
      const file = 'read' in tool ? await fileOf(args, (path) => roots.resolve(path)) : undefined
      signal.throwIfAborted()
      if (file === undefined && weightOf(args) <= lightRun) {
        counts.inline++
        return runTool(tool, args, { aid: idsOf(run), watch: { signal, progress } })
      }
      counts.worker++
      return pool.call('run', { tool: tool.name, args, run, file }, { client, signal, progress })
    },
    memory: pool.memory,
    health: () => ({ workers: pool.workers.length, runs: { ...counts } }),
    close: () => pool.stop(),
  }
}

/** The real path of the file that an importer is to read; undefined where it gets its text. */
async function fileOf(
  { path, text }: ToolArgs,
  resolve: (path: string) => Promise<string>,
): Promise<string | undefined> {
  if (typeof path === 'string' && text === undefined) return resolve(path)
  if (typeof text === 'string' && path === undefined) return undefined
  throw new CausewayError(
    'INVALID_ARGUMENTS',
    path === undefined ? 'nothing to import: path or text is missing' : 'path and text exclude each other',
    { data: { problems: [{ argument: 'path', problem: 'give either path or text' }] } },
  )
}
