import type { Memory } from '../domain/memory.ts'
import type { Cell } from '../domain/observation.ts'
import type { Period } from '../domain/question.ts'
import { listContentWords } from '../domain/words.ts'
import { hashWords } from './hash.ts'
import type { Database } from './mind-table.ts'
import type { FoundRecallData, MemoryRow, RecallDataQuery } from './types.ts'

interface RawMemory extends Omit<Memory, 'location' | 'tags'> {
  readonly x: number | null
  readonly y: number | null
  readonly tags_json: string
}

export type RawRow = RawMemory & Pick<MemoryRow, 'seq' | 'superseded_by'>

/** Maximum rows read per word, newest first. A word that more memories contain is not specific. */
const maxRows = 5000

const columns = 'seq, id, content, importance, sim_time, x, y, kind, subject, tags_json'

const prepareStatements = (db: Database) => ({
  addDaily: db.prepare(
    `INSERT OR IGNORE INTO daily_memory (id, mind_seq, content, importance, sim_time, x, y, kind, subject, tags_json, words_hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  daily: db.prepare<[number, number], RawRow>(
    `SELECT ${columns}, NULL AS superseded_by FROM daily_memory WHERE mind_seq = ? ORDER BY sim_time, seq LIMIT ?`,
  ),
  removeDaily: db.prepare('DELETE FROM daily_memory WHERE id = ?'),
  markDailyFailed: db.prepare('UPDATE daily_memory SET attempts = attempts + 1, last_error = ? WHERE id = ?'),
  add: db.prepare(
    `INSERT OR IGNORE INTO memory (id, mind_seq, content, words_hash, importance, sim_time, x, y, kind, subject, tags_json, consolidated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  index: db.prepare('INSERT INTO memory_fts (rowid, words) VALUES (?, ?)'),
  addVector: db.prepare(
    'INSERT OR REPLACE INTO memory_vec (memory_seq, embedder_id, mind_seq, vec) VALUES (?, ?, ?, ?)',
  ),
  findDuplicate: db.prepare<[number, string, string, string | null], { seq: number; id: string }>(
    'SELECT seq, id FROM memory WHERE mind_seq = ? AND words_hash = ? AND kind = ? AND subject IS ? ORDER BY seq LIMIT 1',
  ),
  merge: db.prepare(
    `UPDATE memory SET importance = max(importance, ?), sim_time = max(coalesce(sim_time, 0), coalesce(?, sim_time, 0)),
       merged_count = merged_count + 1, superseded_by = NULL, valid_to = NULL WHERE seq = ?`,
  ),
  supersede: db.prepare(
    'UPDATE memory SET superseded_by = ?, valid_to = ? WHERE id = ? AND id != ? AND superseded_by IS NULL',
  ),
  countRecall: db.prepare(
    `INSERT INTO memory_access (memory_seq, access_count, last_access_sim_time)
     SELECT seq, 1, ? FROM memory WHERE id IN (SELECT value FROM json_each(?))
     ON CONFLICT DO UPDATE SET access_count = access_count + 1, last_access_sim_time = excluded.last_access_sim_time`,
  ),
  newest: db.prepare<[number, number], RawRow>(
    `SELECT ${columns}, superseded_by FROM memory WHERE mind_seq = ? ORDER BY sim_time DESC, seq DESC LIMIT ?`,
  ),
  byImportance: db.prepare<[number, number], RawRow>(
    `SELECT ${columns}, superseded_by FROM memory WHERE mind_seq = ? ORDER BY importance DESC, seq DESC LIMIT ?`,
  ),
  bySeqs: db.prepare<[string], RawRow>(
    `SELECT ${columns}, superseded_by FROM memory WHERE seq IN (SELECT value FROM json_each(?))`,
  ),
  withWord: db
    .prepare<[string], number>(
      `SELECT rowid FROM memory_fts WHERE memory_fts MATCH ? ORDER BY rowid DESC LIMIT ${maxRows}`,
    )
    .pluck(),
  between: db.prepare<[number, number, number, number], RawRow>(
    `SELECT ${columns}, superseded_by FROM memory WHERE mind_seq = ? AND sim_time >= ? AND sim_time < ?
     ORDER BY importance DESC, seq DESC LIMIT ?`,
  ),
  withoutVector: db.prepare<[number, string, number], RawRow>(
    `SELECT ${columns}, superseded_by FROM memory m WHERE mind_seq = ? AND NOT EXISTS
       (SELECT 1 FROM memory_vec v WHERE v.memory_seq = m.seq AND v.embedder_id = ?) ORDER BY seq LIMIT ?`,
  ),
  vectors: db.prepare<[number, string, number], { memory_seq: number; vec: Uint8Array }>(
    'SELECT memory_seq, vec FROM memory_vec WHERE mind_seq = ? AND embedder_id = ? AND memory_seq > ? ORDER BY memory_seq',
  ),
  lastVector: db
    .prepare<[number, string], number | null>(
      'SELECT max(memory_seq) FROM memory_vec WHERE mind_seq = ? AND embedder_id = ?',
    )
    .pluck(),
  // Seeds define the character and are not evicted.
  evict: db.prepare(
    `DELETE FROM memory WHERE seq IN (
       SELECT seq FROM memory WHERE mind_seq = ?1 AND kind != 'seed'
       ORDER BY importance / (1 + max(0, coalesce(?2 - sim_time, 1000)) / 1000.0), seq LIMIT ?3)`,
  ),
})

export class MemoryTable {
  readonly #sql: ReturnType<typeof prepareStatements>
  readonly #now: () => number

  constructor(db: Database, now: () => number) {
    this.#sql = prepareStatements(db)
    this.#now = now
  }

  addDaily(mindSeq: number, memory: Memory): void {
    const { id, content, importance, sim_time, location, kind, subject, tags } = memory
    const [x, y] = location ?? [null, null]
    const values = [id, mindSeq, content, importance, sim_time, x, y, kind, subject]
    this.#sql.addDaily.run(...values, JSON.stringify(tags), hashWords(content))
  }

  listDaily(mindSeq: number, limit = 1e9): readonly MemoryRow[] {
    return this.#sql.daily.all(mindSeq, limit).map(toMemory)
  }

  removeDaily(id: string): boolean {
    return this.#sql.removeDaily.run(id).changes > 0
  }

  markDailyFailed(id: string, error: string): void {
    this.#sql.markDailyFailed.run(error, id)
  }

  /** Returns the row of the memory, or `undefined` if its id already exists. */
  add(mindSeq: number, memory: Memory): number | undefined {
    const { id, content, importance, sim_time, location, kind, subject, tags } = memory
    const [x, y] = location ?? [null, null]
    const values = [id, mindSeq, content, hashWords(content), importance, sim_time, x, y, kind, subject]
    const insertion = this.#sql.add.run(...values, JSON.stringify(tags), this.#now())
    if (insertion.changes === 0) return undefined
    const words = [...new Set(listContentWords(content))].map((word) => createIndexedWord(mindSeq, word))
    this.#sql.index.run(insertion.lastInsertRowid, words.join(' '))
    return Number(insertion.lastInsertRowid)
  }

  addVector(mindSeq: number, memorySeq: number, embedderId: string, vector: Uint8Array | null): void {
    this.#sql.addVector.run(memorySeq, embedderId, mindSeq, vector ?? new Uint8Array(0))
  }

  findDuplicate(
    mindSeq: number,
    { content, kind, subject }: Pick<MemoryRow, 'content' | 'kind' | 'subject'>,
  ) {
    return this.#sql.findDuplicate.get(mindSeq, hashWords(content), kind, subject)
  }

  merge(seq: number, { importance, sim_time }: Pick<MemoryRow, 'importance' | 'sim_time'>): void {
    this.#sql.merge.run(importance, sim_time, seq)
  }

  supersede(olderId: string, newerId: string, time: number | null): void {
    this.#sql.supersede.run(newerId, time, olderId, newerId)
  }

  countRecall(ids: readonly string[], time: number): void {
    this.#sql.countRecall.run(time, JSON.stringify(ids))
  }

  listNewest(mindSeq: number, limit: number): readonly MemoryRow[] {
    return this.#sql.newest.all(mindSeq, limit).map(toMemory)
  }

  listBetween(mindSeq: number, { from, to }: Period, limit: number): readonly MemoryRow[] {
    return this.#sql.between.all(mindSeq, from, to, limit).map(toMemory)
  }

  listBySeqs(seqs: readonly number[]): readonly MemoryRow[] {
    return this.#sql.bySeqs.all(JSON.stringify(seqs)).map(toMemory)
  }

  /** Maps each word, or prefix that ends in `*`, to the newest long-term memories that contain it. */
  readPostings(mindSeq: number, words: readonly string[]): ReadonlyMap<string, readonly number[]> {
    // Quotes words, so that they are not parsed as query syntax.
    const quoteWord = (word: string) =>
      word.endsWith('*')
        ? `"${createIndexedWord(mindSeq, word.slice(0, -1)).replaceAll('"', '""')}" *`
        : `"${createIndexedWord(mindSeq, word).replaceAll('"', '""')}"`
    return new Map(words.map((word) => [word, this.#sql.withWord.all(quoteWord(word))]))
  }

  readRecallData(mindSeq: number, { words, today, defaults }: RecallDataQuery): FoundRecallData {
    return {
      ...(today === true ? { today: this.listDaily(mindSeq) } : {}),
      postings: this.readPostings(mindSeq, words),
      ...(defaults === undefined ? {} : { defaults: this.#readDefaults(mindSeq, defaults) }),
    }
  }

  listWithoutVector(mindSeq: number, embedderId: string, limit: number): readonly MemoryRow[] {
    return this.#sql.withoutVector.all(mindSeq, embedderId, limit).map(toMemory)
  }

  iterateVectors(mindSeq: number, embedderId: string, after: number) {
    return this.#sql.vectors.iterate(mindSeq, embedderId, after)
  }

  evict(mindSeq: number, time: number | null, count: number): number {
    return this.#sql.evict.run({ 1: mindSeq, 2: time, 3: count }).changes
  }

  #readDefaults(mindSeq: number, { extraCount, embedderId }: NonNullable<RecallDataQuery['defaults']>) {
    const importantMemories = this.#sql.byImportance.all(mindSeq, extraCount).map(toMemory)
    const rows = [...this.listNewest(mindSeq, extraCount), ...importantMemories]
    return {
      rows: [...new Map(rows.map((row) => [row.seq, row])).values()],
      lastVector: this.#sql.lastVector.get(mindSeq, embedderId) ?? 0,
    }
  }
}

/** Returns a word as indexed for a mind. The prefix `m…q` has no vowels and does not affect stemming. */
const createIndexedWord = (mindSeq: number, word: string): string => `m${mindSeq}q${word}`

export function toMemory<Row extends RawMemory>({ x, y, tags_json, ...row }: Row) {
  const location: Cell | null = x === null || y === null ? null : [x, y]
  return { ...row, location, tags: JSON.parse(tags_json) as string[] }
}
