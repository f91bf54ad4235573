import { join } from 'node:path'
import { matchesCall, parseCallFilter } from '@causeway/protocol/call-filter'
import Database from 'better-sqlite3'
import type { Test } from 'tap'
import { randomFrom } from '../../../test/random.ts'
import { verifies } from '../../../test/verifies.ts'
import type { AuditEntry } from '../../src/audit/audit-entry.ts'
import { AuditStore } from '../../src/audit/audit-store.ts'
import { ServerStore } from '../../src/host/server-store.ts'
import { openWire, toolCall } from '../http/open-wire.ts'

const entry = (changes: Partial<AuditEntry>): AuditEntry => ({
  at_ms: 0,
  app: 'Replay',
  service: 'replay',
  tool: 'get_frame',
  channel: 'mcp',
  client: 'claude-code',
  client_version: '2.1',
  session: 'abc0',
  request_id: 'r',
  trace_id: null,
  ms: 1,
  code: 'ok',
  request_bytes: null,
  answer_chars: null,
  subject: null,
  facts: null,
  ...changes,
})

/** Stores entries. Returns a store that also lists the SQL that it runs, with its values. */
async function openStore(t: Test, entries: readonly AuditEntry[]) {
  const path = join(t.testdir(), 'server.db')
  const writer = new ServerStore(path, { now: () => 0 })
  await writer.audit.append(entries)
  writer.close()
  const statements: string[] = []
  const db = new Database(path, { verbose: (sql) => void statements.push(String(sql)) })
  t.teardown(() => db.close())
  const store = new AuditStore(db, async (write) => write())
  const find = async (filter: string, more: { limit?: number; before?: number } = {}) => {
    const page = await store.readPage({ filter: parseCallFilter(filter), limit: 1000, ...more })
    return { ...page, ids: page.entries.map(({ request_id }) => request_id) }
  }
  const explain = (sql: string): string =>
    db
      .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => detail)
      .join('; ')
  const listPlans = (): string[] => statements.filter((sql) => /^SELECT id/.test(sql)).map(explain)
  return { find, listPlans, statements }
}

verifies('audit:filter', async (t) => {
  const filters = [
    ['code:*', 'old-failed'],
    ['code:NOT_FOUND tool:find', 'old-failed'],
    ['-code:ok', 'old-failed'],
    ['code:ok tool:find_', 'old-slow'],
    ['client:PROBE', 'old-probe'],
    ['client:probe/', undefined],
    ['client:"probe 1.2"', undefined],
    ['ms:>50', 'old-slow'],
    ['session:s1', 'old-probe'],
    ['subject:É_', 'old-slow'],
    ['browser', 'old-slow'],
    ['2.1abc0', undefined],
  ] as const
  const { find } = await openStore(t, [
    entry({ request_id: 'old-probe', client: 'probe', client_version: '1.2', session: 's1' }),
    entry({ request_id: 'old-failed', tool: 'find_energy', code: 'FRAME_NOT_FOUND' }),
    entry({ request_id: 'old-slow', tool: 'find_rest', ms: 51, client: 'Mozilla', subject: 'É_drop' }),
    ...Array.from({ length: 12_000 }, (_, n) => entry({ request_id: `new-${n}`, session: 'other', ms: 50 })),
  ])
  for (const [filter, id] of filters)
    t.same((await find(filter)).ids, id === undefined ? [] : [id], `${filter} finds ${id}`)
  t.equal((await find('')).entries.length, 1000)
})

verifies('audit:filter', 'the audit and the console page apply the same filter rules', async (t) => {
  const random = randomFrom(7)
  const texts = ['', 'Replay', 'get_frame', 'FIND', 'ok', 'a%_b', 'É', 'é', '\u212a', "x'y", 'Mozilla', '50']
  const codes = ['ok', 'ok', 'NOT_FOUND', 'OVERLOADED', 'BROKEN']
  const entries = Array.from({ length: 300 }, (_, n) =>
    entry({
      request_id: String(n),
      app: random.pick(texts),
      tool: random.pick(texts),
      client: random.pick(texts),
      client_version: random.pick(['', '1.2', 'ok']),
      session: random.pick(texts),
      subject: random.pick([null, ...texts]),
      code: random.pick(codes),
      ms: random.below(100),
    }),
  )
  const { find } = await openStore(t, entries)
  const fields = ['app:', 'tool:', 'code:', 'client:', 'session:', 'subject:', '']
  const values = [
    'replay',
    'GET',
    'o',
    'ok',
    'not',
    '%',
    '_',
    'é',
    'É',
    'k',
    "'",
    'browser',
    'mozilla',
    '1.2',
  ]
  const pickWord = (): string =>
    random.pick(['-', '']) +
    random.pick([`${random.pick(fields)}${random.pick(values)}`, 'code:*', 'ms:>49', 'ms:<50'])
  let found = 0
  for (let round = 0; round < 300; round++) {
    const text = Array.from({ length: 1 + random.below(3) }, pickWord).join(' ')
    const filter = parseCallFilter(text)
    const expected = entries.filter((one) => matchesCall(filter, one)).map(({ request_id }) => request_id)
    const { ids } = await find(text)
    if (JSON.stringify(ids) !== JSON.stringify(expected.reverse())) t.same(ids, expected, text)
    found += ids.length
  }
  t.ok(found > 1000, `${found} calls were found`)
})

verifies('audit:filter', '100,000 entries are searched by an index or in bounded steps', async (t) => {
  const isFailed = (n: number): boolean => n % 5000 === 0
  const { find, listPlans, statements } = await openStore(
    t,
    Array.from({ length: 100_100 }, (_, n) =>
      entry({ request_id: String(n), code: isFailed(n) ? 'NOT_FOUND' : 'ok', tool: n < 100 ? 'old' : 'new' }),
    ),
  )
  const failed = await find('code:*', { limit: 20 })
  t.same(
    failed.ids,
    Array.from({ length: 20 }, (_, n) => String(100_000 - n * 5000)),
  )
  for (const filter of ['code:not_found tool:new', '-code:ok']) await find(filter)
  const plans = new Set(listPlans())
  t.same(
    [...plans],
    ['SEARCH audit USING INDEX audit_failures (id>? AND id<?)'],
    'only failed calls are read',
  )

  statements.length = 0
  const first = await find('tool:old')
  t.same(first.ids, [])
  t.equal(first.next, 101, 'the page ends after 100,000 entries')
  t.same(new Set(listPlans()), new Set(['SEARCH audit USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)']))
  t.equal(listPlans().length, 20, 'each statement reads 5,000 entries')
  const second = await find('tool:old', { before: first.next as number })
  t.equal(second.ids.length, 100)
  t.equal(second.next, undefined)
})

verifies('audit:filter', 'the audit routes accept a filter and explain invalid filters', async (t) => {
  const { send } = await openWire(t)
  await send(toolCall('Demo__echo', { text: 'x' }))
  await send(toolCall('Demo__fail', { code: 'NO_RECORDING' }))
  const get = (path: string, filter: string) =>
    send(undefined, {
      path: `/api/apps/causeway/${path}?${new URLSearchParams({ filter, limit: '9' })}`,
      method: 'GET',
    })
  t.match(await get('audit', 'code:* app:demo'), {
    status: 200,
    json: { entries: [{ toolName: 'fail', error: { code: 'NO_RECORDING' } }], next_before: null },
  })
  t.equal((await get('audit', '')).json.entries.length, 2)
  t.equal((await get('audit.jsonl', '-code:*')).text.trim().split('\n').length, 1)
  const problems = [
    [
      'tol:find',
      /^has the unknown field tol; the fields are app, tool, code, client, session, subject and ms/,
    ],
    ['ms:fast', /ms:fast, which is not a duration/],
    ['-code:', /^has no value after code:/],
    ['x'.repeat(501), /^is longer than 500 characters/],
    ['x '.repeat(21), /^has more than 20 conditions/],
  ] as const
  for (const [filter, problem] of problems)
    t.match(await get('audit', filter), {
      status: 400,
      json: { code: 'INVALID_ARGUMENTS', data: { problems: [{ argument: 'filter', problem }] } },
    })
})
