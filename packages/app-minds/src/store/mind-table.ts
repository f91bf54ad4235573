/** Minds: made, found, relinked, released, forgotten. */
import type { openDatabase } from '@causeway/store'
import { newState } from '../domain/policy/state.ts'
import { emptyWorkingMemory, type WorkingMemory } from '../domain/policy/working-memory.ts'
import { type MindConfig, storedConfig } from '../wire/read-config.ts'
import { sha256 } from './hash.ts'
import type { MindRow } from './types.ts'

/** An open data file. */
export type Database = ReturnType<typeof openDatabase>

interface RawMind {
  readonly seq: number
  readonly mind_id: string
  readonly entity_id: string
  readonly status: 'active' | 'released'
  readonly config_json: string
  readonly config_hash: string
  readonly working_memory_json: string
  readonly state_json: string
  readonly rev: number
  readonly rng_seed: number
  readonly embedder_id: string | null
  readonly memory_count: number
  readonly daily_count: number
  readonly unreflected: number
  readonly memory_rev: number
  readonly decision_count: number
  readonly last_sim_time: number | null
}

/** A mind that is to be made. */
export interface NewMind {
  readonly mind_id: string
  readonly entity_id: string
  readonly config: MindConfig
  readonly rng_seed: number
}

/** Configurations kept read; a thousand minds often share a few. */
const mostConfigs = 2000

/** The statements about minds; to be called inside a transaction. */
export function mindTable(db: Database, now: () => number) {
  /** Read configurations by their hash: a decision does not check again what was checked when it was stored. */
  const configs = new Map<string, MindConfig>()
  const configOf = (hash: string, json: string): MindConfig => {
    const known = configs.get(hash)
    if (known !== undefined) return known
    if (configs.size >= mostConfigs) configs.clear()
    const config = storedConfig(json)
    configs.set(hash, config)
    return config
  }
  const mindOf = ({
    config_json,
    working_memory_json,
    state_json,
    config_hash,
    ...row
  }: RawMind): MindRow => ({
    ...row,
    config: configOf(config_hash, config_json),
    working_memory: JSON.parse(working_memory_json) as WorkingMemory, // written by this file
    state: { ...newState, ...(JSON.parse(state_json) as MindRow['state']) }, // written by this file
  })
  const byId = db.prepare<[string], RawMind>('SELECT * FROM mind WHERE mind_id = ?')
  const all = db.prepare<[string, number], RawMind>(
    'SELECT * FROM mind WHERE mind_id > ? ORDER BY mind_id LIMIT ?',
  )
  const count = db.prepare<[], number>(`SELECT count(*) FROM mind WHERE status = 'active'`).pluck()
  const insert = db.prepare(
    `INSERT INTO mind (mind_id, entity_id, status, config_json, config_hash, working_memory_json, state_json, rev, rng_seed, created_at, updated_at)
     VALUES (?, ?, 'active', ?, ?, ?, ?, 1, ?, ?, ?)`,
  )
  const resume = db.prepare(
    `UPDATE mind SET entity_id = ?, status = 'active', config_json = ?, config_hash = ?, rev = rev + 1, updated_at = ? WHERE seq = ?`,
  )
  const release = db.prepare(
    `UPDATE mind SET status = 'released', rev = rev + 1, updated_at = ? WHERE seq = ?`,
  )
  const relink = db.prepare('UPDATE mind SET entity_id = ?, rev = rev + 1, updated_at = ? WHERE seq = ?')
  const embedded = db.prepare('UPDATE mind SET embedder_id = ? WHERE seq = ?')
  const remembered = db.prepare(
    'UPDATE mind SET unreflected = unreflected + ?, memory_rev = memory_rev + 1 WHERE seq = ?',
  )
  const reflected = db.prepare('UPDATE mind SET unreflected = 0, memory_rev = memory_rev + 1 WHERE seq = ?')
  const remove = db.prepare('DELETE FROM mind WHERE seq = ?')
  const decided = db.prepare(
    `UPDATE mind SET working_memory_json = ?, state_json = ?, last_sim_time = ?, decision_count = decision_count + 1,
       rev = rev + 1, updated_at = ? WHERE seq = ? AND rev = ? AND status = 'active'`,
  )
  return {
    find(mindId: string): MindRow | undefined {
      const row = byId.get(mindId)
      return row === undefined ? undefined : mindOf(row)
    },
    list: (after: string, limit: number): readonly MindRow[] => all.all(after, limit).map(mindOf),
    active: (): number => count.get() ?? 0,
    insert({ mind_id, entity_id, config, rng_seed }: NewMind): number {
      const json = JSON.stringify(config)
      const memory = JSON.stringify({ ...emptyWorkingMemory, ...config.initial_working_memory })
      const state = JSON.stringify(newState)
      const made = insert.run(mind_id, entity_id, json, sha256(json), memory, state, rng_seed, now(), now())
      return Number(made.lastInsertRowid)
    },
    resume(seq: number, { entity_id, config }: Pick<NewMind, 'entity_id' | 'config'>): void {
      const json = JSON.stringify(config)
      resume.run(entity_id, json, sha256(json), now(), seq)
    },
    release: (seq: number): void => void release.run(now(), seq),
    relink: (seq: number, entityId: string): void => void relink.run(entityId, now(), seq),
    embedded: (seq: number, embedderId: string): void => void embedded.run(embedderId, seq),
    /** Lasting memories were changed; `importance` is that of new ones, for the next reflection. */
    remembered: (seq: number, importance: number): void => void remembered.run(importance, seq),
    reflected: (seq: number): void => void reflected.run(seq),
    remove: (seq: number): void => void remove.run(seq),
    /** False where the mind was changed by somebody else meanwhile. */
    decided(
      { seq, rev }: Pick<MindRow, 'seq' | 'rev'>,
      change: { readonly working_memory: WorkingMemory; readonly state: unknown; readonly time: number },
    ): boolean {
      const { working_memory, state, time } = change
      const { changes } = decided.run(
        JSON.stringify(working_memory),
        JSON.stringify(state),
        time,
        now(),
        seq,
        rev,
      )
      return changes === 1
    },
  }
}
