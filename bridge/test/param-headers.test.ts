import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { paramFields, paramHeaderFault, paramHeaders } from '../src/param-headers.ts'
import { type Got, startBackend } from './backend.ts'
import { modern, startBridge } from './client.ts'

const schema = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    dry: { type: 'boolean', 'x-mcp-header': 'Dry-Run' },
    plain: { type: 'string' },
    place: { type: 'object', properties: { town: { type: 'string', 'x-mcp-header': 'Town' } } },
  },
}

t.test('paramHeaders: annotated properties at any depth, under names that HTTP allows', async (t) => {
  t.same(paramHeaders(schema), [
    { field: 'mcp-param-region', path: ['region'] },
    { field: 'mcp-param-count', path: ['count'] },
    { field: 'mcp-param-dry-run', path: ['dry'] },
    { field: 'mcp-param-town', path: ['place', 'town'] },
  ])
  const refused = [
    { type: 'string', 'x-mcp-header': 'two words' },
    { type: 'string', 'x-mcp-header': '' },
    { type: 'object', 'x-mcp-header': 'Object' },
    { type: 'number', 'x-mcp-header': 'Number' },
    { 'x-mcp-header': 'Untyped' },
    null,
    7,
  ]
  for (const property of refused) t.same(paramHeaders({ properties: { property } }), [])
  for (const nothing of [undefined, null, 'text', { properties: null }, { items: schema }])
    t.same(paramHeaders(nothing), [])
})

t.test('paramHeaders: a schema of any depth does no harm', async (t) => {
  let deep: object = schema
  for (let depth = 0; depth < 100_000; depth += 1) deep = { properties: { deep } }
  t.same(paramHeaders(deep), [])
})

t.test('paramHeaderFault: says what is wrong with an annotation, and nothing of a sound one', async (t) => {
  const of = (properties: object, more: object = {}) => paramHeaderFault({ properties, ...more })
  const region = { type: 'string', 'x-mcp-header': 'Region' }
  t.equal(paramHeaderFault(schema), undefined)
  t.equal(paramHeaderFault(undefined), undefined)
  t.equal(of({ 'x-mcp-header': { type: 'string' } }), undefined, 'an argument may have that name')
  t.match(of({ region: { ...region, 'x-mcp-header': 'two words' } }), /region is not the name of a header/)
  t.match(of({ region: { ...region, 'x-mcp-header': '' } }), /not the name/)
  t.match(of({ region: { ...region, type: 'number' } }), /not a string, integer or boolean/)
  t.match(of({ a: region, b: { type: 'string', 'x-mcp-header': 'REGION' } }), /of b is used twice/)
  t.match(of({ list: { type: 'array', items: region } }), /not always found/)
  t.match(of({ region }, { oneOf: [{ properties: { town: region } }] }), /not always found/)
})

t.test('paramFields: texts, whole numbers and truth values, safe in a header', async (t) => {
  const headers = paramHeaders(schema)
  t.same(paramFields(headers, { region: 'eu', count: -7, dry: false, place: { town: 'Zürich' } }), {
    'mcp-param-region': 'eu',
    'mcp-param-count': '-7',
    'mcp-param-dry-run': 'false',
    'mcp-param-town': '=?base64?WsO8cmljaA==?=',
  })
  t.same(paramFields(headers, { region: ' padded ' }), { 'mcp-param-region': '=?base64?IHBhZGRlZCA=?=' })
  t.same(paramFields(headers, { region: null, count: 2 ** 60, dry: {}, place: 'none' }), {})
  t.same(paramFields(headers, undefined), {})
})

const list = { tools: [{ name: 'find', inputSchema: schema }] }
const params = { ...modern, name: 'find', arguments: { region: 'eu\r\nx: y', count: 3 } }
const expected = {
  'mcp-param-region': `=?base64?${Buffer.from('eu\r\nx: y').toString('base64')}?=`,
  'mcp-param-count': '3',
}

verifies('bridge:relay:param-headers', async (t) => {
  const backend = await startBackend(t)
  backend.on('tools/list', (got) => got.result(list))
  const bridge = startBridge(t, { url: backend.url })
  await bridge.call(1, 'tools/list', modern)
  await bridge.call(2, 'tools/call', params)
  t.match((await backend.saw('tools/call')).headers, expected)
  await bridge.call(3, 'tools/call', { name: 'find', arguments: { count: 3 } })
  const legacy = await backend.saw('tools/call', ({ message }) => message.id === 3)
  t.notOk(Object.keys(legacy.headers).some((name) => name.startsWith('mcp-param-')))
})

verifies(
  'bridge:relay:param-headers',
  'a server that misses headers is asked for its list, page by page, and called once more',
  async (t) => {
    const backend = await startBackend(t)
    const mismatch = { code: -32020, message: 'missing header' }
    backend.on('tools/list', (got) =>
      got.message.params.cursor === undefined
        ? got.result({ tools: [{ name: 'other' }], nextCursor: 'next' })
        : got.result(list),
    )
    const refuseUnless = (isGood: (got: Got) => boolean) => (got: Got) =>
      isGood(got)
        ? got.result({ ok: true })
        : got.json({ jsonrpc: '2.0', id: got.message.id, error: mismatch }, { status: 400 })
    backend.on(
      'tools/call',
      refuseUnless(({ headers }) => headers['mcp-param-count'] === '3'),
    )
    const bridge = startBridge(t, { url: backend.url })
    t.match(await bridge.call(1, 'tools/call', params), { result: { ok: true } })
    const lists = backend.got.all.filter(({ message }) => message.method === 'tools/list')
    t.equal(lists.length, 2)
    t.match(lists[0]?.headers, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' })
    backend.on(
      'tools/call',
      refuseUnless(() => false),
    )
    t.match(await bridge.call(2, 'tools/call', params), { error: mismatch }, 'once, not for ever')
    t.equal(bridge.lines.length, 2, 'the client sees nothing of the list')
  },
)
