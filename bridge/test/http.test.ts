import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { createMessageFields, encodeFieldValue } from '../src/http/headers.ts'
import { createParamFields, findParamHeaderFault, parseParamHeaders } from '../src/http/param-headers.ts'
import { findProxy } from '../src/http/proxy.ts'
import { readTarget, resolveTarget } from '../src/http/target.ts'
import { Identity } from '../src/session/identity.ts'
import { isOlder, ServerInfo } from '../src/session/server-info.ts'
import { type ClientMessage, readLine } from '../src/stdio/message.ts'
import { type Got, handshake, startBackend } from './backend.ts'
import { modern, startBridge } from './client.ts'

t.setTimeout(300_000)

function read(message: object): ClientMessage {
  const [line] = readLine(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message })))
  if (line?.type !== 'message') throw new Error('not a message')
  return line.message
}

const mark = { id: 's1', version: '2025-06-18' }
const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
const forms = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

verifies(
  'bridge:relay:protocol-version',
  'createMessageFields adds the session to a legacy message',
  async (t) => {
    t.same(createMessageFields(read({ id: 1, method: 'tools/list' }), mark), {
      ...forms,
      'mcp-session-id': 's1',
      'mcp-protocol-version': '2025-06-18',
    })
    t.same(
      createMessageFields(read({ id: 1, method: 'initialize' }), mark),
      forms,
      'initialize has no session',
    )
  },
)

verifies(
  'bridge:relay:protocol-version',
  'createMessageFields copies members of a stateless message and adds no session',
  async (t) => {
    const fields = (method: string, params: object) =>
      createMessageFields(read({ id: 1, method, params: { ...params, _meta } }), mark)
    const common = { ...forms, 'mcp-protocol-version': '2026-07-28' }
    t.same(fields('tools/list', {}), { ...common, 'mcp-method': 'tools/list' })
    const named = [
      ['tools/call', 'name'],
      ['prompts/get', 'name'],
      ['resources/read', 'uri'],
      ['tasks/get', 'taskId'],
    ] as const
    for (const [method, source] of named)
      t.same(fields(method, { [source]: 'x' }), { ...common, 'mcp-method': method, 'mcp-name': 'x' })
    t.same(fields('tools/call', { name: 5 }), { ...common, 'mcp-method': 'tools/call' }, 'not a text')
    t.same(fields('toString', { name: 'x' }), { ...common, 'mcp-method': 'toString' })
  },
)

t.test('encodeFieldValue encodes text that is not valid in a header as Base64 of its UTF-8', async (t) => {
  for (const safe of ['Replay__get_frame', 'a b', 'file:///a%20b', '=?base64?', 'x'])
    t.equal(encodeFieldValue(safe), safe)
  for (const unsafe of ['é', '', ' a', 'a ', 'a\nb', '\0', '😀', '=?base64?eA==?=', '\u007f']) {
    const value = encodeFieldValue(unsafe)
    t.match(value, /^=\?base64\?[A-Za-z0-9+/=]*\?=$/)
    t.equal(Buffer.from(value.slice(9, -2), 'base64').toString(), unsafe)
  }
})

t.test('Identity distinguishes two calls with the same id', async (t) => {
  const identity = new Identity('me', 'r1')
  t.not(identity.call(1, undefined)['causeway-request'], identity.call(1, undefined)['causeway-request'])
  for (const id of ['a b', 'é\n', '', 'x'.repeat(65)])
    t.match(
      identity.call(id, undefined)['causeway-request'],
      /^me\.r1-\d+$/,
      'an id that is not valid in a header is omitted',
    )
  t.not(
    new Identity('me', 'r1').call(1, undefined)['causeway-request'],
    new Identity('me', 'r2').call(1, undefined)['causeway-request'],
    'two processes with the same session have different request ids',
  )
})

t.test('Identity uses a valid traceparent of the message, or creates a new one', async (t) => {
  const identity = new Identity('me', 'r1')
  const given = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  t.equal(identity.call(1, given).traceparent, given)
  const made = [undefined, 'nonsense', 7].map((odd) => String(identity.call(1, odd).traceparent))
  for (const one of made) t.match(one, /^00-[\da-f]{32}-[\da-f]{16}-01$/)
  t.equal(new Set(made).size, 3)
})

verifies(
  'bridge:http-status',
  'the error for an HTTP status includes up to 2 KiB of the body and a remedy',
  async (t) => {
    const backend = await startBackend(t)
    backend.on('ping', (got) =>
      got.status(got.message.id, `€${'x'.repeat(5000)}`, { 'content-type': 'text/plain' }),
    )
    const bridge = startBridge(t, { url: backend.url, args: ['--wait', '0'] })
    const remedies = new Set<string>()
    for (const [status, number, code] of [
      [400, -32600, 'INVALID_REQUEST'],
      [406, -32603, 'SERVER_ANSWER_INVALID'],
      [408, -32603, 'DEADLINE_EXCEEDED'],
      [415, -32603, 'SERVER_ANSWER_INVALID'],
    ] as const) {
      const { error } = await bridge.call(status, 'ping')
      t.match(error.data, { code, data: { http_status: status } })
      if (status === 400) t.equal(error.code, number)
      t.match(error.data.data.body, /^€x+$/)
      t.equal(Buffer.byteLength(error.data.data.body), 2048)
      t.notMatch(error.data.remedy, 'MCP_SERVER_URL')
      remedies.add(error.data.remedy)
    }
    t.equal(remedies.size, 3)
  },
)

verifies('bridge:http-status', 'follows one redirect to the same origin', async (t) => {
  const backend = await startBackend(t)
  const move = (to: (got: Got) => string) => (got: Got) =>
    got.path === '/mcp' || got.message.params.endless
      ? got.status(307, 'moved', { location: to(got) })
      : got.result({ at: got.path, params: got.message.params })
  backend.on(
    'ping',
    move(() => '/mcp/'),
  )
  const bridge = startBridge(t, { url: backend.url })
  t.same((await bridge.call(1, 'ping', { a: 1 })).result, { at: '/mcp/', params: { a: 1 } })
  const location = backend.url.replace(/$/, '/')
  t.match((await bridge.call(2, 'ping', { endless: true })).error.data, {
    data: { http_status: 307, location },
    remedy: location,
  })
  t.equal(backend.got.all.length, 4)

  backend.on(
    'ping',
    move(() => 'http://127.0.0.1:1/mcp'),
  )
  const refused = await bridge.call(3, 'ping')
  t.match(refused.error.data, { data: { http_status: 307, location: 'http://127.0.0.1:1/mcp' } })
  t.equal(backend.got.all.length, 5, 'another origin is named, not asked')
})

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

t.test('parseParamHeaders finds annotated properties at any depth with valid names', async (t) => {
  t.same(parseParamHeaders(schema), [
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
  for (const property of refused) t.same(parseParamHeaders({ properties: { property } }), [])
  for (const nothing of [undefined, null, 'text', { properties: null }, { items: schema }])
    t.same(parseParamHeaders(nothing), [])
})

t.test('parseParamHeaders accepts a schema of any depth', async (t) => {
  let deep: object = schema
  for (let depth = 0; depth < 100_000; depth += 1) deep = { properties: { deep } }
  t.same(parseParamHeaders(deep), [])
})

t.test('findParamHeaderFault explains an invalid annotation and accepts a valid one', async (t) => {
  const of = (properties: object, more: object = {}) => findParamHeaderFault({ properties, ...more })
  const region = { type: 'string', 'x-mcp-header': 'Region' }
  t.equal(findParamHeaderFault(schema), undefined)
  t.equal(findParamHeaderFault(undefined), undefined)
  t.equal(of({ 'x-mcp-header': { type: 'string' } }), undefined, 'an argument may have that name')
  t.match(of({ region: { ...region, 'x-mcp-header': 'two words' } }), /region is not the name of a header/)
  t.match(of({ region: { ...region, 'x-mcp-header': '' } }), /not the name/)
  t.match(of({ region: { ...region, type: 'number' } }), /not a string, integer or boolean/)
  t.match(of({ a: region, b: { type: 'string', 'x-mcp-header': 'REGION' } }), /of b is used twice/)
  t.match(of({ list: { type: 'array', items: region } }), /without a fixed path/)
  t.match(of({ region }, { oneOf: [{ properties: { town: region } }] }), /without a fixed path/)
})

t.test('createParamFields encodes strings, integers and booleans', async (t) => {
  const headers = parseParamHeaders(schema)
  t.same(createParamFields(headers, { region: 'eu', count: -7, dry: false, place: { town: 'Zürich' } }), {
    'mcp-param-region': 'eu',
    'mcp-param-count': '-7',
    'mcp-param-dry-run': 'false',
    'mcp-param-town': '=?base64?WsO8cmljaA==?=',
  })
  t.same(createParamFields(headers, { region: ' padded ' }), {
    'mcp-param-region': '=?base64?IHBhZGRlZCA=?=',
  })
  t.same(createParamFields(headers, { region: null, count: 2 ** 60, dry: {}, place: 'none' }), {})
  t.same(createParamFields(headers, undefined), {})
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
  'lists the tools and repeats the call once if the server rejects missing headers',
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

const used = (origin: string, env: NodeJS.ProcessEnv): boolean =>
  findProxy(origin, 'env', { https_proxy: 'http://s:1', HTTP_PROXY: 'http://p:1', ...env }) !== undefined

t.test('findProxy reads the variable for the scheme of the server', async (t) => {
  t.equal(findProxy('https://a', 'env', { HTTPS_PROXY: 'http://s:1' })?.host, 's:1')
  t.equal(findProxy('http://a', 'env', { http_proxy: 'http://p:1', HTTPS_PROXY: 'http://s:1' })?.host, 'p:1')
  t.equal(findProxy('http://a', 'env', { HTTPS_PROXY: 'http://s:1' }), undefined)
  t.equal(findProxy('http://a', 'http://set:1', { http_proxy: 'http://p:1' })?.host, 'set:1')
})

t.test('findProxy returns undefined for hosts, subdomains and ports in NO_PROXY', async (t) => {
  for (const entry of ['a.org', '.a.org', '*.a.org', '*', 'x, A.ORG', 'a.org:443'])
    t.notOk(used('https://b.a.org', { no_proxy: entry }), entry)
  for (const entry of ['', 'ba.org', 'org.', 'b.a', 'a.org:80', ' , '])
    t.ok(used('https://b.a.org', { NO_PROXY: entry }), entry)
})

t.test('findProxy rejects a URL that is not HTTP and omits it from the message', async (t) => {
  t.throws(() => findProxy('http://a', 'socks5://u:hidden@h', {}), {
    code: 'INVALID_SETTING',
    message: /^((?!hidden).)*$/,
  })
})

t.test('isOlder compares version numbers and returns false for malformed versions', async (t) => {
  for (const [version, than] of [
    ['0.1.9', '0.1.10'],
    ['0.9.0', '1.0.0'],
    ['1.2.3-beta', '1.2.4'],
  ] as const) {
    t.ok(isOlder(version, than), `${version} < ${than}`)
    t.notOk(isOlder(than, version))
  }
  for (const [version, than] of [
    ['1.2.3', '1.2.3'],
    ['undefined', '1.0.0'],
    ['1', '2.0.0'],
  ] as const)
    t.notOk(isOlder(version, than), version)
})

t.test(
  'ServerInfo warns of an old version and enables deduplication only for a Causeway server',
  async (t) => {
    const warnings: string[] = []
    const server = new ServerInfo('2.0.0', (line) => warnings.push(line))
    for (const result of [undefined, {}, { serverInfo: { name: 'other', version: '1.0.0' } }])
      server.update(result)
    t.equal(server.deduplicatesCalls, false)
    server.update({ serverInfo: { name: 'causeway', version: '1.0.0' } })
    server.update({ serverInfo: { name: 'causeway', version: '1.0.0' } })
    t.equal(server.deduplicatesCalls, true)
    t.equal(warnings.length, 1)
  },
)

verifies('bridge:old-server', async (t) => {
  const backend = await startBackend(t)
  const serverInfo = { name: 'causeway', version: '0.0.1' }
  backend.on('initialize', (got) => got.result({ ...handshake, serverInfo }, { 'mcp-session-id': 's1' }))
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  await bridge.call('again', 'initialize', { protocolVersion: '2025-11-25' })
  bridge.end()
  await bridge.exited
  t.equal(bridge.stderr.match(/the server is version 0\.0\.1, this bridge is /g)?.length, 1)
  t.match(bridge.stderr, 'restart the server')
})

verifies('bridge:setting:app', 'readTarget appends the path of an app', async (t) => {
  t.equal(String(readTarget(undefined, { app: 'Replay' })), 'http://localhost:3100/mcp/replay')
  t.equal(String(readTarget('https://a/x/mcp?k=1', { app: 'replay' })), 'https://a/x/mcp/replay?k=1')
  t.equal(String(readTarget('unix:/run/c.sock:/mcp', { app: 'replay' })), 'unix:/run/c.sock:/mcp/replay')
  for (const [url, app] of [
    ['http://a/sse', 'replay'],
    ['http://a/mcp', 're/play'],
    ['http://a/mcp', '..'],
  ])
    t.throws(() => readTarget(url, { app }), { code: 'INVALID_SETTING' })
})

verifies('bridge:socket', 'resolveTarget separates the socket from the path', async (t) => {
  t.same(resolveTarget(readTarget('unix:/run/a b/c:1.sock:/mcp?x=1')), {
    origin: 'http://localhost',
    path: '/mcp?x=1',
    socketPath: '/run/a b/c:1.sock',
  })
  t.same(resolveTarget(readTarget('http://h:1/mcp?x=1')), {
    origin: 'http://h:1',
    path: '/mcp?x=1',
    socketPath: undefined,
  })
  for (const url of ['unix:/run/c.sock', 'unix:c.sock:/mcp', 'unix:/run/c.sock:', 'unix://host/c.sock'])
    t.throws(() => readTarget(url), { code: 'INVALID_SETTING' }, url)
})

t.test('on Windows a socket URL names a pipe', async (t) => {
  const url = readTarget('unix://./pipe/causeway:/mcp', { app: 'replay', platform: 'win32' })
  t.match(resolveTarget(url, 'win32'), { path: '/mcp/replay', socketPath: '\\\\.\\pipe\\causeway' })
  for (const text of ['unix:/run/c.sock:/mcp', 'unix://server/pipe/a:/mcp'])
    t.throws(() => readTarget(text, { platform: 'win32' }), {
      code: 'INVALID_SETTING',
      remedy: 'write it as unix://./pipe/name:/mcp',
    })
  t.throws(() => readTarget('unix://./pipe/causeway:/mcp', { platform: 'linux' }), {
    code: 'INVALID_SETTING',
  })
})

t.test('readTarget rejects --app if the URL already selects an app', async (t) => {
  t.throws(() => readTarget('http://a/mcp/replay', { app: 'help' }), { code: 'INVALID_SETTING' })
})
