import { verifies } from '../../../test/verifies.ts'
import { ask, openReplay, rowsOf, textOf } from './replay-kit.ts'

const eras = ['slide_at_45', 'era_flat_contacts', 'era_no_tangents', 'era_states_only', 'era_unified']

verifies(
  'replay:sql:views',
  'query_sql: the views hold the same rows in every era as get_frame',
  async (t) => {
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
      const placed = rowsOf(frame.states).map(({ body_id, position, velocity }) => [
        body_id,
        (position as { x: number }).x,
        (velocity as { z: number }).z,
      ])
      t.same(states, placed, `${recording}: states`)
      const points = rowsOf(frame.collisions).flatMap(({ contacts }) => rowsOf(contacts))
      t.equal(contacts.length, points.length, `${recording}: contact points`)
      const lambdas = rowsOf(frame.friction_constraints).map((row) => [
        row.normal_lambda,
        row.tangent1_lambda,
      ])
      t.same(friction, lambdas, `${recording}: friction`)
    }
  },
)

verifies('replay:sql:views', 'query_sql: parameters by position and by name', async (t) => {
  const one = await ask(t, 'slide_at_45')
  const by = (where: string, params: unknown) =>
    one.call('query_sql', { sql: `SELECT frame_id FROM v_frame WHERE ${where}`, params })
  t.same((await by('frame_id = ?', [45])).rows, [[45]])
  t.same((await by('frame_id = :id', { id: 45 })).rows, [[45]])
  await t.rejects(by('frame_id = ?', 'x'), { code: 'INVALID_ARGUMENTS' })
  await t.rejects(by('frame_id = ?', []), { code: 'INVALID_QUERY' })
})

verifies('replay:sql:views', 'query_sql: rows and bytes end an answer, which says so', async (t) => {
  const one = await ask(t, 'slide_at_45')
  const many = await one.call('query_sql', { sql: 'SELECT frame_id FROM v_frame', limit: 7 })
  t.match(many, { row_count: 7, truncated: true, truncated_by: 'rows' })
  const wide = await one.call('query_sql', { sql: `SELECT frame_id, printf('%.900c', 'x') FROM v_frame` })
  t.match(wide, { truncated: true, truncated_by: 'bytes' })
  t.ok(JSON.stringify(wide.rows).length <= 50_000)
  const exact = await one.call('query_sql', { sql: 'SELECT 1 UNION SELECT 2', limit: 2 })
  t.match(exact, { row_count: 2, truncated: false })
})

verifies('replay:sql:views', 'query_sql: a refusal names the views and their columns', async (t) => {
  const one = await ask(t, 'slide_at_45')
  await t.rejects(one.call('query_sql', { sql: 'SELECT velocity FROM v_state' }), {
    code: 'INVALID_QUERY',
    message: /no such column/,
    data: { views: { v_state: /speed/ } },
  })
  const schema = JSON.parse(await textOf(one, 'replay://recordings/slide_at_45/schema'))
  t.ok(rowsOf(schema.tables).some(({ name }) => name === 'SolverDiagnosticRecord'))
})
