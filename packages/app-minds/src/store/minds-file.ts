import { join } from 'node:path'
import { type AgingOptions, openDatabase, StoreError, toDataError } from '@causeway/store'
import { MindsError } from '../errors.ts'
import type { Limits } from '../limits.ts'
import { MemoryTable } from './memory-table.ts'
import { type Database, MindTable } from './mind-table.ts'
import { RecordTable, type RepeatableRequest } from './record-table.ts'
import { ReflectionTable } from './reflection-table.ts'
import { migrations } from './schema.ts'
import type { FoundRecallData, MemoryRow, MindRow, RecallDataQuery } from './types.ts'
import { WorldTable } from './world-table.ts'

interface FileOptions extends Pick<AgingOptions, 'now' | 'monotonicNow'> {
  readonly dir: string
  readonly limits: Limits
  readonly durability: 'normal' | 'full'
}

/** The tables of the data file, valid only inside a transaction. */
export interface Tables {
  readonly db: Database
  readonly minds: MindTable
  readonly memories: MemoryTable
  readonly reflections: ReflectionTable
  readonly world: WorldTable
  readonly records: RecordTable
}

/** In pages of 4 KiB. Rare checkpoints write less, because consecutive decisions change the same pages. */
const checkpointPages = 4000

/** Sufficient for the pages of about a thousand minds. */
const cacheKibibytes = 16_384

/** Data file of all minds, `minds.db`. SQLite errors become `STORE_ERROR`, or `DATA_DAMAGED` if the file is damaged. */
export class MindsFile {
  readonly #path: string
  readonly #db: Database
  readonly #tables: Tables

  /** Throws the errors of `openDatabase`. */
  constructor({ dir, now, monotonicNow, limits, durability }: FileOptions) {
    this.#path = join(dir, 'minds.db')
    const db = openDatabase(this.#path, { migrations, now, synchronous: durability })
    db.pragma(`wal_autocheckpoint = ${checkpointPages}`)
    db.pragma(`cache_size = ${-cacheKibibytes}`)
    this.#db = db
    const memories = new MemoryTable(db, now)
    this.#tables = {
      db,
      minds: new MindTable(db, now),
      memories,
      reflections: new ReflectionTable(db, memories),
      world: new WorldTable(db, limits),
      records: new RecordTable(db, { now, monotonicNow }, limits),
    }
  }

  async read<T>(work: (tables: Tables) => T): Promise<T> {
    return this.#run(work, 'deferred')
  }

  async write<T>(work: (tables: Tables) => T): Promise<T> {
    return this.#run(work, 'immediate')
  }

  runOnce<T extends object>(
    request: RepeatableRequest,
    work: (tables: Tables) => T,
  ): Promise<T & { readonly replayed?: true }> {
    return this.write((tables) => {
      const storedAnswer = tables.records.findAnswer<T>(request)
      if (storedAnswer !== undefined) return storedAnswer
      const answer = work(tables)
      tables.records.addAnswer(request, answer)
      return answer
    })
  }

  readRecallData({ seq }: Pick<MindRow, 'seq'>, query: RecallDataQuery): Promise<FoundRecallData> {
    return this.read(({ memories }) => memories.readRecallData(seq, query))
  }

  listBySeqs(seqs: readonly number[]): Promise<readonly MemoryRow[]> {
    return this.read(({ memories }) => memories.listBySeqs(seqs))
  }

  /** Iterates vectors in the order of rows. The caller must exhaust the iterator. */
  iterateVectors(mindSeq: number, embedderId: string, after: number) {
    return this.#tables.memories.iterateVectors(mindSeq, embedderId, after)
  }

  async readModel(name: string): Promise<Uint8Array | undefined> {
    const sql = 'SELECT bytes FROM embedding_model WHERE name = ?'
    return this.read(() => this.#db.prepare<[string], Uint8Array>(sql).pluck().get(name))
  }

  async saveModel(name: string, bytes: Uint8Array): Promise<void> {
    const sql = 'INSERT OR REPLACE INTO embedding_model (name, bytes) VALUES (?, ?)'
    await this.write(() => this.#db.prepare(sql).run(name, bytes))
  }

  readStats() {
    const readPragma = (name: string): number => Number(this.#db.pragma(name, { simple: true }))
    return this.#run(
      ({ minds }) => ({
        minds_active: minds.countActive(),
        db_bytes: readPragma('page_count') * readPragma('page_size'),
      }),
      'deferred',
    )
  }

  close(): void {
    this.#db.close()
  }

  #run<T>(work: (tables: Tables) => T, mode: 'deferred' | 'immediate'): T {
    try {
      return this.#db.transaction(() => work(this.#tables))[mode]()
    } catch (error) {
      throw toStoreError(error, this.#path)
    }
  }
}

function toStoreError(error: unknown, file: string): unknown {
  const isSqliteError = error instanceof Error && /^SQLITE_/.test(String((error as { code?: unknown }).code))
  if (!isSqliteError) return error
  const cause = toDataError(error, file)
  if (StoreError.is(cause, 'DATA_DAMAGED')) return cause
  return new MindsError('STORE_ERROR', 'the memories could not be read or written', { cause })
}
