import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { resolveWorkerFile } from '@causeway/worker'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { inCI } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { Catalogue, type RunEntry } from '../src/library/catalogue.ts'
import { loadRecording } from '../src/library/loaded-recording.ts'
import { runQuery } from '../src/reader/query/query.ts'
import { prepareReading } from '../src/reader/query/statement-gate.ts'
import { startRecordingWorker } from '../src/reader/start-recording-worker.ts'
import { openRecorder } from '../src/recorder/recorder.ts'
import { type RecorderWorker, startRecorderWorker } from '../src/recorder/start-recorder-worker.ts'
import { whole } from './library-kit.ts'
import { frameLines, runLine, streamLines } from './run-lines.ts'
import { bodyId, writeRecording } from './write-recording.ts'

const identity = { id: 'run', path: '/recordings/run.db', name: 'run.db', size_bytes: 1 }

verifies('recording:worker:dies', async (t) => {
  const file = join(t.testdir(), 'copy.db')
  writeRecording(file, { frames: 50 })
  const link = startRecordingWorker()
  const loaded = await loadRecording(link, { key: 'key', file, identity, startWorker: startRecordingWorker })
  t.teardown(() => loaded.release())
  // These calls were sent to the worker. A call that is made now goes to the next worker.
  const calls = Array.from({ length: 100 }, () => link.call('bodyEnergy', { body: bodyId, range: whole }))
  const ended = Promise.allSettled(calls)
  const [next] = [loaded.recording.frame(1), await link.kill()]
  t.equal((await next).frame_id, 1)
  for (const result of await ended) {
    if (result.status === 'rejected') t.match(result.reason, { code: 'WORKER_LOST', remedy: /call again/ })
  }
  t.ok(
    (await ended).some(({ status }) => status === 'rejected'),
    'rejects a running call',
  )
  t.equal((await loaded.recording.frame(2)).frame_id, 2)
  t.equal(loaded.isOpen, true)
})

verifies(
  'recording:worker:dies',
  'a released recording answers the next call with a new worker',
  async (t) => {
    const file = join(t.testdir(), 'copy.db')
    writeRecording(file, { frames: 10 })
    const loaded = await loadRecording(startRecordingWorker(), {
      key: 'key',
      file,
      identity,
      startWorker: startRecordingWorker,
    })
    t.teardown(() => loaded.release())
    const [before, released] = [loaded.recording.frame(1), loaded.release()]
    t.equal(loaded.isOpen, false)
    const after = await loaded.recording.frame(2)
    await released
    t.same([(await before).frame_id, after.frame_id], [1, 2], 'completes both calls')
  },
)

verifies(
  'limits:worker:isolated',
  'an analysis that ends its worker does not affect other calls',
  async (t) => {
    const file = join(t.testdir(), 'copy.db')
    writeRecording(file, { frames: 10 })
    const startWorker = () => startRecordingWorker(resolveWorkerFile('counting-worker', import.meta.url))
    const loaded = await loadRecording(startWorker(), { key: 'key', file, identity, startWorker })
    t.teardown(() => loaded.release())
    const runaway = t.rejects(loaded.recording.analyse('die', {}), { code: 'WORKER_LOST' })
    const harmless = [1, 2, 3].map((frame) => loaded.recording.frame(frame))
    t.same(
      (await Promise.all(harmless)).map(({ frame_id }) => frame_id),
      [1, 2, 3],
    )
    await runaway
  },
)

t.test('errors of a worker retain their code and data', async (t) => {
  const file = join(t.testdir(), 'copy.db')
  writeRecording(file, { frames: 2 })
  const loaded = await loadRecording(startRecordingWorker(), {
    key: 'key',
    file,
    identity,
    startWorker: startRecordingWorker,
  })
  t.teardown(() => loaded.release())
  await t.rejects(loaded.recording.frame(3), {
    code: 'FRAME_NOT_FOUND',
    data: { frame_id: 3, first_frame: 1, last_frame: 2 },
  })
})

t.test('internal errors of a worker do not reveal details', async (t) => {
  const link = startRecordingWorker()
  t.teardown(() => link.kill())
  await t.rejects(link.call('frame', { frame: 1 }), {
    code: 'INTERNAL',
    message: 'reading the recording failed',
  })
})

t.test('a transferred column contains all of its values', async (t) => {
  const file = join(t.testdir(), 'copy.db')
  writeRecording(file, { frames: 20 })
  const loaded = await loadRecording(startRecordingWorker(), {
    key: 'key',
    file,
    identity,
    startWorker: startRecordingWorker,
  })
  t.teardown(() => loaded.release())
  const { fields, length, data } = await loaded.recording.systemEnergy(whole)
  t.same([length, fields.length, data.length], [20, 9, 180])
  t.equal(data[fields.length + fields.indexOf('frame_id')], 2)
})

/** Opens a recorder. Returns it with its workers. If `isDoomed` is set, new workers die immediately. */
async function openDoomed(t: Test) {
  const dir = t.testdir()
  const workers: RecorderWorker[] = []
  const state = { isDoomed: false, isFull: false }
  class FillableCatalogue extends Catalogue {
    override putRun(entry: RunEntry) {
      if (state.isFull) throw new Error('the disk is full')
      super.putRun(entry)
    }
  }
  const catalogue = new FillableCatalogue(join(dir, 'recordings.db'), Date.now)
  const recorder = await openRecorder({
    dir,
    catalogue,
    startWorker() {
      const link = startRecorderWorker()
      workers.push(link)
      if (state.isDoomed) void link.kill()
      return link
    },
    limits: { maxBytes: 2 ** 30, maxAgeMs: 0, maxLiveRuns: 4, idleMs: 60_000 },
    now: Date.now,
    log: undefined,
    onRemove: async () => {},
  })
  t.teardown(async () => {
    await recorder.close()
    catalogue.close()
  })
  const send = (first: number, last: number) =>
    recorder.write('run', streamLines([runLine, ...frameLines(first, last)]))
  return { recorder, workers, state, send }
}

t.test('close of the recorder resolves after its workers have ended', async (t) => {
  const { recorder, workers, send } = await openDoomed(t)
  await send(1, 30)
  const [worker] = workers
  if (worker === undefined) throw new Error('no worker was started')
  const stop = worker.stop.bind(worker)
  let isEnded = false
  Object.assign(worker, {
    async stop() {
      await stop()
      isEnded = true
    },
  })
  await recorder.close()
  t.ok(isEnded)
})

t.test('the recorder returns acknowledged frames after its worker has died', async (t) => {
  const { recorder, workers, state, send } = await openDoomed(t)
  t.match(await send(1, 30), { last_frame_id: 30 })
  await workers[0]?.kill()
  state.isDoomed = true
  await t.rejects(send(31, 40), { code: 'WORKER_LOST' })
  t.match(await recorder.state('run'), { total_frames: 30, first_frame_id: 1, last_frame_id: 30 })
  state.isDoomed = false
  t.match(await send(21, 40), { accepted: 10, ignored: 10, last_frame_id: 40 })
})

t.test('a run whose catalogue entry could not be stored can be finished later', async (t) => {
  const { recorder, state, send } = await openDoomed(t)
  await send(1, 30)
  state.isFull = true
  await t.rejects(recorder.finish('run'), { message: 'the disk is full' })
  state.isFull = false
  await recorder.write('other', streamLines([runLine, ...frameLines(1, 3)]))
  t.match(await recorder.state('other'), { total_frames: 3 })
  t.match(await send(1, 30), { accepted: 0, ignored: 30 })
  t.match(await recorder.finish('run'), { total_frames: 30, status: 'finished' })
})

t.test('a run whose worker died can be removed, and its name can be reused', async (t) => {
  const { recorder, workers, send } = await openDoomed(t)
  await send(1, 30)
  await workers[0]?.kill()
  await recorder.remove('run')
  await t.rejects(recorder.state('run'), { code: 'RECORDING_NOT_FOUND' })
  t.match(await send(1, 5), { accepted: 5, last_frame_id: 5 })
})

const endless = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c'
const eater =
  'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT group_concat(hex(randomblob(1000000))) FROM c'
const question = { params: [], limit: 1, bytes: 1000, deadlineMs: 30_000 }

/** Returns the processes that are started from now on. */
function startedProcesses(t: Test): readonly ChildProcess[] {
  const started: ChildProcess[] = []
  const add = (message: unknown) => started.push((message as { process: ChildProcess }).process)
  subscribe('child_process', add)
  t.teardown(() => unsubscribe('child_process', add))
  return started
}

verifies('replay:sql:lost', async (t) => {
  const file = join(t.testdir(), 'copy.db')
  writeRecording(file, { frames: 2 })
  const started = startedProcesses(t)
  const asked = runQuery(file, { ...question, sql: endless })
  started[0]?.kill('SIGKILL')
  await t.rejects(asked, {
    code: 'WORKER_LOST',
    message: /the query process was killed/,
    remedy: 'call again',
  })
  const crashed = runQuery(file, { ...question, sql: endless })
  started[1]?.kill('SIGABRT')
  await t.rejects(crashed, { code: 'WORKER_LOST', message: /ended unexpectedly/ })
})

t.test('runQuery gives its process a lower priority than the server', async (t) => {
  const file = join(t.testdir(), 'copy.db')
  writeRecording(file, { frames: 2 })
  const [started, cancel] = [startedProcesses(t), new AbortController()]
  const query = runQuery(file, { ...question, sql: endless }, cancel.signal)
  t.ok(getPriority(started[0]?.pid) > getPriority())
  cancel.abort()
  await t.rejects(query, { code: 'CANCELLED' })
})

t.test(
  'runQuery reports a query that exceeds its memory or its deadline',
  inCI(async (t) => {
    const file = join(t.testdir(), 'copy.db')
    writeRecording(file, { frames: 2 })
    await t.rejects(runQuery(file, { ...question, sql: eater }), {
      code: 'INVALID_QUERY',
      message: /more than 512 MB/,
    })
    await t.rejects(runQuery(file, { ...question, sql: endless, deadlineMs: 1 }), {
      code: 'DEADLINE_EXCEEDED',
    })
  }),
)

const refused = [
  'DELETE FROM pair',
  'UPDATE pair SET a = 0 RETURNING a',
  'INSERT INTO pair VALUES (1)',
  'CREATE TEMP TABLE x(y)',
  "ATTACH '/tmp/stolen.db' AS stolen",
  "VACUUM INTO '/tmp/stolen.db'",
  "/* SELECT */ VACUUM INTO '/tmp/stolen.db'",
  '-- SELECT\nPRAGMA writable_schema = ON',
  'PRAGMA writable_schema = ON',
  'PRAGMA journal_mode = DELETE',
  'PRAGMA temp_store_directory',
  'PRAGMA table_info(pair) ; DELETE FROM pair',
  'SELECT 1; DELETE FROM pair',
  'SELECT * FROM pragma_writable_schema(1)',
  'BEGIN IMMEDIATE',
  'WITH x AS (SELECT 1) DELETE FROM pair RETURNING a',
  'EXPLAIN',
  'EXPLAIN PRAGMA query_only = OFF',
  '/**/ EXPLAIN /**/ QUERY -- plan\n PLAN PRAGMA writable_schema = ON',
  'SELECT writefile(1, 2)',
  'not sql',
  ' ',
]

t.test('prepareReading rejects statements that are not read-only before they run', async (t) => {
  const db = new Database(':memory:')
  t.teardown(() => db.close())
  db.exec('CREATE TABLE pair(a); INSERT INTO pair VALUES (7)')
  for (const sql of refused) t.throws(() => prepareReading(db, sql), { name: 'StatementError' }, sql)
  t.same(db.prepare('SELECT a FROM pair').all(), [{ a: 7 }])
})

const unsafe = [
  'SELECT * FROM pragma_database_list',
  'SELECT * FROM pragma_database_list AS harmless',
  'SELECT * FROM main.pragma_database_list',
  'SELECT * FROM "pragma_compile_options"',
  "SELECT * FROM pragma_table_info('pair')",
  'SELECT a FROM pair WHERE a IN (SELECT seq FROM [pragma_database_list])',
  'WITH x AS (SELECT * FROM pragma_module_list) SELECT * FROM x',
  'EXPLAIN QUERY PLAN SELECT * FROM pragma_function_list',
  'SELECT * FROM dbstat',
  'SELECT * FROM fts3tokenize',
  'SELECT * FROM sqlite_dbpage',
  "SELECT * FROM zipfile('/tmp/x.zip')",
  "SELECT * FROM fsdir('/')",
  "SELECT readfile('/etc/passwd')",
  "SELECT fts3_tokenizer('simple')",
  'SELECT "fts3_tokenizer"(?)',
  "SELECT a FROM pair ORDER BY fts3_tokenizer('simple', x'00')",
  "SELECT a FROM pair LIMIT fts3_tokenizer('simple')",
  "EXPLAIN SELECT fts3_tokenizer('simple')",
  "SELECT load_extension('/tmp/x.so')",
  "SELECT 1 WHERE 0 AND load_extension('/tmp/x.so')",
  'SELECT sqlite_log(1, 2)',
  "SELECT rtreecheck('pair')",
]

verifies(
  'replay:sql:gates',
  'prepareReading rejects functions and virtual tables that are not allowed',
  async (t) => {
    const db = new Database(':memory:')
    t.teardown(() => db.close())
    db.exec('CREATE TABLE pair(a); INSERT INTO pair VALUES (7)')
    for (const sql of unsafe)
      t.throws(
        () => prepareReading(db, sql, sql.includes('?') ? ['simple'] : []),
        { name: 'StatementError' },
        sql,
      )
  },
)

t.test('prepareReading rejects a virtual table of the recording that has an allowed name', async (t) => {
  const db = new Database(':memory:')
  t.teardown(() => db.close())
  db.exec('CREATE VIRTUAL TABLE json_each USING fts5(a)')
  t.throws(() => prepareReading(db, 'SELECT * FROM json_each'), { name: 'StatementError' })
})

t.test("prepareReading allows harmless functions, json tables and the connection's views", async (t) => {
  const db = new Database(':memory:')
  t.teardown(() => db.close())
  db.exec('CREATE TABLE pair(a); INSERT INTO pair VALUES (7)')
  db.table('pair_of', {
    columns: ['a'],
    *rows() {
      yield [7]
    },
  })
  db.exec('CREATE TEMP VIEW v_pair AS SELECT a FROM pair_of')
  const allowed = [
    ["SELECT value FROM json_each('[7]') AS j", [], [[7]]],
    ['SELECT value FROM json_tree(:json) WHERE atom = :seven', { json: '[7]', seven: 7 }, [[7]]],
    ['SELECT a FROM v_pair', [], [[7]]],
    [
      'SELECT median(a), percentile(a, 50), sum(a) OVER (), max(a), round(sqrt(a), 1) FROM pair',
      [],
      [[7, 7, 7, 7, 2.6]],
    ],
    [
      "SELECT upper(printf('%d', a)), json_object('a', a) ->> 'a', date('2000-01-01') FROM pair",
      [],
      [['7', 7, '2000-01-01']],
    ],
  ] as const
  for (const [sql, params, rows] of allowed) {
    const statement = prepareReading(db, sql, params)
    t.same(Array.isArray(params) ? statement.all(...params) : statement.all(params), rows, sql)
  }
})

t.test('prepareReading prepares one reading statement that contains comments', async (t) => {
  const db = new Database(':memory:')
  t.teardown(() => db.close())
  db.exec('CREATE TABLE pair(a); INSERT INTO pair VALUES (7)')
  const allowed = [
    ['SELECT a FROM pair', [[7]]],
    ['-- why\n/* and how */ select a from pair;', [[7]]],
    ['WITH x AS (SELECT a FROM pair) SELECT * FROM x', [[7]]],
    ['VALUES (1)', [[1]]],
    ['PRAGMA table_info(pair)', [[0, 'a', '', 0, null, 0]]],
  ] as const
  for (const [sql, rows] of allowed) t.same(prepareReading(db, sql).all(), rows, sql)
})
