import type { Experience } from '../domain/reflect.ts'
import { type MemoryTable, type RawRow, toMemory } from './memory-table.ts'
import type { Database } from './mind-table.ts'
import type { NewReflection, ReflectionRow } from './types.ts'

type RawReflection = RawRow & { readonly evidence_json: string }
type RawExperience = RawRow & { readonly merged_count: number }

const prepareStatements = (db: Database) => ({
  experiences: db.prepare<[number, number], RawExperience>(
    `SELECT seq, id, content, importance, sim_time, x, y, kind, subject, tags_json, superseded_by, merged_count FROM memory
     WHERE mind_seq = ? AND kind IN ('episodic', 'fact') ORDER BY sim_time DESC, seq DESC LIMIT ?`,
  ),
  current: db
    .prepare<[number, string], string>(
      `SELECT id FROM reflection JOIN memory ON seq = memory_seq
       WHERE reflection.mind_seq = ? AND about = ? AND superseded_by IS NULL`,
    )
    .pluck(),
  restore: db
    .prepare<[number | null, string], number>(
      'UPDATE memory SET superseded_by = NULL, valid_to = NULL, sim_time = ? WHERE id = ? RETURNING seq',
    )
    .pluck(),
  put: db.prepare(
    'INSERT OR REPLACE INTO reflection (memory_seq, mind_seq, about, evidence_json) VALUES (?, ?, ?, ?)',
  ),
  list: db.prepare<[number, number], RawReflection>(
    `SELECT seq, id, content, importance, sim_time, x, y, kind, subject, tags_json, superseded_by, evidence_json
     FROM reflection JOIN memory ON seq = memory_seq
     WHERE reflection.mind_seq = ? AND superseded_by IS NULL ORDER BY importance DESC, sim_time DESC, seq DESC LIMIT ?`,
  ),
  evidence: db.prepare<[string], { readonly id: string; readonly evidence_json: string }>(
    `SELECT id, evidence_json FROM memory JOIN reflection ON memory_seq = seq
     WHERE id IN (SELECT value FROM json_each(?))`,
  ),
})

/** Each conclusion is also a long-term memory. */
export class ReflectionTable {
  readonly #sql: ReturnType<typeof prepareStatements>
  readonly #memories: MemoryTable

  constructor(db: Database, memories: MemoryTable) {
    this.#sql = prepareStatements(db)
    this.#memories = memories
  }

  /** Returns the newest long-term memories except conclusions. */
  listExperiences(mindSeq: number, limit: number): readonly Experience[] {
    return this.#sql.experiences.all(mindSeq, limit).map(({ merged_count, ...row }) => ({
      ...toMemory(row),
      occurrences: 1 + merged_count,
      is_superseded: row.superseded_by !== null,
    }))
  }

  /** Adds a conclusion and supersedes the previous one on its topic. Returns `false` if it is already current. */
  add(mindSeq: number, embedderId: string, reflection: NewReflection): boolean {
    const { id, about, content, importance, subject, sim_time, evidence, vector } = reflection
    const previous = this.#sql.current.all(mindSeq, about)
    if (previous.includes(id)) return false
    const memory = { id, content, importance, subject, sim_time, location: null }
    const addedSeq = this.#memories.add(mindSeq, { ...memory, kind: 'reflection', tags: ['reflection'] })
    if (addedSeq !== undefined) this.#memories.addVector(mindSeq, addedSeq, embedderId, vector)
    // The id exists if a superseded conclusion became true again.
    const seq = addedSeq ?? this.#sql.restore.get(sim_time, id)
    this.#sql.put.run(seq, mindSeq, about, JSON.stringify(evidence))
    for (const older of previous) this.#memories.supersede(older, id, sim_time)
    return true
  }

  list(mindSeq: number, limit: number): readonly ReflectionRow[] {
    return this.#sql.list.all(mindSeq, limit).map(({ evidence_json, ...row }) => ({
      ...toMemory(row),
      evidence: JSON.parse(evidence_json) as string[],
    }))
  }

  readEvidence(ids: readonly string[]): ReadonlyMap<string, readonly string[]> {
    const rows = this.#sql.evidence.all(JSON.stringify(ids))
    return new Map(rows.map((row) => [row.id, JSON.parse(row.evidence_json) as string[]]))
  }
}
