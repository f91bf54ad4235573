import { join } from 'node:path'
import { encodeLsa, trainLsa } from '@causeway/embed'
import { CausewayError } from '@causeway/protocol'
import { openDatabase, toDataError } from '@causeway/store'
import { serve } from '@causeway/worker'
import { MemoryTable } from '../store/memory-table.ts'
import { migrations } from '../store/schema.ts'
import { everydayDimensions, everydayLanguage } from './everyday-language.ts'
import { VectorCache, type VectorMatches, type VectorQuery } from './vector-cache.ts'

/** Methods of the worker that searches large minds and trains the vector space. */
export interface SearchMethods {
  open(args: { readonly dir: string; readonly maxBytes: number }): void
  search(query: VectorQuery): VectorMatches
  train(args: undefined): Promise<Uint8Array>
  drop(args: { readonly mindSeq: number }): void
}

const state: { cache?: VectorCache; close?: () => void } = {}

const getCache = (): VectorCache => {
  if (state.cache === undefined) throw new CausewayError('INTERNAL', 'the search worker has no data file')
  return state.cache
}

serve<SearchMethods>(
  {
    open({ dir, maxBytes }) {
      const db = openDatabase(join(dir, 'minds.db'), { migrations })
      const memories = new MemoryTable(db, () => 0)
      state.cache = new VectorCache((...args) => memories.iterateVectors(...args), maxBytes)
      state.close = () => void db.close()
    },
    search: (query) => getCache().search(query),
    train: async (_, { signal }) =>
      encodeLsa(await trainLsa(everydayLanguage, { dimensions: everydayDimensions, signal })),
    drop: ({ mindSeq }) => getCache().drop(mindSeq),
  },
  {
    failure: 'searching the memories failed',
    convert: (error) => toDataError(error, 'minds.db'),
    close: () => state.close?.(),
  },
)
