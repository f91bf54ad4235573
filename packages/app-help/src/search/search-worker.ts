import { CausewayError } from '@causeway/protocol'
import { toDataError } from '@causeway/store'
import { serve } from '@causeway/worker'
import type { EmbeddingSettings } from '../embedding.ts'
import { openStorage, type StorageSettings } from '../storage/open-storage.ts'
import type { BuildReport, DocRow, IndexFacts, Scope } from '../storage/types.ts'
import { type Lines, type PageName, type PageText, Queries } from './queries.ts'
import { Reader } from './reader.ts'
import type { SearchAnswer, SearchRequest } from './search.ts'

interface SearchSetup {
  readonly storage: StorageSettings
  readonly embedding: EmbeddingSettings
  readonly internal: boolean
}

export interface SearchMethods {
  setUp(setup: SearchSetup): void
  search(request: SearchRequest): SearchAnswer
  readPage(request: { readonly name: PageName; readonly lines: Lines; readonly scope: Scope }): PageText
  listPages(scope: Scope): readonly DocRow[]
  readFacts(args: undefined): IndexFacts
  readRevision(args: undefined): number
  readLastReport(args: undefined): BuildReport | undefined
}

const state: { queries?: Promise<Queries>; readers?: readonly Reader[] } = {}

/** Calls start in order, so `setUp` has already started. */
const getQueries = (): Promise<Queries> =>
  state.queries ?? Promise.reject(new CausewayError('INTERNAL', 'the search worker is not set up'))

async function openQueries({ storage: settings, embedding, internal }: SearchSetup): Promise<Queries> {
  const storage = await openStorage(settings)
  const reader = new Reader(storage, embedding)
  state.readers = [reader]
  if (!internal) return new Queries(storage, reader)
  const internalReader = new Reader(await openStorage({ ...settings, edition: 'internal' }), embedding)
  state.readers = [reader, internalReader]
  return new Queries(storage, reader, internalReader)
}

serve<SearchMethods>(
  {
    async setUp({ storage: settings, embedding, internal }) {
      state.queries = openQueries({ storage: settings, embedding, internal })
      await state.queries
    },
    search: async (request, { signal }) => (await getQueries()).search(request, signal),
    readPage: async ({ name, lines, scope }) => (await getQueries()).readPage(name, lines, scope),
    listPages: async (scope) => (await getQueries()).listPages(scope),
    readFacts: async () => (await getQueries()).readFacts(),
    readRevision: async () => (await getQueries()).readRevision(),
    readLastReport: async () => (await getQueries()).readLastReport(),
  },
  {
    failure: 'searching the documentation failed',
    convert: (error) => toDataError(error, 'help.db'),
    close: async () => void (await Promise.all(state.readers?.map((reader) => reader.close()) ?? [])),
  },
)
