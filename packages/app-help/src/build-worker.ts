/** The worker that builds, exports and imports, for as long as that takes. */
import { randomUUID } from 'node:crypto'
import { constants, setPriority } from 'node:os'
import { dataFailure } from '@causeway/store'
import { type Call, serve } from '@causeway/worker'
import { type BuildRequest, type BuildTools, build, type Making } from './build/build.ts'
import { exportPublic, verifyExport } from './export/export.ts'
import type { ExportMetadata } from './export/export-file.ts'
import { importPublic } from './export/import.ts'
import { openStorage, type StorageSettings } from './open-storage.ts'
import type { BuildReport, HelpStorage } from './storage.ts'

/** Its methods; each opens the store and closes it. */
export interface BuildMethods {
  build(request: { readonly storage: StorageSettings; readonly request: BuildRequest }): BuildReport
  export(request: { readonly storage: StorageSettings; readonly folder: string }): ExportMetadata
  verify(request: { readonly storage: StorageSettings; readonly folder: string }): ExportMetadata
  import(request: {
    readonly storage: StorageSettings
    readonly folder: string
    readonly making: Making
  }): BuildReport
}

// A build takes the time of the processor that no answer needs. On Linux alone a priority is that of the calling thread.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

const newId = (): string => randomUUID().replaceAll('-', '')

async function withStorage<T>(
  settings: StorageSettings,
  use: (storage: HelpStorage) => Promise<T>,
): Promise<T> {
  const storage = await openStorage(settings)
  try {
    return await use(storage)
  } finally {
    await storage.close()
  }
}

const tools = (storage: HelpStorage, { signal, progress }: Call): BuildTools => ({
  storage,
  now: Date.now,
  signal,
  progress,
})

serve<BuildMethods>(
  {
    build: ({ storage, request }, call) => withStorage(storage, (open) => build(request, tools(open, call))),
    export: ({ storage, folder }, call) =>
      withStorage(storage, (open) => exportPublic(folder, { ...tools(open, call), newId })),
    verify: ({ storage, folder }) =>
      withStorage(storage, async (open) => {
        const index = await open.open()
        try {
          return await verifyExport(folder, index)
        } finally {
          await index?.close()
        }
      }),
    import: ({ storage, folder, making }, call) =>
      withStorage(storage, (open) => importPublic(folder, making, tools(open, call))),
  },
  { failure: 'building the documentation failed', convert: (error) => dataFailure(error, 'help.db') },
)
