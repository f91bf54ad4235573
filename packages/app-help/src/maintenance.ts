/** Building, exporting and importing from a command line: the same workers as in the server, on the same data. */
import { type AnswerOf, type ArgsOf, type MethodName, startWorker, workerFile } from '@causeway/worker'
import type { BuildMethods } from './build-worker.ts'
import { openStorage } from './open-storage.ts'
import { type HelpSettings, readSettings } from './settings.ts'
import type { BuildReport, IndexFacts } from './storage.ts'

/** What a command uses of the world. */
export interface MaintenanceOptions {
  /** The data folder, absolute. */
  readonly dir: string
  /** The validated settings, by name. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly cwd: string
  readonly signal?: AbortSignal
  readonly progress?: (done: number, total: number | undefined, message: string) => void
}

/** What is indexed, and how the last build went. */
export interface HelpStats {
  readonly facts: IndexFacts | undefined
  readonly report: BuildReport | undefined
  /** Sources in the index that the settings do not name any more. */
  readonly unconfigured: readonly string[]
}

/** The tasks of an operator. Each rejects with a `CausewayError`. */
export function openMaintenance({ dir, settings: values, cwd, signal, progress }: MaintenanceOptions) {
  const settings: HelpSettings = readSettings(values, cwd)
  const storage = { dir, databaseUrl: settings.databaseUrl }
  const making = (rebuild: boolean) => ({
    size: settings.size,
    embedding: settings.embedding,
    rebuild,
    holder: `command-${process.pid}`,
  })
  const call = <Name extends MethodName<BuildMethods>>(
    method: Name,
    args: ArgsOf<BuildMethods, Name>,
  ): Promise<AnswerOf<BuildMethods, Name>> => {
    const link = startWorker<BuildMethods>(workerFile('build-worker', import.meta.url), {
      name: 'the worker that indexes the documentation',
    })
    const tell = (done: number, total?: number, message = ''): void => progress?.(done, total, message)
    return link.call(method, args, { signal, progress: tell }).finally(() => link.stop())
  }
  return {
    build: (rebuild: boolean) =>
      call('build', { storage, request: { ...making(rebuild), sources: settings.sources } }),
    export: (folder: string) => call('export', { storage, folder }),
    verify: (folder: string) => call('verify', { storage, folder }),
    import: (folder: string) => call('import', { storage, folder, making: making(false) }),
    async stats(): Promise<HelpStats> {
      const open = await openStorage(storage)
      try {
        const index = await open.open()
        const facts = index?.facts
        await index?.close()
        const configured = new Set(settings.sources.map(({ name }) => name))
        const unconfigured = (facts?.sources ?? [])
          .map(({ source }) => source)
          .filter((source) => !configured.has(source))
        return { facts, report: await open.lastReport(), unconfigured }
      } finally {
        await open.close()
      }
    },
  }
}
