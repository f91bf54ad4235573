/** Memories, of today and lasting, with their vectors and their full-text search. */
import type { Cell } from '../domain/observation.ts'
import { searchWords } from '../domain/words.ts'
import { wordsHash } from './hash.ts'
import type { Database } from './mind-table.ts'
import type { MemoryRow, NewMemory } from './types.ts'

/** A memory as it is read. */
export interface RawMemory {
  readonly seq: number
  readonly id: string
  readonly content: string
  readonly importance: number
  readonly sim_time: number | null
  readonly x: number | null
  readonly y: number | null
  readonly kind: MemoryRow['kind']
  readonly subject: string | null
  readonly tags_json: string
  readonly superseded_by: string | null
}

/** A daily memory with its vector, about to last. */
export interface Lasting {
  readonly memory: MemoryRow
  /** null where its text has no direction in the space */
  readonly vector: Uint8Array | null
}

/** The statements about memories; to be called inside a transaction. */
export function memoryTable(db: Database, now: () => number) {
  const columns = 'seq, id, content, importance, sim_time, x, y, kind, subject, tags_json'
  const addDaily = db.prepare(
    `INSERT OR IGNORE INTO daily_memory (id, mind_seq, content, importance, sim_time, x, y, kind, subject, tags_json, words_hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const daily = db.prepare<[number, number], RawMemory>(
    `SELECT ${columns}, NULL AS superseded_by FROM daily_memory WHERE mind_seq = ? ORDER BY sim_time, seq LIMIT ?`,
  )
  const dropDaily = db.prepare('DELETE FROM daily_memory WHERE id = ?')
  const failDaily = db.prepare('UPDATE daily_memory SET attempts = attempts + 1, last_error = ? WHERE id = ?')
  const add = db.prepare(
    `INSERT OR IGNORE INTO memory (id, mind_seq, content, words_hash, importance, sim_time, x, y, kind, subject, tags_json, consolidated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const addWords = db.prepare('INSERT INTO memory_fts (rowid, words) VALUES (?, ?)')
  const addVector = db.prepare(
    'INSERT OR REPLACE INTO memory_vec (memory_seq, embedder_id, mind_seq, vec) VALUES (?, ?, ?, ?)',
  )
  const alike = db.prepare<[number, string, string, string | null], { seq: number; id: string }>(
    'SELECT seq, id FROM memory WHERE mind_seq = ? AND words_hash = ? AND kind = ? AND subject IS ? ORDER BY seq LIMIT 1',
  )
  const merge = db.prepare(
    `UPDATE memory SET importance = max(importance, ?), sim_time = max(coalesce(sim_time, 0), coalesce(?, sim_time, 0)),
       merged_count = merged_count + 1, superseded_by = NULL, valid_to = NULL WHERE seq = ?`,
  )
  const supersede = db.prepare(
    'UPDATE memory SET superseded_by = ?, valid_to = ? WHERE id = ? AND id != ? AND superseded_by IS NULL',
  )
  const touch = db.prepare(
    `INSERT INTO memory_access (memory_seq, access_count, last_access_sim_time)
     SELECT seq, 1, ? FROM memory WHERE id IN (SELECT value FROM json_each(?))
     ON CONFLICT DO UPDATE SET access_count = access_count + 1, last_access_sim_time = excluded.last_access_sim_time`,
  )
  const newest = db.prepare<[number, number], RawMemory>(
    `SELECT ${columns}, superseded_by FROM memory WHERE mind_seq = ? ORDER BY sim_time DESC, seq DESC LIMIT ?`,
  )
  const weightiest = db.prepare<[number, number], RawMemory>(
    `SELECT ${columns}, superseded_by FROM memory WHERE mind_seq = ? ORDER BY importance DESC, seq DESC LIMIT ?`,
  )
  const bySeqs = db.prepare<[string], RawMemory>(
    `SELECT ${columns}, superseded_by FROM memory WHERE seq IN (SELECT value FROM json_each(?))`,
  )
  const having = db
    .prepare<[string], number>(
      `SELECT rowid FROM memory_fts WHERE memory_fts MATCH ? ORDER BY rowid DESC LIMIT ${mostRows}`,
    )
    .pluck()
  const unembedded = db.prepare<[number, string, number], RawMemory>(
    `SELECT ${columns}, superseded_by FROM memory m WHERE mind_seq = ? AND NOT EXISTS
       (SELECT 1 FROM memory_vec v WHERE v.memory_seq = m.seq AND v.embedder_id = ?) ORDER BY seq LIMIT ?`,
  )
  const vectors = db.prepare<[number, string, number], { memory_seq: number; vec: Uint8Array }>(
    'SELECT memory_seq, vec FROM memory_vec WHERE mind_seq = ? AND embedder_id = ? AND memory_seq > ? ORDER BY memory_seq',
  )
  const lastVector = db
    .prepare<[number, string], number | null>(
      'SELECT max(memory_seq) FROM memory_vec WHERE mind_seq = ? AND embedder_id = ?',
    )
    .pluck()
  // Importance times recency, the least first; seeds are who the character is and stay.
  const evict = db.prepare(
    `DELETE FROM memory WHERE seq IN (
       SELECT seq FROM memory WHERE mind_seq = ?1 AND kind != 'seed'
       ORDER BY importance / (1 + max(0, coalesce(?2 - sim_time, 1000)) / 1000.0), seq LIMIT ?3)`,
  )
  return {
    addDaily(
      mindSeq: number,
      { id, content, importance, sim_time, location, kind, subject, tags }: NewMemory,
    ): void {
      const [x, y] = location ?? [null, null]
      addDaily.run(
        ...[id, mindSeq, content, importance, sim_time, x, y, kind, subject],
        JSON.stringify(tags),
        wordsHash(content),
      )
    },
    daily: (mindSeq: number, limit = 1e9): readonly MemoryRow[] => daily.all(mindSeq, limit).map(memoryOf),
    dropDaily: (id: string): boolean => dropDaily.run(id).changes > 0,
    failDaily: (id: string, error: string): void => void failDaily.run(error, id),
    /** The seq of the new row, or undefined where the id is there already. */
    add(mindSeq: number, memory: Omit<MemoryRow, 'seq' | 'superseded_by'>): number | undefined {
      const { id, content, importance, sim_time, location, kind, subject, tags } = memory
      const [x, y] = location ?? [null, null]
      const made = add.run(
        ...[id, mindSeq, content, wordsHash(content), importance, sim_time, x, y, kind, subject],
        JSON.stringify(tags),
        now(),
      )
      if (made.changes === 0) return undefined
      addWords.run(made.lastInsertRowid, mindWords(mindSeq, content))
      return Number(made.lastInsertRowid)
    },
    addVector: (mindSeq: number, memorySeq: number, embedderId: string, vector: Uint8Array | null): void =>
      void addVector.run(memorySeq, embedderId, mindSeq, vector ?? new Uint8Array(0)),
    alike: (mindSeq: number, { content, kind, subject }: Pick<MemoryRow, 'content' | 'kind' | 'subject'>) =>
      alike.get(mindSeq, wordsHash(content), kind, subject),
    merge: (seq: number, { importance, sim_time }: Pick<MemoryRow, 'importance' | 'sim_time'>): void =>
      void merge.run(importance, sim_time, seq),
    supersede: (older: string, newer: string, time: number | null): boolean =>
      supersede.run(newer, time, older, newer).changes > 0,
    /** Counts that lasting memories came to mind. */
    touch: (ids: readonly string[], time: number): void => void touch.run(time, JSON.stringify(ids)),
    newest: (mindSeq: number, limit: number): readonly MemoryRow[] =>
      newest.all(mindSeq, limit).map(memoryOf),
    weightiest: (mindSeq: number, limit: number): readonly MemoryRow[] =>
      weightiest.all(mindSeq, limit).map(memoryOf),
    bySeqs: (seqs: readonly number[]): readonly MemoryRow[] => bySeqs.all(JSON.stringify(seqs)).map(memoryOf),
    /** Lasting memories of a mind that have a word, the newest first, not more than a bound. */
    having: (mindSeq: number, word: string): readonly number[] => having.all(quoted(mindWord(mindSeq, word))),
    unembedded: (mindSeq: number, embedderId: string, limit: number): readonly MemoryRow[] =>
      unembedded.all(mindSeq, embedderId, limit).map(memoryOf),
    vectors: (mindSeq: number, embedderId: string, after: number) =>
      vectors.iterate(mindSeq, embedderId, after),
    /** The last row of a mind that has a vector in a space, 0 where none has. */
    lastVector: (mindSeq: number, embedderId: string): number => lastVector.get(mindSeq, embedderId) ?? 0,
    evict: (mindSeq: number, time: number | null, count: number): number =>
      evict.run({ 1: mindSeq, 2: time, 3: count }).changes,
  }
}

/** Rows taken of one word: one that more memories have tells little, and the newest of them are enough. */
const mostRows = 5000

/** A word as the index has it: of one mind. The prefix has no vowel, so the stem of the word is what it was. */
const mindWord = (mindSeq: number, word: string): string => `m${mindSeq}q${word}`

/** The meaning words of a memory as the index has them. */
const mindWords = (mindSeq: number, content: string): string =>
  [...new Set(searchWords(content))].map((word) => mindWord(mindSeq, word)).join(' ')

/** A word as a search for it: what a character says is no query language. */
const quoted = (word: string): string => `"${word.replaceAll('"', '""')}"`

/** The memory of a row. */
export function memoryOf({ x, y, tags_json, ...row }: RawMemory): MemoryRow {
  const location: Cell | null = x === null || y === null ? null : [x, y]
  return { ...row, location, tags: JSON.parse(tags_json) as string[] } // written by this file
}
