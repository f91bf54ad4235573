import { randomUUID } from 'node:crypto'
import { toDataError } from '@causeway/store'
import { type Call, lowerThreadPriority, serve } from '@causeway/worker'
import { exportPublic, verifyExport } from '../export/export.ts'
import type { ExportMetadata } from '../export/export-file.ts'
import { importPublic } from '../export/import.ts'
import { deleteInternal, openStorage, type StorageSettings } from '../storage/open-storage.ts'
import type { BuildReport, HelpIndex, HelpStorage, IndexFacts } from '../storage/types.ts'
import { type BuildContext, type BuildOptions, type BuildRequest, build } from './build.ts'

export interface BuildMethods {
  readRevision(storage: StorageSettings): number
  readFacts(storage: StorageSettings): IndexFacts | undefined
  build(request: { readonly storage: StorageSettings; readonly request: BuildRequest }): BuildReport
  deleteInternal(storage: StorageSettings): void
  export(request: ExportRequest): ExportMetadata
  verify(request: ExportRequest): ExportMetadata
  import(request: {
    readonly storage: StorageSettings
    readonly folder: string
    readonly options: BuildOptions
  }): BuildReport
}

interface ExportRequest {
  readonly storage: StorageSettings
  /** Whether to compare the export with the internal edition. */
  readonly internal: boolean
  readonly folder: string
}

lowerThreadPriority()

const createId = (): string => randomUUID().replaceAll('-', '')

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

function buildEdition(
  helpStorage: HelpStorage,
  settings: StorageSettings,
  request: BuildRequest,
  call: Call,
): Promise<BuildReport> {
  const { edition = 'public' } = settings
  const context = makeContext(helpStorage, call)
  if (edition === 'public') return build({ ...request, edition }, context)
  return withStorage({ ...settings, edition: 'public' }, (base) =>
    build({ ...request, edition }, { ...context, base }),
  )
}

function openOrigin<T>(
  settings: StorageSettings,
  internal: boolean,
  use: (index: HelpIndex | undefined) => Promise<T>,
): Promise<T> {
  return withStorage({ ...settings, edition: internal ? 'internal' : 'public' }, async (storage) => {
    const index = await storage.open()
    try {
      return await use(index)
    } finally {
      await index?.close()
    }
  })
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
    readRevision: (storage) => withStorage(storage, (helpStorage) => helpStorage.readRevision()),
    readFacts: (storage) => withStorage(storage, readFacts),
    build: ({ storage, request }, call) =>
      withStorage(storage, (helpStorage) => buildEdition(helpStorage, storage, request, call)),
    deleteInternal,
    export: ({ storage, internal, folder }, call) =>
      withStorage(storage, (helpStorage) =>
        openOrigin(storage, internal, (origin) =>
          exportPublic(folder, { ...makeContext(helpStorage, call), newId: createId, origin }),
        ),
      ),
    verify: ({ storage, internal, folder }) =>
      openOrigin(storage, internal, (origin) => verifyExport(folder, origin)),
    import: ({ storage, folder, options }, call) =>
      withStorage(storage, (helpStorage) => importPublic(folder, options, makeContext(helpStorage, call))),
  },
  { failure: 'building the documentation failed', convert: (error) => toDataError(error, 'help.db') },
)
