import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { inCI } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { evaluate, parsePredicate } from '../src/domain/series/predicate.ts'
import type { SeriesPlan } from '../src/domain/series/series-name.ts'
import { ask, openReplay, readText, toRows } from './replay-kit.ts'

const eras = ['slide_at_45', 'era_flat_contacts', 'era_no_tangents', 'era_states_only', 'era_unified']

verifies('replay:sql:views', 'query_sql views have the same rows as get_frame in every era', async (t) => {
  const { client } = await openReplay(t, eras)
  for (const recording of eras) {
    const one = client()
    const frame_id = 3
    const part = (select: string, view: string) =>
      `(SELECT json_group_array(json_array(${select})) FROM ${view} WHERE frame_id = ${frame_id})`
    const sql = `SELECT ${part('body_id, x, vz', 'v_state')}, ${part('depth', 'v_contact')}, ${part('normal_lambda, tangent1_lambda', 'v_friction')}, (SELECT count(*) FROM v_frame), (SELECT count(*) FROM v_energy), (SELECT count(*) FROM v_solver), (SELECT count(*) FROM v_body)`
    const [row = []] = (await one.call('query_sql', { recording, sql })).rows as (string | number)[][]
    const [states, contacts, friction] = row.slice(0, 3).map((text) => JSON.parse(String(text)))
    const frame = await one.call('get_frame', { recording, frame_id })
    const { total_frames } = await one.call('get_metadata', { recording })
    t.equal(row[3], total_frames, `${recording}: frames`)
    const placed = toRows(frame.states).map(({ body_id, position, velocity }) => [
      body_id,
      (position as { x: number }).x,
      (velocity as { z: number }).z,
    ])
    t.same(states, placed, `${recording}: states`)
    const points = toRows(frame.collisions).flatMap(({ contacts }) => toRows(contacts))
    t.equal(contacts.length, points.length, `${recording}: contact points`)
    const lambdas = toRows(frame.friction_constraints).map((row) => [row.normal_lambda, row.tangent1_lambda])
    t.same(friction, lambdas, `${recording}: friction`)
  }
})

verifies('replay:sql:views', 'query_sql accepts parameters by position and by name', async (t) => {
  const one = await ask(t, 'slide_at_45')
  const by = (where: string, params: unknown) =>
    one.call('query_sql', { sql: `SELECT frame_id FROM v_frame WHERE ${where}`, params })
  t.same((await by('frame_id = ?', [45])).rows, [[45]])
  t.same((await by('frame_id = :id', { id: 45 })).rows, [[45]])
  await t.rejects(by('frame_id = ?', 'x'), { code: 'INVALID_ARGUMENTS' })
  await t.rejects(by('frame_id = ?', []), { code: 'INVALID_QUERY' })
})

verifies('replay:sql:views', 'query_sql reports truncation by number of rows and by size', async (t) => {
  const one = await ask(t, 'slide_at_45')
  const many = await one.call('query_sql', { sql: 'SELECT frame_id FROM v_frame', limit: 7 })
  t.match(many, { row_count: 7, truncated: true, truncated_by: 'rows' })
  const wide = await one.call('query_sql', { sql: `SELECT frame_id, printf('%.900c', 'x') FROM v_frame` })
  t.match(wide, { truncated: true, truncated_by: 'bytes' })
  t.ok(JSON.stringify(wide.rows).length <= 50_000)
  const exact = await one.call('query_sql', { sql: 'SELECT 1 UNION SELECT 2', limit: 2 })
  t.match(exact, { row_count: 2, truncated: false })
})

verifies('replay:sql:views', 'query_sql lists the views and their columns in errors', async (t) => {
  const one = await ask(t, 'slide_at_45')
  await t.rejects(one.call('query_sql', { sql: 'SELECT velocity FROM v_state' }), {
    code: 'INVALID_QUERY',
    message: /no such column/,
    data: { views: { v_state: /speed/ } },
  })
  const schema = JSON.parse(await readText(one, 'replay://recordings/slide_at_45/schema'))
  t.ok(toRows(schema.tables).some(({ name }) => name === 'SolverDiagnosticRecord'))
})

verifies('replay:sql:gates', 'query_sql neither changes the recording nor reads other files', async (t) => {
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
})

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
  'query_sql stops an endless query at its deadline and on cancellation',
  async (t) => {
    const one = await ask(t, 'slide_at_45')
    const endless = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c'
    await t.rejects(one.call('query_sql', { sql: endless, timeout_s: 0.3 }), { code: 'DEADLINE_EXCEEDED' })
    const controller = new AbortController()
    const asked = one.call('query_sql', { sql: endless, timeout_s: 20 }, { signal: controller.signal })
    setImmediate(() => controller.abort())
    await t.rejects(asked, { code: 'CANCELLED' })
    t.match(await one.call('query_sql', { sql: 'SELECT 1' }), { rows: [[1]] }, 'the next query succeeds')
  },
)

verifies(
  'replay:sql:gates',
  'query_sql stops a query that allocates too much, and replaces huge values with their size',
  inCI(async (t) => {
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
  }),
)

const plan = (name: string): SeriesPlan => ({
  name,
  subject: 'frame',
  quantityKey: 'frame',
  unit: '',
  quantity: '',
})

function value(text: string, values: Readonly<Record<string, number>> = {}): number {
  const { plans, expression } = parsePredicate(text, plan)
  return evaluate(expression, (index) => values[plans[index]?.name ?? ''] ?? Number.NaN)
}

t.test('operators in predicates have the usual precedence', async (t) => {
  t.equal(value('1 + 2 * 3 == 7'), 1)
  t.equal(value('(1 + 2) * 3 == 9'), 1)
  t.equal(value('-2 - -3'), 1)
  t.equal(value('8 / 4 / 2'), 1)
  t.equal(value('1 < 2 or 1 > 2 and 1 > 3'), 1, 'and has precedence over or')
  t.equal(value('not 1 > 2 and 2 > 1'), 1)
  t.equal(value('abs(-1.5e0) >= 1.5 && !(.5 != 0.5)'), 1)
})

t.test('comparisons with missing values are false', async (t) => {
  t.equal(value('x < 1'), 0)
  t.equal(value('x >= 1'), 0)
  t.equal(value('x != 1'), 0)
  t.equal(value('x or 1'), 1)
  t.equal(value('not x'), 1)
})

t.test('functions in predicates are parsed as series of bodies and pairs', async (t) => {
  const { plans } = parsePredicate('speed(2) > 1 and normal_force(1, floor) > body.2.speed', plan)
  t.same(
    plans.map(({ name }) => name),
    ['body.2.speed', 'pair.1.floor.normal_force'],
    'each series occurs once',
  )
})
