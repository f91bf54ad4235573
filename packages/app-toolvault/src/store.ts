import { type Answer, type CallContext, type Env, fromJson } from '@causeway/app-kit'
import type { DebriefCommand } from '@causeway/plot'
import { CausewayError } from '@causeway/protocol'
import { resolveWorkerFile, WorkerLink, type WorkerMemory, WorkerPool } from '@causeway/worker'
import type { ToolArgs, VaultTool } from './catalog/vault-tool.ts'
import { createNewId, runTool } from './runner/run-tool.ts'
import type { VaultMethods } from './runner/vault-worker.ts'

/** Maximum positions of a run in this thread. Such a run takes less than ten milliseconds. */
const maxInlinePositions = 400

/** Runs tools with few positions in this thread, and all others and file imports in workers. */
export class Vault {
  readonly #newId: Env['newId']
  readonly #roots: Env['roots']
  readonly #counts = { inline: 0, worker: 0 }
  readonly #pool = new WorkerPool<VaultMethods>(
    () =>
      new WorkerLink<VaultMethods>(resolveWorkerFile('runner/vault-worker', import.meta.url), {
        name: 'the ToolVault worker',
      }),
    { name: 'runs of ToolVault', maxRunning: 2 },
  )

  constructor({ newId, roots }: Pick<Env, 'newId' | 'roots'>) {
    this.#newId = newId
    this.#roots = roots
  }

  get memory(): WorkerMemory {
    return this.#pool.memory
  }

  /** Reads `ctx.signal` only for long runs, because the context creates it on first access. */
  async run(
    tool: VaultTool,
    args: ToolArgs,
    ctx: CallContext,
  ): Promise<DebriefCommand | Answer<DebriefCommand>> {
    const runId = this.#newId()
    const file = 'read' in tool ? await this.#resolveFile(args) : undefined
    if (file === undefined && estimatePositions(args) <= maxInlinePositions) {
      this.#counts.inline++
      return runTool(tool, args, { newId: createNewId(runId), control: ctx })
    }
    const { clientKey: client, signal, progress } = ctx
    signal.throwIfAborted()
    this.#counts.worker++
    const request = { tool: tool.name, args, runId, file }
    return fromJson(await this.#pool.call('run', request, { client, signal, progress }))
  }

  health(): Readonly<Record<string, unknown>> {
    return { workers: this.#pool.workers.length, runs: { ...this.#counts } }
  }

  close(): Promise<void> {
    return this.#pool.stop()
  }

  /** Returns `undefined` if the text was passed instead of a path. */
  async #resolveFile({ path, text }: ToolArgs): Promise<string | undefined> {
    if (typeof path === 'string' && text === undefined) return this.#roots.resolve(path)
    if (typeof text === 'string' && path === undefined) return undefined
    throw new CausewayError(
      'INVALID_ARGUMENTS',
      path === undefined ? 'path or text is missing' : 'path and text are mutually exclusive',
      { data: { problems: [{ argument: 'path', problem: 'pass either path or text' }] } },
    )
  }
}

/** Number of characters of a string that count as one number. */
const charactersPerNumber = 20

const maxCountedNumbers = 10_000

function estimatePositions(args: ToolArgs): number {
  const count = { remaining: maxCountedNumbers }
  for (const value of Object.values(args)) subtractFromBudget(value, count)
  return (maxCountedNumbers - count.remaining) / 2
}

function subtractFromBudget(value: unknown, count: { remaining: number }): void {
  if (count.remaining <= 0) return
  if (typeof value === 'number') count.remaining--
  else if (typeof value === 'string') count.remaining -= value.length / charactersPerNumber
  else if (Array.isArray(value)) for (const item of value) subtractFromBudget(item, count)
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) subtractFromBudget(member, count)
}
