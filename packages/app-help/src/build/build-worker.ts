import { randomUUID } from 'node:crypto'
import { constants, setPriority } from 'node:os'
import { toDataError } from '@causeway/store'
import { type Call, serve } from '@causeway/worker'
import { exportPublic, verifyExport } from '../export/export.ts'
import type { ExportMetadata } from '../export/export-file.ts'
import { importPublic } from '../export/import.ts'
import { openStorage, type StorageSettings } from '../storage/open-storage.ts'
import type { BuildReport, HelpStorage, IndexFacts } from '../storage/types.ts'
import { type BuildContext, type BuildOptions, type BuildRequest, build } from './build.ts'

/** Methods of the worker that builds, exports and imports. Each opens the storage and closes it. */
export interface BuildMethods {
  /** Revision of the published index, or 0. */
  revision(storage: StorageSettings): number
  /** Facts of the published index, or `undefined`. */
  facts(storage: StorageSettings): IndexFacts | undefined
  build(request: { readonly storage: StorageSettings; readonly request: BuildRequest }): BuildReport
  export(request: { readonly storage: StorageSettings; readonly folder: string }): ExportMetadata
  verify(request: { readonly storage: StorageSettings; readonly folder: string }): ExportMetadata
  import(request: {
    readonly storage: StorageSettings
    readonly folder: string
    readonly options: BuildOptions
  }): BuildReport
}

// Builds run with low priority. Only on Linux does the priority apply to a single thread.
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

const makeContext = (storage: HelpStorage, { signal, progress }: Call): BuildContext => ({
  storage,
  now: Date.now,
  signal,
  progress,
})

async function readFacts(storage: HelpStorage): Promise<IndexFacts | undefined> {
  const index = await storage.open()
  await index?.close()
  return index?.facts
}

serve<BuildMethods>(
  {
    revision: (storage) => withStorage(storage, (open) => open.revision()),
    facts: (storage) => withStorage(storage, readFacts),
    build: ({ storage, request }, call) =>
      withStorage(storage, (open) => build(request, makeContext(open, call))),
    export: ({ storage, folder }, call) =>
      withStorage(storage, (open) => exportPublic(folder, { ...makeContext(open, call), newId })),
    verify: ({ storage, folder }) =>
      withStorage(storage, async (open) => {
        const index = await open.open()
        try {
          return await verifyExport(folder, index)
        } finally {
          await index?.close()
        }
      }),
    import: ({ storage, folder, options }, call) =>
      withStorage(storage, (open) => importPublic(folder, options, makeContext(open, call))),
  },
  { failure: 'building the documentation failed', convert: (error) => toDataError(error, 'help.db') },
)
