/** What minds have concluded, beside the memories that it rests on. */
import type { Experience } from '../domain/reflect.ts'
import { memoryOf, type memoryTable, type RawMemory } from './memory-table.ts'
import type { Database } from './mind-table.ts'
import type { NewReflection, ReflectionRow } from './types.ts'

type RawReflection = RawMemory & { readonly evidence_json: string }
type RawExperience = RawMemory & { readonly merged_count: number }

/** The statements about reflections; to be called inside a transaction. */
export function reflectionTable(db: Database, memories: ReturnType<typeof memoryTable>) {
  const experiences = db.prepare<[number, number], RawExperience>(
    `SELECT seq, id, content, importance, sim_time, x, y, kind, subject, tags_json, superseded_by, merged_count FROM memory
     WHERE mind_seq = ? AND kind IN ('episodic', 'fact') ORDER BY sim_time DESC, seq DESC LIMIT ?`,
  )
  const standing = db
    .prepare<[number, string], string>(
      `SELECT id FROM reflection JOIN memory ON seq = memory_seq
       WHERE reflection.mind_seq = ? AND about = ? AND superseded_by IS NULL`,
    )
    .pluck()
  const restore = db
    .prepare<[number | null, string], number>(
      'UPDATE memory SET superseded_by = NULL, valid_to = NULL, sim_time = ? WHERE id = ? RETURNING seq',
    )
    .pluck()
  const put = db.prepare(
    'INSERT OR REPLACE INTO reflection (memory_seq, mind_seq, about, evidence_json) VALUES (?, ?, ?, ?)',
  )
  const list = db.prepare<[number, number], RawReflection>(
    `SELECT seq, id, content, importance, sim_time, x, y, kind, subject, tags_json, superseded_by, evidence_json
     FROM reflection JOIN memory ON seq = memory_seq
     WHERE reflection.mind_seq = ? AND superseded_by IS NULL ORDER BY importance DESC, sim_time DESC, seq DESC LIMIT ?`,
  )
  const evidence = db.prepare<[string], { readonly id: string; readonly evidence_json: string }>(
    `SELECT id, evidence_json FROM memory JOIN reflection ON memory_seq = seq
     WHERE id IN (SELECT value FROM json_each(?))`,
  )
  const idsOf = (json: string): readonly string[] => JSON.parse(json) as string[] // written by this file
  return {
    /** The newest lasting memories of a mind that it lived through. */
    experiences: (mindSeq: number, most: number): readonly Experience[] =>
      experiences.all(mindSeq, most).map(({ merged_count, superseded_by, ...row }) => ({
        ...memoryOf({ ...row, superseded_by }),
        times: 1 + merged_count,
        is_superseded: superseded_by !== null,
      })),
    /** Makes a conclusion last and replaces the one before about the same; false where that says the same. */
    add(mindSeq: number, embedderId: string, reflection: NewReflection): boolean {
      const { id, about, content, importance, subject, sim_time, evidence: ids, vector } = reflection
      const before = standing.all(mindSeq, about)
      if (before.includes(id)) return false
      const memory = { id, content, importance, subject, sim_time, location: null }
      const added = memories.add(mindSeq, { ...memory, kind: 'reflection', tags: ['reflection'] })
      if (added !== undefined) memories.addVector(mindSeq, added, embedderId, vector)
      // What was true before and then was not can be true again, word for word.
      const seq = added ?? restore.get(sim_time, id)
      put.run(seq, mindSeq, about, JSON.stringify(ids))
      for (const older of before) memories.supersede(older, id, sim_time)
      return true
    },
    /** What a mind holds now, the weightiest first. */
    list: (mindSeq: number, most: number): readonly ReflectionRow[] =>
      list.all(mindSeq, most).map(({ evidence_json, ...row }) => ({
        ...memoryOf(row),
        evidence: idsOf(evidence_json),
      })),
    /** Id of a reflection -> ids of the memories that it rests on. */
    evidence: (ids: readonly string[]): ReadonlyMap<string, readonly string[]> =>
      new Map(evidence.all(JSON.stringify(ids)).map((row) => [row.id, idsOf(row.evidence_json)])),
  }
}
