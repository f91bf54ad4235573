import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Env } from '@causeway/app-kit'
import { AgingClock, openDatabase } from '@causeway/store'
import type { EvalResult } from '../domain/evaluation/result.ts'
import { upgradeConfig } from '../domain/session-config.ts'
import { TrmError } from '../errors.ts'
import type { ProcessMark } from '../runner/process-group.ts'
import type { ContentDatabase } from '../snapshot/contents.ts'
import { getWorkspaceFolder } from '../workspace/workspace-folder.ts'
import type {
  CheckpointRow,
  CommandRow,
  LandingRow,
  OutputRow,
  SeenFile,
  SessionChange,
  SessionRow,
  StepRow,
  StoredRequest,
} from './rows.ts'
import { migrations } from './schema.ts'

const [compress, decompress] = [promisify(gzip), promisify(gunzip)]

/** Milliseconds during which a repeated request returns the stored result. */
const repeatMs = 600_000

function parseColumns<Row>(row: object, columns: readonly (keyof Row & string)[]): Row {
  const entries = Object.entries(row).map(([name, value]) =>
    typeof value === 'string' && (columns as readonly string[]).includes(name)
      ? [name, JSON.parse(value)]
      : [name, value],
  )
  return Object.fromEntries(entries) as Row
}

const parseStep = (row: object): StepRow => parseColumns<StepRow>(row, ['standing_before', 'mark', 'result'])

type NewStep = Pick<
  StepRow,
  'session_id' | 'number' | 'kind' | 'request' | 'marker' | 'reason' | 'standing_before'
>

/** Sessions in `trm.db`. Each method except `readResults` is one transaction. */
export class TrmStore {
  readonly db: ContentDatabase
  readonly #clock: AgingClock
  readonly #dir: string
  readonly #reservedIds = new Set<string>()

  constructor(dir: string, { now, monotonicNow }: Pick<Env, 'now' | 'monotonicNow'>) {
    this.db = openDatabase(join(dir, 'trm.db'), { migrations, now })
    const columns = ['request.made_ms', 'step.started_ms']
    this.#clock = new AgingClock(this.db, { columns, keepMs: repeatMs, now, monotonicNow })
    this.#dir = realpathSync(dir)
  }

  /** Unix time in milliseconds, for expiring rows. */
  now(): number {
    return this.#clock.now()
  }

  close(): void {
    this.db.close()
  }

  /** Returns the stored result of a request within the last ten minutes. */
  async findAnswer(request: string): Promise<unknown> {
    const row = this.#get<{ answer: string }>(
      'SELECT answer FROM request WHERE id = ? AND made_ms > ?',
      request,
      this.now() - repeatMs,
    )
    return row && (JSON.parse(row.answer) as unknown)
  }

  /** Reserves capacity for a session until `releaseSession` is called. Returns `false` if the maximum is reached. */
  async reserveSession(id: string, maxSessions: number): Promise<boolean> {
    const row = this.#get<{ open: number }>(`SELECT count(*) AS open FROM session WHERE status <> 'ended'`)
    if ((row?.open ?? 0) + this.#reservedIds.size >= maxSessions) return false
    this.#reservedIds.add(id)
    return true
  }

  releaseSession(id: string): void {
    this.#reservedIds.delete(id)
  }

  async createSession(
    { id, config, standing, start }: Pick<SessionRow, 'id' | 'config' | 'standing' | 'start'>,
    request: StoredRequest,
  ): Promise<void> {
    this.#transact(() => {
      this.#run(
        `INSERT INTO session (id, config, status, standing, start, rev, created_ms, updated_ms)
         VALUES (?, ?, 'active', ?, ?, 1, ?, ?)`,
        id,
        JSON.stringify(config),
        JSON.stringify(standing),
        start,
        this.now(),
        this.now(),
      )
      this.#storeRequest(request)
    })
    this.#reservedIds.delete(id)
  }

  async findSession(id: string): Promise<SessionRow | undefined> {
    const row = this.#get<object>('SELECT * FROM session WHERE id = ?', id)
    return row && this.#parseSession(row)
  }

  async listSessions(): Promise<readonly SessionRow[]> {
    const sql = `SELECT * FROM session WHERE status <> 'ended' ORDER BY created_ms, id`
    return this.#all<object>(sql).map((row) => this.#parseSession(row))
  }

  async endSession(change: SessionChange, request: StoredRequest): Promise<void> {
    this.#transact(() => {
      this.#apply({ ...change, status: 'ended' })
      this.#run('DELETE FROM seen WHERE session_id = ?', change.id)
      this.#run('DELETE FROM output WHERE step_id IN (SELECT id FROM step WHERE session_id = ?)', change.id)
      this.#storeRequest(request)
    })
  }

  /** `before` is the snapshot of the files that the step changes. Throws `SESSION_BUSY` and `PROJECT_BUSY`. */
  async beginStep(change: SessionChange, step: NewStep, before: string | undefined): Promise<StepRow> {
    return this.#transact(() => {
      const { session_id } = step
      const repoSql = `SELECT config ->> 'repo' AS repo FROM session WHERE id = ?`
      this.checkIdle(this.#get<{ repo: string }>(repoSql, session_id)?.repo ?? '', session_id)
      this.#apply(change)
      const landing = before === undefined ? null : this.beginLanding({ session_id, kind: 'submit', before })
      const id = this.#insert(
        `INSERT INTO step (session_id, number, kind, status, request, marker, reason, landing_id, standing_before, started_ms)
         VALUES (?, ?, ?, 'running', ?, ?, ?, ?, ?, ?)`,
        ...[session_id, step.number, step.kind, step.request, step.marker, step.reason, landing],
        ...[JSON.stringify(step.standing_before), this.now()],
      )
      return parseStep(this.#get<object>('SELECT * FROM step WHERE id = ?', id) ?? {})
    })
  }

  async setStage(stepId: number, stage: string, mark: ProcessMark): Promise<void> {
    this.#run('UPDATE step SET stage = ?, mark = ? WHERE id = ?', stage, JSON.stringify(mark), stepId)
  }

  async setLanding(stepId: number, landingId: number): Promise<void> {
    this.#run('UPDATE step SET landing_id = ? WHERE id = ?', landingId, stepId)
  }

  async finishStep(stepId: number, result: EvalResult, change: SessionChange): Promise<void> {
    this.#transact(() => {
      this.#apply(change)
      const sql = `UPDATE step SET status = 'done', stage = NULL, mark = NULL, result = ? WHERE id = ?`
      this.#run(sql, JSON.stringify(result), stepId)
    })
  }

  /** Ends a step without a result. Deletes the landing if the files were restored. */
  async abandonStep(stepId: number, status: StepRow['status'], isRestored: boolean): Promise<void> {
    this.#transact(() => {
      if (isRestored)
        this.#run('DELETE FROM landing WHERE id = (SELECT landing_id FROM step WHERE id = ?)', stepId)
      const sql = 'UPDATE step SET status = ?, stage = NULL, mark = NULL, undone_ms = ? WHERE id = ?'
      this.#run(sql, status, this.now(), stepId)
    })
  }

  async listSteps(sessionId: string): Promise<readonly StepRow[]> {
    return this.#all<object>('SELECT * FROM step WHERE session_id = ? ORDER BY id', sessionId).map(parseStep)
  }

  /** Reads results one by one, because all results of a session can be too large for one turn of the event loop. */
  async *readResults(sessionId: string): AsyncGenerator<EvalResult | null> {
    const sql = 'SELECT id FROM step WHERE session_id = ? ORDER BY id'
    for (const { id } of this.#all<{ id: number }>(sql, sessionId)) {
      const row = this.#get<object>('SELECT result FROM step WHERE id = ?', id)
      yield row === undefined ? null : parseStep(row).result
    }
  }

  async findStepByRequest(request: string): Promise<StepRow | undefined> {
    const sql = 'SELECT * FROM step WHERE request = ? AND started_ms > ?'
    const row = this.#get<object>(sql, request, this.now() - repeatMs)
    return row && parseStep(row)
  }

  async listRunningSteps(): Promise<readonly StepRow[]> {
    return this.#all<object>(`SELECT * FROM step WHERE status = 'running'`).map(parseStep)
  }

  async revert(change: SessionChange, live: readonly number[], request: StoredRequest): Promise<void> {
    this.#transact(() => {
      this.#apply(change)
      this.#run(
        `UPDATE step SET undone_ms = CASE WHEN id IN (SELECT value FROM json_each(?)) THEN NULL
         ELSE coalesce(undone_ms, ?) END WHERE session_id = ? AND status = 'done' AND kind <> 'baseline'`,
        JSON.stringify(live),
        this.now(),
        change.id,
      )
      this.#storeRequest(request)
    })
  }

  /** Starts a landing without a step and returns its id. Call `finishLanding` when the files are written. */
  beginLanding({ session_id, kind, before }: Omit<LandingRow, 'id' | 'after'>): number {
    const sql = 'INSERT INTO landing (session_id, kind, before) VALUES (?, ?, ?)'
    return this.#insert(sql, session_id, kind, before)
  }

  async finishLanding(id: number, after: string): Promise<void> {
    this.#run('UPDATE landing SET after = ? WHERE id = ?', after, id)
  }

  async listLandings(sessionId: string): Promise<readonly LandingRow[]> {
    return this.#all('SELECT * FROM landing WHERE session_id = ? ORDER BY id', sessionId)
  }

  async addCheckpoint(row: CheckpointRow, request: StoredRequest): Promise<void> {
    this.#transact(() => {
      this.#run(
        'INSERT INTO checkpoint (id, session_id, description, standing, live, landing_id, made_ms) VALUES (?, ?, ?, ?, ?, ?, ?)',
        ...[row.id, row.session_id, row.description, JSON.stringify(row.standing)],
        ...[JSON.stringify(row.live), row.landing_id, row.made_ms],
      )
      this.#storeRequest(request)
    })
  }

  async listCheckpoints(sessionId: string): Promise<readonly CheckpointRow[]> {
    const sql = 'SELECT * FROM checkpoint WHERE session_id = ? ORDER BY made_ms, rowid'
    return this.#all<object>(sql, sessionId).map((row) =>
      parseColumns<CheckpointRow>(row, ['standing', 'live']),
    )
  }

  async saveOutput(stepId: number, { stage, stdout, stderr }: OutputRow): Promise<void> {
    const compressed = await Promise.all([compress(stdout), compress(stderr)])
    const sql = 'INSERT OR REPLACE INTO output (step_id, stage, stdout, stderr) VALUES (?, ?, ?, ?)'
    this.#run(sql, stepId, stage, ...compressed)
  }

  /** Returns outputs in order, by default of all commands. */
  async readOutputs(stepId: number, stage: string | null = null): Promise<readonly OutputRow[]> {
    const rows = this.#all<{ stage: string; stdout: Buffer; stderr: Buffer }>(
      'SELECT stage, stdout, stderr FROM output WHERE step_id = ? AND stage = coalesce(?, stage) ORDER BY rowid',
      stepId,
      stage,
    )
    return Promise.all(
      rows.map(async (row) => {
        const [stdout, stderr] = await Promise.all([decompress(row.stdout), decompress(row.stderr)])
        return { stage: row.stage, stdout: `${stdout}`, stderr: `${stderr}` }
      }),
    )
  }

  /** Adds an audit row. Returns its id, for `finishCommand`. */
  async addCommand(row: Omit<CommandRow, 'exit_code' | 'ms' | 'bytes'>): Promise<number> {
    return this.#insert(
      'INSERT INTO command (session_id, occasion, stage, command, cwd, pid, started_ms) VALUES (?, ?, ?, ?, ?, ?, ?)',
      ...[row.session_id, row.occasion, row.stage, row.command, row.cwd, row.pid, row.started_ms],
    )
  }

  async finishCommand(
    id: number,
    { exit_code, ms, bytes }: Pick<CommandRow, 'exit_code' | 'ms' | 'bytes'>,
  ): Promise<void> {
    this.#run('UPDATE command SET exit_code = ?, ms = ?, bytes = ? WHERE id = ?', exit_code, ms, bytes, id)
  }

  async listCommands(sessionId: string): Promise<readonly CommandRow[]> {
    return this.#all(
      `SELECT session_id, occasion, stage, command, cwd, pid, started_ms, exit_code, ms, bytes FROM command
       WHERE session_id = ? ORDER BY id DESC LIMIT 100`,
      sessionId,
    )
  }

  async addSeen(sessionId: string, files: ReadonlyMap<string, SeenFile>): Promise<void> {
    this.#transact(() => {
      for (const [path, { sha, text }] of files)
        this.#run(
          'INSERT OR REPLACE INTO seen (session_id, path, sha, text) VALUES (?, ?, ?, ?)',
          ...[sessionId, path, sha, text],
        )
    })
  }

  async readSeenHashes(sessionId: string): Promise<ReadonlyMap<string, string>> {
    const sql = 'SELECT path, sha FROM seen WHERE session_id = ?'
    const rows = this.#all<{ path: string; sha: string }>(sql, sessionId)
    return new Map(rows.map(({ path, sha }) => [path, sha]))
  }

  async readSeenText(sessionId: string, path: string): Promise<Buffer | undefined> {
    const sql = 'SELECT text FROM seen WHERE session_id = ? AND path = ?'
    return this.#get<{ text: Buffer | null }>(sql, sessionId, path)?.text ?? undefined
  }

  #storeRequest({ id, answer }: StoredRequest): void {
    this.#run('DELETE FROM request WHERE made_ms <= ?', this.now() - repeatMs)
    const sql = 'INSERT OR REPLACE INTO request (id, answer, made_ms) VALUES (?, ?, ?)'
    this.#run(sql, id, JSON.stringify(answer), this.now())
  }

  /** Throws `SESSION_BUSY` if the revision is not current. */
  #apply({ id, rev, standing, status, baseline }: SessionChange): void {
    const { changes } = this.#run(
      `UPDATE session SET rev = rev + 1, updated_ms = ?, standing = coalesce(?, standing),
       status = coalesce(?, status), baseline = coalesce(?, baseline) WHERE id = ? AND rev = ?`,
      this.now(),
      standing === undefined ? null : JSON.stringify(standing),
      status ?? null,
      baseline === undefined ? null : JSON.stringify(baseline),
      id,
      rev,
    )
    if (changes === 0)
      throw new TrmError('SESSION_BUSY', `another call changed the session: ${id}`, { data: { sid: id } })
  }

  /**
   * Throws `SESSION_BUSY` while the session evaluates, and `PROJECT_BUSY` while another session evaluates in this
   * folder, a parent folder or a subfolder.
   */
  checkIdle(repo: string, sessionId?: string): void {
    const running = this.#all<{ sid: string; repo: string; step: number; stage: string | null }>(
      `SELECT session.id AS sid, config ->> 'repo' AS repo, number AS step, stage FROM step
       JOIN session ON session.id = session_id WHERE step.status = 'running'`,
    )
    for (const { sid, repo: otherRepo, step, stage } of running) {
      if (sid === sessionId)
        throw new TrmError('SESSION_BUSY', `step ${step} is being evaluated: ${sid}`, {
          data: { sid, step, stage: stage ?? 'waiting' },
        })
      if (otherRepo === repo || otherRepo.startsWith(`${repo}/`) || repo.startsWith(`${otherRepo}/`))
        throw new TrmError('PROJECT_BUSY', `another session evaluates a candidate in ${otherRepo}: ${sid}`, {
          data: { repo: otherRepo, sid },
        })
    }
  }

  /** Replaces the path of the session's workspace by that in this data folder. */
  #parseSession(stored: object): SessionRow {
    const row = parseColumns<SessionRow>(stored, ['config', 'standing', 'baseline'])
    const config = upgradeConfig(row.config)
    const hasWorkspace = config.repo !== config.project
    return {
      ...row,
      config: hasWorkspace ? { ...config, repo: getWorkspaceFolder(this.#dir, row.id) } : config,
    }
  }

  #get<Row>(sql: string, ...values: unknown[]): Row | undefined {
    return this.db.prepare<unknown[], Row>(sql).get(...values)
  }

  #all<Row>(sql: string, ...values: unknown[]): Row[] {
    return this.db.prepare<unknown[], Row>(sql).all(...values)
  }

  #run(sql: string, ...values: unknown[]) {
    return this.db.prepare<unknown[]>(sql).run(...values)
  }

  #insert(sql: string, ...values: unknown[]): number {
    return Number(this.#run(sql, ...values).lastInsertRowid)
  }

  #transact<Result>(work: () => Result): Result {
    return this.db.transaction(work).immediate()
  }
}
