/** The record of what was decided, what it cost, and what was answered. */

import { type AgingOptions, agingNow } from '@causeway/store'
import type { Limits } from '../limits.ts'
import type { Database } from './mind-table.ts'
import type { AnsweredRequest, DecisionRow, LlmCallRow, StoredDecision } from './types.ts'

/** Use of language models; null where a figure is not known for all calls. */
export interface Usage {
  readonly calls: number
  readonly prompt_tokens: number | null
  readonly completion_tokens: number | null
  readonly cost: number | null
  /** Calls of which the provider told no tokens. */
  readonly unreported_calls: number
}

interface RawDecision {
  readonly request_id: string
  readonly sim_time: number
  readonly selector: string
  readonly status: string
  readonly error_code: string | null
  readonly action_json: string | null
  readonly explanation_json: string
  readonly created_at: number
}

/** The statements about the record; to be called inside a transaction. */
export function recordTable(
  db: Database,
  { now: clock, steady }: Pick<AgingOptions, 'now' | 'steady'>,
  limits: Limits,
) {
  const columns = ['request.made_at']
  const now = agingNow(db, { columns, keepMs: limits.repeat_ms, now: clock, steady })
  const add = db.prepare(
    `INSERT INTO decision (mind_seq, ord, request_id, sim_time, observation_hash, selector, status, error_code, action_json, explanation_json, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const trim = db.prepare('DELETE FROM decision WHERE mind_seq = ? AND ord <= ?')
  const last = db.prepare<[{ 1: number; 2: string | null }], RawDecision>(
    `SELECT request_id, sim_time, selector, status, error_code, action_json, explanation_json, created_at FROM decision
     WHERE mind_seq = ?1 AND (?2 IS NULL OR request_id = ?2) ORDER BY ord DESC LIMIT 1`,
  )
  const addCall = db.prepare(
    `INSERT INTO llm_call (mind_seq, decision_seq, sim_day, step, attempt, model_requested, model_served, status, error_code, latency_ms,
       prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, cost, cost_source, made_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const usage = db.prepare<
    [{ 1: number | null; 2: number; 3: number | null }],
    Omit<Usage, 'unreported_calls'> & { unreported_calls: number | null }
  >(
    `SELECT count(*) AS calls, sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens,
       sum(cost) AS cost, sum(prompt_tokens IS NULL) AS unreported_calls
     FROM llm_call WHERE (?1 IS NULL OR mind_seq = ?1) AND made_at >= ?2 AND (?3 IS NULL OR sim_day = ?3)`,
  )
  const answered = db
    .prepare<[string, string, string, number], string>(
      'SELECT answer_json FROM request WHERE mind_id = ? AND request_id = ? AND tool = ? AND made_at > ?',
    )
    .pluck()
  const answer = db.prepare(
    'INSERT OR REPLACE INTO request (mind_id, request_id, tool, answer_json, made_at) VALUES (?, ?, ?, ?, ?)',
  )
  const forget = db.prepare('DELETE FROM request WHERE made_at <= ?')
  return {
    addDecision(seq: number, requestId: string, row: DecisionRow): number {
      const { ord, sim_time, observation_hash, selector, status, error_code, action, explanation } = row
      const made = add.run(
        ...[seq, ord, requestId, sim_time, observation_hash, selector, status, error_code],
        action === null ? null : JSON.stringify(action),
        JSON.stringify(explanation),
        now(),
      )
      trim.run(seq, ord - limits.decisions_kept)
      return Number(made.lastInsertRowid)
    },
    addCalls(seq: number, decisionSeq: number, simDay: number, calls: readonly LlmCallRow[]): void {
      for (const call of calls) {
        addCall.run(
          ...[seq, decisionSeq, simDay, call.step, call.attempt, call.model_requested, call.model_served],
          ...[call.status, call.error_code, call.latency_ms, call.prompt_tokens, call.completion_tokens],
          ...[call.cached_tokens, call.cache_write_tokens, call.cost, call.cost_source, now()],
        )
      }
    },
    /** The last decision, or that of a request; JSON in it was written by this file. */
    decision(seq: number, requestId: string | null): StoredDecision | undefined {
      const row = last.get({ 1: seq, 2: requestId })
      if (row === undefined) return undefined
      const { sim_time, selector, action_json, explanation_json, ...rest } = row
      return {
        ...rest,
        current_simulation_time: sim_time,
        decided_by: selector,
        action: action_json === null ? null : (JSON.parse(action_json) as unknown),
        explanation: JSON.parse(explanation_json) as unknown,
      }
    },
    /** Use of one mind or of all, since a time and on a game day. */
    usage(seq: number | null, since: number, simDay: number | null): Usage {
      const row = usage.get({ 1: seq, 2: since, 3: simDay })
      if (row === undefined) throw new Error('an aggregate has one row')
      return { ...row, unreported_calls: row.unreported_calls ?? 0 }
    },
    answered(mindId: string, requestId: string, tool: string): unknown {
      const json = answered.get(mindId, requestId, tool, now() - limits.repeat_ms)
      return json === undefined ? undefined : (JSON.parse(json) as unknown)
    },
    answer({ mind_id, request_id, tool, answer: given }: AnsweredRequest): void {
      forget.run(now() - limits.repeat_ms)
      answer.run(mind_id, request_id, tool, JSON.stringify(given), now())
    },
  }
}
