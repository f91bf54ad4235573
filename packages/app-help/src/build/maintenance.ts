import { type MethodArgs, type MethodResult, resolveWorkerFile, WorkerLink } from '@causeway/worker'
import { type HelpSettings, readSettings } from '../settings.ts'
import { makeHolder } from '../storage/lock-holder.ts'
import { openStorage } from '../storage/open-storage.ts'
import type { BuildReport, IndexFacts } from '../storage/types.ts'
import type { BuildMethods } from './build-worker.ts'

interface MaintenanceOptions {
  readonly dir: string
  readonly settings: Readonly<Record<string, unknown>>
  readonly cwd: string
  readonly signal?: AbortSignal
  readonly progress?: (done: number, total: number | undefined, message: string) => void
}

interface HelpStats {
  readonly facts: IndexFacts | undefined
  readonly report: BuildReport | undefined
  readonly unconfigured: readonly string[]
}

export function openMaintenance({ dir, settings: values, cwd, signal, progress }: MaintenanceOptions) {
  const settings: HelpSettings = readSettings(values, { cwd, dir })
  const storage = { dir, databaseUrl: settings.databaseUrl }
  const options = (rebuild: boolean) => ({
    size: settings.size,
    embedding: settings.embedding,
    rebuild,
    holder: makeHolder('command'),
  })
  const call = <Name extends keyof BuildMethods & string>(
    method: Name,
    args: MethodArgs<BuildMethods, Name>,
  ): Promise<MethodResult<BuildMethods, Name>> => {
    const link = new WorkerLink<BuildMethods>(resolveWorkerFile('build-worker', import.meta.url), {
      name: 'the worker that indexes the documentation',
    })
    const report = (done: number, total?: number, message = ''): void => progress?.(done, total, message)
    return link.call(method, args, { signal, progress: report }).finally(() => link.stop())
  }
  return {
    async build(rebuild: boolean): Promise<BuildReport> {
      const request = { ...options(rebuild), ...settings.listSources() }
      const report = await call('build', { storage, request })
      if (settings.internal) return call('build', { storage: { ...storage, edition: 'internal' }, request })
      await call('deleteInternal', storage)
      return report
    },
    export: (folder: string) => call('export', { storage, internal: settings.internal, folder }),
    verify: (folder: string) => call('verify', { storage, internal: settings.internal, folder }),
    import: (folder: string) => call('import', { storage, folder, options: options(false) }),
    async stats(): Promise<HelpStats> {
      const open = await openStorage(storage)
      try {
        const index = await open.open()
        const facts = index?.facts
        await index?.close()
        const configuredNames = new Set(settings.listSources().sources.map(({ name }) => name))
        const unconfigured = (facts?.sources ?? [])
          .map(({ source }) => source)
          .filter((source) => !configuredNames.has(source))
        return { facts, report: await open.readLastReport(), unconfigured }
      } finally {
        await open.close()
      }
    },
  }
}
