import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { verifies } from '../../../test/verifies.ts'
import { ask, openReplay } from './replay-kit.ts'

verifies(
  'replay:sql:gates',
  'query_sql: no statement changes anything or leaves the recording',
  async (t) => {
    const { client, folder } = await openReplay(t, ['slide_at_45'])
    const one = client()
    await one.call('load_recording', { path: 'slide_at_45' })
    const outside = join(folder, 'stolen.db')
    const attacks = [
      'DELETE FROM SimulationFrameRecord',
      `ATTACH '${outside}' AS stolen`,
      `VACUUM INTO '${outside}'`,
      `SELECT load_extension('${outside}')`,
      'SELECT 1; DELETE FROM SimulationFrameRecord',
      'SELECT * FROM pragma_database_list',
      "SELECT fts3_tokenizer('simple')",
    ]
    await Promise.all(
      attacks
        .slice(0, 2)
        .map((sql) => t.rejects(one.call('query_sql', { sql }), { code: 'INVALID_QUERY' }, sql)),
    )
    for (const sql of attacks.slice(2))
      await t.rejects(one.call('query_sql', { sql }), { code: 'INVALID_QUERY' }, sql)
    t.notOk(existsSync(outside))
    const { rows } = await one.call('query_sql', { sql: 'SELECT count(*) FROM SimulationFrameRecord' })
    t.same(rows, [[120]])
  },
)

verifies('replay:sql:queue', async (t) => {
  const { client } = await openReplay(t, ['slide_at_45'])
  const one = client()
  await one.call('load_recording', { path: 'slide_at_45' })
  const calls = [1, 2, 3, 4, 5].map((number) => one.call('query_sql', { sql: `SELECT ${number}` }))
  const answers = await Promise.all(calls)
  t.same(
    answers.map(({ rows }) => rows),
    [1, 2, 3, 4, 5].map((number) => [[number]]),
  )
})

verifies(
  'replay:sql:gates',
  'query_sql: an endless query ends at its deadline, and when its caller cancels',
  async (t) => {
    const one = await ask(t, 'slide_at_45')
    const endless = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c'
    await t.rejects(one.call('query_sql', { sql: endless, timeout_s: 0.3 }), { code: 'DEADLINE_EXCEEDED' })
    const controller = new AbortController()
    const asked = one.call('query_sql', { sql: endless, timeout_s: 20 }, { signal: controller.signal })
    setImmediate(() => controller.abort())
    await t.rejects(asked, { code: 'CANCELLED' })
    t.match(await one.call('query_sql', { sql: 'SELECT 1' }), { rows: [[1]] }, 'the next one is answered')
  },
)

verifies(
  'replay:sql:gates',
  'query_sql: a query that eats memory is ended, a huge value is told by its size',
  async (t) => {
    const one = await ask(t, 'slide_at_45')
    const eater =
      'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT group_concat(hex(randomblob(1000000))) FROM c'
    await t.rejects(one.call('query_sql', { sql: eater, timeout_s: 20 }), { code: 'INVALID_QUERY' })
    const { rows } = await one.call('query_sql', {
      sql: `SELECT zeroblob(5000000), printf('%.100000c', 'x')`,
    })
    const [[blob, text] = []] = rows as string[][]
    t.equal(blob, '<blob of 5000000 bytes>')
    t.ok((text?.length ?? 0) <= 4001)
  },
)
