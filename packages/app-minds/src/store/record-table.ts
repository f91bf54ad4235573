import { AgingClock, type AgingOptions } from '@causeway/store'
import type { Limits } from '../limits.ts'
import type { Database } from './mind-table.ts'
import type { DecisionRow, LlmCallRow } from './types.ts'

export interface RepeatableRequest {
  readonly mind_id: string
  readonly request_id: string
  readonly tool: string
}

/** Usage of language models. A sum omits calls with unknown values and is `null` if there are no others. */
interface Usage {
  readonly calls: number
  readonly prompt_tokens: number | null
  readonly completion_tokens: number | null
  readonly cost: number | null
  readonly unreported_calls: number
}

const decisionColumns =
  'request_id, sim_time AS current_simulation_time, selector AS decided_by, status, error_code, action_json, explanation_json, created_at'

interface RawDecision {
  readonly request_id: string
  readonly current_simulation_time: number
  readonly decided_by: string
  readonly status: string
  readonly error_code: string | null
  readonly action_json: string | null
  readonly explanation_json: string
  readonly created_at: number
}

const prepareStatements = (db: Database) => ({
  addDecision: db.prepare(
    `INSERT INTO decision (mind_seq, ord, request_id, sim_time, observation_hash, selector, status, error_code, action_json, explanation_json, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  trimDecisions: db.prepare('DELETE FROM decision WHERE mind_seq = ? AND ord <= ?'),
  decision: db.prepare<[{ 1: number; 2: string | null }], RawDecision>(
    `SELECT ${decisionColumns} FROM decision
     WHERE mind_seq = ?1 AND (?2 IS NULL OR request_id = ?2) ORDER BY ord DESC LIMIT 1`,
  ),
  decisions: db.prepare<[number, number], RawDecision>(
    `SELECT ${decisionColumns} FROM decision
     WHERE mind_seq = ? ORDER BY ord DESC LIMIT ?`,
  ),
  addCall: db.prepare(
    `INSERT INTO llm_call (mind_seq, decision_seq, sim_day, step, attempt, model_requested, model_served, status, error_code, latency_ms,
       prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, cost, cost_source, made_at)
     VALUES (@seq, @decisionSeq, @simDay, @step, @attempt, @model_requested, @model_served, @status, @error_code, @latency_ms,
       @prompt_tokens, @completion_tokens, @cached_tokens, @cache_write_tokens, @cost, @cost_source, @now)`,
  ),
  usage: db.prepare<[{ 1: number | null; 2: number; 3: number | null }], Usage>(
    `SELECT count(*) AS calls, sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens,
       sum(cost) AS cost, coalesce(sum(prompt_tokens IS NULL), 0) AS unreported_calls
     FROM llm_call WHERE (?1 IS NULL OR mind_seq = ?1) AND made_at >= ?2 AND (?3 IS NULL OR sim_day = ?3)`,
  ),
  findAnswer: db
    .prepare<[string, string, string, number], string>(
      'SELECT answer_json FROM request WHERE mind_id = ? AND request_id = ? AND tool = ? AND made_at > ?',
    )
    .pluck(),
  addAnswer: db.prepare(
    'INSERT OR REPLACE INTO request (mind_id, request_id, tool, answer_json, made_at) VALUES (?, ?, ?, ?, ?)',
  ),
  removeAnswers: db.prepare('DELETE FROM request WHERE made_at <= ?'),
})

export class RecordTable {
  readonly #sql: ReturnType<typeof prepareStatements>
  readonly #clock: AgingClock
  readonly #limits: Limits

  constructor(
    db: Database,
    { now, monotonicNow }: Pick<AgingOptions, 'now' | 'monotonicNow'>,
    limits: Limits,
  ) {
    this.#sql = prepareStatements(db)
    const columns = ['request.made_at']
    this.#clock = new AgingClock(db, { columns, keepMs: limits.repeat_ms, now, monotonicNow })
    this.#limits = limits
  }

  addDecision(seq: number, requestId: string, row: DecisionRow): number {
    const { ord, sim_time, observation_hash, selector, status, error_code, action, explanation } = row
    const insertion = this.#sql.addDecision.run(
      ...[seq, ord, requestId, sim_time, observation_hash, selector, status, error_code],
      action === null ? null : JSON.stringify(action),
      JSON.stringify(explanation),
      this.#clock.now(),
    )
    this.#sql.trimDecisions.run(seq, ord - this.#limits.decisions_kept)
    return Number(insertion.lastInsertRowid)
  }

  addCalls(seq: number, decisionSeq: number, simDay: number, calls: readonly LlmCallRow[]): void {
    const now = this.#clock.now()
    for (const call of calls) this.#sql.addCall.run({ ...call, seq, decisionSeq, simDay, now })
  }

  readDecision(seq: number, requestId: string | null) {
    const row = this.#sql.decision.get({ 1: seq, 2: requestId })
    return row && parseDecision(row)
  }

  listDecisions(seq: number, limit: number) {
    return this.#sql.decisions.all(seq, limit).map(parseDecision)
  }

  /** Returns totals for a mind, or for all minds if `seq` is `null`. `minTime` is in Unix milliseconds. */
  readUsage(seq: number | null, minTime: number, simDay: number | null): Usage {
    const row = this.#sql.usage.get({ 1: seq, 2: minTime, 3: simDay })
    if (row === undefined) throw new Error('an aggregate has one row')
    return row
  }

  findAnswer<T extends object>({ mind_id, request_id, tool }: RepeatableRequest) {
    const minTime = this.#clock.now() - this.#limits.repeat_ms
    const json = this.#sql.findAnswer.get(mind_id, request_id, tool, minTime)
    return json === undefined ? undefined : { ...(JSON.parse(json) as T), replayed: true as const }
  }

  addAnswer({ mind_id, request_id, tool }: RepeatableRequest, answer: object): void {
    const now = this.#clock.now()
    this.#sql.removeAnswers.run(now - this.#limits.repeat_ms)
    this.#sql.addAnswer.run(mind_id, request_id, tool, JSON.stringify(answer), now)
  }
}

const parseDecision = ({ action_json, explanation_json, ...row }: RawDecision) => ({
  ...row,
  action: action_json === null ? null : (JSON.parse(action_json) as unknown),
  explanation: JSON.parse(explanation_json) as unknown,
})
