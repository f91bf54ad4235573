/** Sessions of refinement in `trm.db`: whole transactions, rows of plain data, nothing computed. */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Env } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { agingNow, openDatabase } from '@causeway/store'
import { contentRows } from './content-rows.ts'
import { deskOf } from './desk-place.ts'
import type { Baseline, EvalResult } from './domain/result.ts'
import type { Standing } from './domain/score.ts'
import { type SessionConfig, storedConfig } from './domain/session-config.ts'
import { projectBusy } from './project-busy.ts'
import type {
  CheckpointRow,
  CommandRow,
  LandingRow,
  OutputRow,
  SeenFile,
  SessionChange,
  SessionRow,
  StepRow,
} from './rows.ts'
import type { ProcessMark } from './runner/process-group.ts'
import { migrations } from './schema.ts'
import type { ContentRows } from './snapshot/row-contents.ts'

/** The transactions. */
export interface TrmStore {
  /** The answer that was given to this request within the last ten minutes. */
  answered(request: string): Promise<unknown>
  createSession(
    row: Pick<SessionRow, 'id' | 'config' | 'standing'>,
    request: string,
    answer: unknown,
  ): Promise<void>
  session(id: string): Promise<SessionRow | undefined>
  sessions(): Promise<readonly SessionRow[]>
  /**
   * Begins an evaluation; throws `SESSION_BUSY` where one is running or the session changed meanwhile, `PROJECT_BUSY`
   * where another session evaluates in the same folder, one within it or one around it.
   */
  beginStep(
    change: SessionChange,
    step: Pick<
      StepRow,
      'session_id' | 'number' | 'kind' | 'request' | 'marker' | 'reason' | 'standing_before'
    >,
    before: string | undefined,
  ): Promise<StepRow>
  landed(landingId: number, after: string): Promise<void>
  stage(stepId: number, stage: string, mark: ProcessMark): Promise<void>
  saveOutput(stepId: number, output: OutputRow): Promise<void>
  /** Keeps that a command began; gives the number of the row for `commandEnded`. */
  commandStarted(row: Omit<CommandRow, 'exit_code' | 'ms' | 'bytes'>): Promise<number>
  commandEnded(id: number, end: Pick<CommandRow, 'exit_code' | 'ms' | 'bytes'>): Promise<void>
  /** The newest commands of a session, at most 100, the newest first. */
  commands(sessionId: string): Promise<readonly CommandRow[]>
  /** Ends an evaluation together with what it changed. */
  finishStep(stepId: number, result: EvalResult, change: SessionChange): Promise<void>
  /** Ends an evaluation without a result; its landing is forgotten where the files are back as they were. */
  abandonStep(stepId: number, status: StepRow['status'], isBack: boolean): Promise<void>
  /** Says which landing brought the candidate of a step into the user's files. */
  linkLanding(stepId: number, landingId: number): Promise<void>
  steps(sessionId: string): Promise<readonly StepRow[]>
  stepByRequest(request: string): Promise<StepRow | undefined>
  runningSteps(): Promise<readonly StepRow[]>
  landings(sessionId: string): Promise<readonly LandingRow[]>
  output(stepId: number, stage: string): Promise<OutputRow | undefined>
  outputStages(stepId: number): Promise<readonly string[]>
  /** Begins a landing that is no step of its own; `landed` ends it. */
  beginLanding(row: Pick<LandingRow, 'session_id' | 'kind' | 'before'>): Promise<LandingRow>
  /** Goes back: which steps count, where the session stands, and the answer, in one transaction. */
  goBack(change: SessionChange, live: readonly number[], request: string, answer: unknown): Promise<void>
  addCheckpoint(row: CheckpointRow, request: string, answer: unknown): Promise<void>
  checkpoints(sessionId: string): Promise<readonly CheckpointRow[]>
  endSession(change: SessionChange, request: string, answer: unknown): Promise<void>
  /** Contents of snapshots on a machine without git. */
  readonly contents: ContentRows
  saw(sessionId: string, files: ReadonlyMap<string, SeenFile>): Promise<void>
  /** path -> sha of each file that the client has seen. */
  seen(sessionId: string): Promise<ReadonlyMap<string, string>>
  /** The text that the client has seen of a file, packed; undefined where none is kept. */
  seenText(sessionId: string, path: string): Promise<Buffer | undefined>
  close(): void
}

/** How long a repeated request gets the answer of the first, ms. */
const repeatMs = 600_000

/** Opens `trm.db` in the data folder; throws as `openDatabase` does. */
export function openStore(dir: string, { now: clock, steady }: Pick<Env, 'now' | 'steady'>): TrmStore {
  const db = openDatabase(join(dir, 'trm.db'), { migrations, now: clock })
  const columns = ['request.made_ms', 'step.started_ms']
  const now = agingNow(db, { columns, keepMs: repeatMs, now: clock, steady })
  const home = realpathSync(dir)
  const readSession = (row: SessionText): SessionRow => withDesk(sessionOf(row), home)
  const sql = <Params extends unknown[], Row = unknown>(text: string) => db.prepare<Params, Row>(text)

  const answer = sql<[string, string, number]>(
    'INSERT OR REPLACE INTO request (id, answer, made_ms) VALUES (?, ?, ?)',
  )
  const forget = sql<[number]>('DELETE FROM request WHERE made_ms <= ?')
  const keep = (request: string, given: unknown): void => {
    forget.run(now() - repeatMs)
    answer.run(request, JSON.stringify(given), now())
  }
  const fenced = db.prepare(
    `UPDATE session SET rev = rev + 1, updated_ms = @now, standing = coalesce(@standing, standing),
     status = coalesce(@status, status), baseline = coalesce(@baseline, baseline) WHERE id = @id AND rev = @rev`,
  )
  const apply = ({ id, rev, standing, status, baseline }: SessionChange): void => {
    const { changes } = fenced.run({
      id,
      rev,
      standing: standing === undefined ? null : JSON.stringify(standing),
      status: status ?? null,
      baseline: baseline === undefined ? null : JSON.stringify(baseline),
      now: now(),
    })
    if (changes === 0)
      throw new CausewayError('SESSION_BUSY', `another call changed the session meanwhile: ${id}`, {
        data: { sid: id },
      })
  }
  // One folder is the other, or the path of one begins with that of the other and a slash.
  const elsewhere = sql<[string], { repo: string; id: string }>(
    `SELECT other.id AS id, other.config ->> 'repo' AS repo FROM session AS own, step
     JOIN session AS other ON other.id = step.session_id
     WHERE own.id = ? AND other.id <> own.id AND step.status = 'running'
     AND (instr((own.config ->> 'repo') || '/', (other.config ->> 'repo') || '/') = 1
       OR instr((other.config ->> 'repo') || '/', (own.config ->> 'repo') || '/') = 1) LIMIT 1`,
  )
  const begun = sql<[number], StepText>('SELECT * FROM step WHERE id = ?')
  const addLanding = sql<[string, string, string]>(
    'INSERT INTO landing (session_id, kind, before) VALUES (?, ?, ?)',
  )
  const transact = <Result>(work: () => Result): Result => db.transaction(work).immediate()

  return {
    async answered(request) {
      const row = sql<[string, number], { answer: string }>(
        'SELECT answer FROM request WHERE id = ? AND made_ms > ?',
      ).get(request, now() - repeatMs)
      return row && (JSON.parse(row.answer) as unknown)
    },
    createSession: async ({ id, config, standing }, request, given) =>
      transact(() => {
        sql<[string, string, string, number, number]>(
          `INSERT INTO session (id, config, status, standing, rev, created_ms, updated_ms) VALUES (?, ?, 'active', ?, 1, ?, ?)`,
        ).run(id, JSON.stringify(config), JSON.stringify(standing), now(), now())
        keep(request, given)
      }),
    async session(id) {
      const row = sql<[string], SessionText>('SELECT * FROM session WHERE id = ?').get(id)
      return row && readSession(row)
    },
    sessions: async () =>
      sql<[], SessionText>(`SELECT * FROM session WHERE status <> 'ended' ORDER BY created_ms, id`)
        .all()
        .map(readSession),
    beginStep: async (
      change,
      { session_id, number, kind, request, marker, reason, standing_before },
      before,
    ) =>
      transact(() => {
        if (
          sql<[string]>(`SELECT 1 FROM step WHERE session_id = ? AND status = 'running'`).get(session_id) !==
          undefined
        )
          throw new CausewayError('SESSION_BUSY', `an evaluation is running: ${session_id}`, {
            data: { sid: session_id },
          })
        const other = elsewhere.get(session_id)
        if (other !== undefined) throw projectBusy(other.repo, other.id)
        apply(change)
        const landing =
          before === undefined ? null : Number(addLanding.run(session_id, 'submit', before).lastInsertRowid)
        const { lastInsertRowid } = sql<unknown[]>(
          `INSERT INTO step (session_id, number, kind, status, request, marker, reason, landing_id, standing_before, started_ms)
           VALUES (?, ?, ?, 'running', ?, ?, ?, ?, ?, ?)`,
        ).run(
          session_id,
          number,
          kind,
          request,
          marker,
          reason,
          landing,
          JSON.stringify(standing_before),
          now(),
        )
        return readStep(begun.get(Number(lastInsertRowid)) as StepText)
      }),
    landed: async (id, after) =>
      void sql<[string, number]>('UPDATE landing SET after = ? WHERE id = ?').run(after, id),
    stage: async (id, stage, mark) =>
      void sql<[string, string, number]>('UPDATE step SET stage = ?, mark = ? WHERE id = ?').run(
        stage,
        JSON.stringify(mark),
        id,
      ),
    saveOutput: async (id, { stage, stdout, stderr }) =>
      void sql<unknown[]>(
        'INSERT OR REPLACE INTO output (step_id, stage, stdout, stderr) VALUES (?, ?, ?, ?)',
      ).run(id, stage, stdout, stderr),
    async commandStarted(row) {
      const { lastInsertRowid } = db
        .prepare(
          `INSERT INTO command (session_id, occasion, stage, command, cwd, pid, started_ms)
           VALUES (@session_id, @occasion, @stage, @command, @cwd, @pid, @started_ms)`,
        )
        .run(row)
      return Number(lastInsertRowid)
    },
    commandEnded: async (id, end) =>
      void db
        .prepare('UPDATE command SET exit_code = @exit_code, ms = @ms, bytes = @bytes WHERE id = @id')
        .run({ id, ...end }),
    commands: async (sessionId) =>
      sql<[string], CommandRow>(
        `SELECT session_id, occasion, stage, command, cwd, pid, started_ms, exit_code, ms, bytes FROM command
         WHERE session_id = ? ORDER BY id DESC LIMIT 100`,
      ).all(sessionId),
    finishStep: async (id, result, change) =>
      transact(() => {
        apply(change)
        sql<[string, number]>(
          `UPDATE step SET status = 'done', stage = NULL, mark = NULL, result = ? WHERE id = ?`,
        ).run(JSON.stringify(result), id)
      }),
    abandonStep: async (id, status, isBack) =>
      transact(() => {
        if (isBack)
          sql<[number]>('DELETE FROM landing WHERE id = (SELECT landing_id FROM step WHERE id = ?)').run(id)
        sql<[string, number, number]>(
          'UPDATE step SET status = ?, stage = NULL, mark = NULL, undone_ms = ? WHERE id = ?',
        ).run(status, now(), id)
      }),
    linkLanding: async (id, landing) =>
      void sql<[number, number]>('UPDATE step SET landing_id = ? WHERE id = ?').run(landing, id),
    steps: async (sessionId) =>
      sql<[string], StepText>('SELECT * FROM step WHERE session_id = ? ORDER BY id')
        .all(sessionId)
        .map(readStep),
    async stepByRequest(request) {
      const row = sql<[string, number], StepText>(
        'SELECT * FROM step WHERE request = ? AND started_ms > ?',
      ).get(request, now() - repeatMs)
      return row && readStep(row)
    },
    runningSteps: async () =>
      sql<[], StepText>(`SELECT * FROM step WHERE status = 'running'`).all().map(readStep),
    landings: async (sessionId) =>
      sql<[string], LandingRow>('SELECT * FROM landing WHERE session_id = ? ORDER BY id').all(sessionId),
    output: async (id, stage) =>
      sql<[number, string], OutputRow>(
        'SELECT stage, stdout, stderr FROM output WHERE step_id = ? AND stage = ?',
      ).get(id, stage),
    outputStages: async (id) =>
      sql<[number], { stage: string }>('SELECT stage FROM output WHERE step_id = ? ORDER BY rowid')
        .all(id)
        .map(({ stage }) => stage),
    async beginLanding({ session_id, kind, before }) {
      const { lastInsertRowid } = addLanding.run(session_id, kind, before)
      return { id: Number(lastInsertRowid), session_id, kind, before, after: null }
    },
    goBack: async (change, live, request, given) =>
      transact(() => {
        apply(change)
        db.prepare(
          `UPDATE step SET undone_ms = CASE WHEN id IN (SELECT value FROM json_each(@live)) THEN NULL
           ELSE coalesce(undone_ms, @now) END WHERE session_id = @id AND status = 'done' AND kind <> 'baseline'`,
        ).run({ now: now(), live: JSON.stringify(live), id: change.id })
        keep(request, given)
      }),
    addCheckpoint: async (row, request, given) =>
      transact(() => {
        sql<unknown[]>(
          'INSERT INTO checkpoint (id, session_id, description, standing, live, landing_id, made_ms) VALUES (?, ?, ?, ?, ?, ?, ?)',
        ).run(
          row.id,
          row.session_id,
          row.description,
          JSON.stringify(row.standing),
          JSON.stringify(row.live),
          row.landing_id,
          row.made_ms,
        )
        keep(request, given)
      }),
    checkpoints: async (sessionId) =>
      sql<[string], CheckpointText>('SELECT * FROM checkpoint WHERE session_id = ? ORDER BY made_ms, rowid')
        .all(sessionId)
        .map((row) => ({
          ...row,
          standing: JSON.parse(row.standing) as Standing,
          live: JSON.parse(row.live) as number[],
        })),
    endSession: async (change, request, given) =>
      transact(() => {
        apply({ ...change, status: 'ended' })
        sql<[string]>('DELETE FROM seen WHERE session_id = ?').run(change.id)
        sql<[string]>('DELETE FROM output WHERE step_id IN (SELECT id FROM step WHERE session_id = ?)').run(
          change.id,
        )
        keep(request, given)
      }),
    contents: contentRows(db, now),
    saw: async (sessionId, files) =>
      transact(() => {
        const put = sql<[string, string, string, Buffer | null]>(
          'INSERT OR REPLACE INTO seen (session_id, path, sha, text) VALUES (?, ?, ?, ?)',
        )
        for (const [path, { sha, text }] of files) put.run(sessionId, path, sha, text)
      }),
    seen: async (sessionId) =>
      new Map(
        sql<[string], { path: string; sha: string }>('SELECT path, sha FROM seen WHERE session_id = ?')
          .all(sessionId)
          .map(({ path, sha }) => [path, sha]),
      ),
    async seenText(sessionId, path) {
      const row = sql<[string, string], { text: Buffer | null }>(
        'SELECT text FROM seen WHERE session_id = ? AND path = ?',
      ).get(sessionId, path)
      return row?.text ?? undefined
    },
    close: () => db.close(),
  }
}

type Text<Row, Keys extends keyof Row> = Omit<Row, Keys> & { readonly [Key in Keys]: string }
type SessionText = Text<SessionRow, 'config' | 'standing'> & { readonly baseline: string | null }
type StepText = Omit<Text<StepRow, 'standing_before'>, 'mark' | 'result'> & {
  readonly mark: string | null
  readonly result: string | null
}
type CheckpointText = Text<CheckpointRow, 'standing' | 'live'>

// What is read here was written here: the types of the columns are ours.
/** A session that works on a desk does so where the data folder is now. */
const withDesk = (session: SessionRow, dir: string): SessionRow =>
  session.config.repo === session.config.project
    ? session
    : { ...session, config: { ...session.config, repo: deskOf(dir, session.id) } }

const sessionOf = (row: SessionText): SessionRow => ({
  ...row,
  config: storedConfig(JSON.parse(row.config) as SessionConfig),
  standing: JSON.parse(row.standing) as Standing,
  baseline: row.baseline === null ? null : (JSON.parse(row.baseline) as Baseline),
})

const readStep = (row: StepText): StepRow => ({
  ...row,
  standing_before: JSON.parse(row.standing_before) as Standing,
  mark: row.mark === null ? null : (JSON.parse(row.mark) as ProcessMark),
  result: row.result === null ? null : (JSON.parse(row.result) as EvalResult),
})
