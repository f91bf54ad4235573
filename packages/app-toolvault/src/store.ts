/** What the vault keeps open: the workers of its long runs. It has no data of its own. */
import type { CallContext, Env } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import {
  type RestingWorkers,
  restingWorkers,
  startWorker,
  type WorkerLink,
  workerFile,
} from '@causeway/worker'
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

/** Workers that run at the same time; a call beyond that waits in the line of one of them. */
const mostWorkers = 2

/** Opens the vault; a worker starts when it is first needed. */
export function openVault({ newId, roots }: Pick<Env, 'newId' | 'roots'>): Vault {
  const workers: WorkerLink<VaultMethods>[] = []
  const counts = { inline: 0, worker: 0 }

  /** The worker with the least to do. */
  const worker = (): WorkerLink<VaultMethods> => {
    const alive = workers.filter(({ isAlive }) => isAlive)
    const idle = alive.find(({ pending }) => pending === 0)
    if (idle !== undefined) return idle
    if (alive.length >= mostWorkers)
      return alive.reduce((least, one) => (one.pending < least.pending ? one : least))
    const started = startWorker<VaultMethods>(workerFile('vault-worker', import.meta.url), {
      name: 'the worker of the tool vault',
    })
    workers.splice(0, workers.length, ...alive, started)
    return started
  }

  return {
    async run(tool, args, { signal, progress }) {
      const run = newId()
      const file = 'read' in tool ? await fileOf(args, (path) => roots.resolve(path)) : undefined
      signal.throwIfAborted()
      if (file === undefined && weightOf(args) <= lightRun) {
        counts.inline++
        return runTool(tool, args, { aid: idsOf(run), watch: { signal, progress } })
      }
      counts.worker++
      return worker().call('run', { tool: tool.name, args, run, file }, { signal, progress })
    },
    memory: restingWorkers(() => workers),
    health: () => ({ workers: workers.filter(({ isAlive }) => isAlive).length, runs: { ...counts } }),
    async close() {
      await Promise.all(workers.map((link) => link.stop()))
    },
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
