import type { openDatabase } from '@causeway/store'
import { initialState, type MindState } from '../domain/policy/state.ts'
import { emptyWorkingMemory, type WorkingMemory } from '../domain/policy/working-memory.ts'
import { MindsError } from '../errors.ts'
import { type MindConfig, parseStoredConfig } from '../wire/read-config.ts'
import { sha256 } from './hash.ts'
import type { MindRow } from './types.ts'

export type Database = ReturnType<typeof openDatabase>

interface RawMind extends Omit<MindRow, 'config' | 'working_memory' | 'state'> {
  readonly config_json: string
  readonly config_hash: string
  readonly working_memory_json: string
  readonly state_json: string
}

export type NewMind = Pick<MindRow, 'mind_id' | 'entity_id' | 'config' | 'rng_seed'>

const maxConfigs = 2000

const prepareStatements = (db: Database) => ({
  byId: db.prepare<[string], RawMind>('SELECT * FROM mind WHERE mind_id = ?'),
  list: db.prepare<[string, number], RawMind>(
    'SELECT * FROM mind WHERE mind_id > ? ORDER BY mind_id LIMIT ?',
  ),
  countActive: db.prepare<[], number>(`SELECT count(*) FROM mind WHERE status = 'active'`).pluck(),
  insert: db.prepare(
    `INSERT INTO mind (mind_id, entity_id, status, config_json, config_hash, working_memory_json, state_json, rev, rng_seed, created_at, updated_at)
     VALUES (?, ?, 'active', ?, ?, ?, ?, 1, ?, ?, ?)`,
  ),
  resume: db.prepare(
    `UPDATE mind SET entity_id = ?, status = 'active', config_json = ?, config_hash = ?, rev = rev + 1, updated_at = ? WHERE seq = ?`,
  ),
  release: db.prepare(`UPDATE mind SET status = 'released', rev = rev + 1, updated_at = ? WHERE mind_id = ?`),
  relink: db.prepare('UPDATE mind SET entity_id = ?, rev = rev + 1, updated_at = ? WHERE seq = ?'),
  setEmbedder: db.prepare('UPDATE mind SET embedder_id = ? WHERE seq = ?'),
  markMemoriesChanged: db.prepare(
    'UPDATE mind SET unreflected = unreflected + ?, memory_rev = memory_rev + 1 WHERE seq = ?',
  ),
  markReflected: db.prepare('UPDATE mind SET unreflected = 0, memory_rev = memory_rev + 1 WHERE seq = ?'),
  remove: db.prepare('DELETE FROM mind WHERE mind_id = ?'),
  saveDecision: db.prepare(
    `UPDATE mind SET working_memory_json = ?, state_json = ?, last_sim_time = ?, decision_count = decision_count + 1,
       rev = rev + 1, updated_at = ? WHERE seq = ? AND rev = ? AND status = 'active'`,
  ),
})

export class MindTable {
  readonly #sql: ReturnType<typeof prepareStatements>
  readonly #now: () => number
  readonly #configs = new Map<string, MindConfig>()

  constructor(db: Database, now: () => number) {
    this.#sql = prepareStatements(db)
    this.#now = now
  }

  find(mindId: string): MindRow | undefined {
    const row = this.#sql.byId.get(mindId)
    return row === undefined ? undefined : this.#toMind(row)
  }

  get(mindId: string): MindRow {
    const mind = this.find(mindId)
    if (mind?.status === 'active') return mind
    throw new MindsError('MIND_NOT_FOUND', `Mind ${mindId} not found`, { data: { mind_id: mindId } })
  }

  list(after: string, limit: number): readonly MindRow[] {
    return this.#sql.list.all(after, limit).map((row) => this.#toMind(row))
  }

  countActive(): number {
    return this.#sql.countActive.get() ?? 0
  }

  insert({ mind_id, entity_id, config, rng_seed }: NewMind): number {
    const json = JSON.stringify(config)
    const memory = JSON.stringify({ ...emptyWorkingMemory, ...config.initial_working_memory })
    const now = this.#now()
    const values = [mind_id, entity_id, json, sha256(json), memory, JSON.stringify(initialState), rng_seed]
    return Number(this.#sql.insert.run(...values, now, now).lastInsertRowid)
  }

  resume(seq: number, { entity_id, config }: Pick<NewMind, 'entity_id' | 'config'>): void {
    const json = JSON.stringify(config)
    this.#sql.resume.run(entity_id, json, sha256(json), this.#now(), seq)
  }

  /** Deactivates a mind without removing its data. Returns whether it was active. */
  release(mindId: string): boolean {
    return this.#sql.release.run(this.#now(), mindId).changes > 0
  }

  remove(mindId: string): boolean {
    return this.#sql.remove.run(mindId).changes > 0
  }

  /** Assigns another entity. Returns the mind as it was before. */
  relink(mindId: string, entityId: string): MindRow {
    const mind = this.get(mindId)
    this.#sql.relink.run(entityId, this.#now(), mind.seq)
    return mind
  }

  /** Records that every long-term memory has a vector of this space. */
  setEmbedder(seq: number, embedderId: string): void {
    this.#sql.setEmbedder.run(embedderId, seq)
  }

  /** `importance` is the summed importance of new memories, for the next reflection. */
  markMemoriesChanged(seq: number, importance: number): void {
    this.#sql.markMemoriesChanged.run(importance, seq)
  }

  markReflected(seq: number): void {
    this.#sql.markReflected.run(seq)
  }

  /** Returns `false` if the mind changed since it was read. */
  saveDecision({ seq, rev }: MindRow, time: number, memory: WorkingMemory, state: MindState): boolean {
    const json = [JSON.stringify(memory), JSON.stringify(state)]
    return this.#sql.saveDecision.run(...json, time, this.#now(), seq, rev).changes === 1
  }

  #toMind({ config_json, working_memory_json, state_json, config_hash, ...row }: RawMind): MindRow {
    return {
      ...row,
      config: this.#parseConfig(config_hash, config_json),
      working_memory: JSON.parse(working_memory_json) as WorkingMemory,
      state: { ...initialState, ...(JSON.parse(state_json) as MindState) },
    }
  }

  #parseConfig(hash: string, json: string): MindConfig {
    const cachedConfig = this.#configs.get(hash)
    if (cachedConfig !== undefined) return cachedConfig
    if (this.#configs.size >= maxConfigs) this.#configs.clear()
    const config = parseStoredConfig(json)
    this.#configs.set(hash, config)
    return config
  }
}
