/** The worker that searches the vectors of big minds: it reads the data file by a connection of its own. */
import { join } from 'node:path'
import { encodeLsa, trainLsa } from '@causeway/embed'
import { CausewayError } from '@causeway/protocol'
import { dataFailure, openDatabase } from '@causeway/store'
import { serve } from '@causeway/worker'
import { everydayDimensions, everydayLanguage } from './memory/everyday-language.ts'
import type { SearchMethods } from './memory/search-methods.ts'
import { type VectorCache, vectorCache } from './memory/vector-cache.ts'
import { memoryTable } from './store/memory-table.ts'
import { migrations } from './store/schema.ts'

const held: { cache?: VectorCache; close?: () => void } = {}

const opened = (): VectorCache => {
  if (held.cache === undefined) throw new CausewayError('INTERNAL', 'the search worker has no file yet')
  return held.cache
}

serve<SearchMethods>(
  {
    open({ dir, mostBytes }) {
      const db = openDatabase(join(dir, 'minds.db'), { migrations })
      const memories = memoryTable(db, () => 0)
      held.cache = vectorCache(memories.vectors, mostBytes)
      held.close = () => void db.close()
    },
    search: (question) => opened().search(question),
    train: async (_, { signal }) =>
      encodeLsa(await trainLsa(everydayLanguage, { dimensions: everydayDimensions, signal })),
    drop: ({ mindSeq }) => opened().drop(mindSeq),
  },
  {
    failure: 'searching the memories failed',
    convert: (error) => dataFailure(error, 'minds.db'),
    close: () => held.close?.(),
  },
)
