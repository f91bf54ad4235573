/** The worker that answers questions: it holds the index, its vectors and the endpoint's connections. */
import { CausewayError } from '@causeway/protocol'
import { dataFailure } from '@causeway/store'
import { serve } from '@causeway/worker'
import type { EmbeddingSettings } from './embedding.ts'
import { openStorage, type StorageSettings } from './open-storage.ts'
import {
  type Lines,
  makeQuestions,
  type PageName,
  type PageText,
  type Questions,
} from './search/questions.ts'
import { openReader, type Reader } from './search/reader.ts'
import type { SearchAnswer, SearchRequest } from './search/search.ts'
import type { BuildReport, DocRow, IndexFacts, Scope } from './storage.ts'

/** What the worker is told first. */
export interface SearchSetup {
  readonly storage: StorageSettings
  readonly embedding: EmbeddingSettings
}

/** Its methods. */
export interface SearchMethods {
  setUp(setup: SearchSetup): void
  search(request: SearchRequest): SearchAnswer
  page(request: { readonly name: PageName; readonly lines: Lines; readonly scope: Scope }): PageText
  pages(scope: Scope): readonly DocRow[]
  facts(nothing: undefined): IndexFacts
  revision(nothing: undefined): number
  lastReport(nothing: undefined): BuildReport | undefined
}

const open: { questions?: Promise<Questions>; reader?: Reader } = {}

/** Calls start in their order, so the set-up is at least under way. */
const questions = (): Promise<Questions> =>
  open.questions ?? Promise.reject(new CausewayError('INTERNAL', 'the worker was asked before it was set up'))

serve<SearchMethods>(
  {
    async setUp({ storage: settings, embedding }) {
      open.questions = openStorage(settings).then((storage) => {
        open.reader = openReader(storage, embedding)
        return makeQuestions(storage, open.reader)
      })
      await open.questions
    },
    search: async (request, { signal }) => (await questions()).search(request, signal),
    page: async ({ name, lines, scope }) => (await questions()).page(name, lines, scope),
    pages: async (scope) => (await questions()).pages(scope),
    facts: async () => (await questions()).facts(),
    revision: async () => (await questions()).revision(),
    lastReport: async () => (await questions()).lastReport(),
  },
  {
    failure: 'searching the documentation failed',
    convert: (error) => dataFailure(error, 'help.db'),
    close: () => open.reader?.close(),
  },
)
