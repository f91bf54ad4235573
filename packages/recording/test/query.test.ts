import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { askSql } from '../src/query/query.ts'
import { writeRecording } from './write-recording.ts'

const endless = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c'
const eater =
  'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT group_concat(hex(randomblob(1000000))) FROM c'
const question = { params: [], limit: 1, bytes: 1000, deadlineMs: 30_000 }

/** The processes that were started since. */
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
  const asked = askSql(file, { ...question, sql: endless })
  started[0]?.kill('SIGKILL')
  await t.rejects(asked, {
    code: 'WORKER_LOST',
    message: /the query process was killed/,
    remedy: 'call again',
  })
  const crashed = askSql(file, { ...question, sql: endless })
  started[1]?.kill('SIGABRT')
  await t.rejects(crashed, { code: 'WORKER_LOST', message: /ended unexpectedly/ })
})

t.test('askSql reports a query that needs too much memory, and one that takes too long', async (t) => {
  const file = join(t.testdir(), 'copy.db')
  writeRecording(file, { frames: 2 })
  await t.rejects(askSql(file, { ...question, sql: eater }), {
    code: 'INVALID_QUERY',
    message: /more than 512 MB/,
  })
  await t.rejects(askSql(file, { ...question, sql: endless, deadlineMs: 1 }), { code: 'DEADLINE_EXCEEDED' })
})
