import { Readable } from 'node:stream'
import { legacyVersions } from '@causeway/protocol'
import t from 'tap'
import { request } from 'undici'
import { verifies } from '../../../test/verifies.ts'
import { foundTool } from '../demo-app.ts'
import { both, modern, openWire, rpc, type Sending, toolCall, until, type Wire } from './open-wire.ts'
import { throughSdk } from './through-sdk.ts'

/** Plain HTTP: apps and tools, an app's own routes, health, metrics. */

/** The content types that browsers send without a preflight. */
const simpleTypes = ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x']

const get = { method: 'GET' } as const

verifies('wire:rest:list', async (t) => {
  const { send } = await openWire(t)
  const { json } = await send(undefined, { ...get, path: '/api/apps' })
  t.match(
    json.apps.find(({ name }: { name: string }) => name === 'Demo'),
    {
      about: 'Shows every kind of declaration.',
      href: '/api/apps/demo',
      tools: [{ name: 'echo', about: 'Gives back what it was given.' }],
    },
  )
  t.match((await send(undefined, { ...get, path: '/api/apps/demo' })).json, {
    name: 'Demo',
    mcp: '/mcp/demo',
    tools: [{ name: 'echo', href: '/api/apps/demo/tools/echo', input_schema: { required: ['text'] } }],
    routes: [{ method: 'POST', href: '/api/apps/demo/notes/{id}' }],
  })
  t.match(await send(undefined, { ...get, path: '/api/apps/nothing' }), {
    status: 404,
    json: { code: 'ROUTE_NOT_FOUND', data: { apps: ['causeway', 'demo', 'wire'] } },
  })
  const document = (await send(undefined, { ...get, path: '/openapi.json' })).json
  t.match(document, {
    openapi: /^3\.1/,
    paths: {
      '/api/apps/demo/tools/echo': {
        post: {
          operationId: 'Demo__echo',
          requestBody: { content: { 'application/json': { example: { text: 'hello' } } } },
        },
      },
      '/api/apps/demo/notes/{id}': { post: { parameters: [{}, { name: 'id', in: 'path' }] } },
    },
  })
})

t.test(
  'openapi: every path and method of the document is served, and none needs more than it says',
  async (t) => {
    const { send } = await openWire(t)
    const { paths } = (await send(undefined, { ...get, path: '/openapi.json' })).json
    for (const [path, operations] of Object.entries<Record<string, { requestBody?: unknown }>>(paths))
      for (const [method, { requestBody }] of Object.entries(operations)) {
        if (path.includes('{') || /work|wait|drip|break/.test(path)) continue
        const body = requestBody as { content: { 'application/json': { example: object } } } | undefined
        const answer = await send(body?.content['application/json'].example, {
          path,
          method: method.toUpperCase() as 'GET',
        })
        const isKnownFailure = path.endsWith('/tools/fail')
        t.equal(answer.status, isKnownFailure ? 409 : 200, `${method} ${path}`)
      }
  },
)

verifies('wire:rest:call', async (t) => {
  const { send } = await openWire(t)
  const call = (tool: string, args?: object, headers = {}) =>
    send(args, { path: `/api/apps/demo/tools/${tool}`, headers })
  t.match(await call('echo', { text: 'hi', times: 2 }), { status: 200, json: { text: 'hihi' } })
  t.match(await call('demo.echo', { text: 'hi' }), { status: 200, json: { text: 'hi' } }, 'by alias')
  t.match(await call('count', {}, { 'causeway-session': 'mine' }), { json: { count: 1, shared: false } })
  t.match(await call('count'), { json: { count: 1, shared: true } }, 'without a body')
  t.match(await call('fail', { code: 'NO_RECORDING' }), {
    status: 409,
    json: {
      code: 'NO_RECORDING',
      legacy_code: -32000,
      remedy: 'call load_recording first',
      data: { hint: 1 },
    },
  })
  t.match(await call('echo', { txt: 'hi' }), { status: 400, json: { code: 'INVALID_ARGUMENTS' } })
  t.match(await call('fail', { code: 'accident' }), { status: 500, json: { code: 'INTERNAL' } })
  t.match(await call('nothing', {}), { status: 404, json: { code: 'UNKNOWN_TOOL' } })
})

t.test('rest: hanging up aborts the handler', async (t) => {
  const { send, wire } = await openWire(t)
  const hangUp = new AbortController()
  const call = send({ steps: 0 }, { path: '/api/apps/wire/tools/work', signal: hangUp.signal })
  await until(() => wire.begun.length === 1)
  hangUp.abort()
  await t.rejects(call)
  await until(() => wire.begun[0]?.aborted === true)
})

t.test('app route: bodies stream both ways', async (t) => {
  const { http } = await openWire(t)
  const upload = new Readable({ read() {} })
  upload.push('first')
  const { statusCode, headers, body } = await request(`${http.url}/api/apps/wire/lines/a%2Fb`, {
    method: 'PUT',
    headers: { 'content-type': 'application/x-ndjson' },
    body: upload,
  })
  t.equal(statusCode, 200)
  t.equal(headers['content-type'], 'application/x-ndjson')
  const chunks = body[Symbol.asyncIterator]()
  t.equal(String((await chunks.next()).value), 'a/b:first', 'answered while the upload is open')
  upload.push('second')
  t.equal(String((await chunks.next()).value), 'a/b:second')
  upload.push(null)
  t.ok((await chunks.next()).done)
})

t.test(
  'app route: a body beyond the limit is refused however it comes, unless the route streams it',
  async (t) => {
    const { http } = await openWire(t, { bodyLimitBytes: 1024 })
    const long = 'x'.repeat(1025)
    const post = async (path: string, body: string | Readable, method: 'POST' | 'PUT' = 'POST') => {
      const headers = { 'content-type': 'application/json' }
      const answer = await request(`${http.url}${path}`, { method, headers, body })
      return { status: answer.statusCode, text: await answer.body.text() }
    }
    for (const body of [long, Readable.from([long])]) {
      const { status, text } = await post('/api/apps/demo/notes/1', body)
      t.equal(status, 413)
      t.match(JSON.parse(text), { code: 'BODY_TOO_LARGE', data: { limit_bytes: 1024 } })
    }
    t.match(await post('/api/apps/demo/notes/1', long.slice(1)), { status: 200, text: long.slice(1) })
    t.match(await post('/api/apps/wire/lines/a', long, 'PUT'), { status: 200, text: `a:${long}` })
  },
)

t.test('app route: hanging up aborts the context', async (t) => {
  const { http, wire } = await openWire(t)
  const hangUp = new AbortController()
  const { body } = await request(`${http.url}/api/apps/wire/drip`, { signal: hangUp.signal })
  const chunks = body[Symbol.asyncIterator]()
  t.equal(String((await chunks.next()).value), 'drop\n')
  hangUp.abort()
  await t.rejects(chunks.next())
  await until(() => wire.begun[0]?.aborted === true)
})

t.test('app route: one that breaks in the middle cuts the connection and is logged', async (t) => {
  const { send, logged } = await openWire(t)
  await t.rejects(send(undefined, { ...get, path: '/api/apps/wire/break' }))
  await until(() => logged.lines.some(({ level }) => level === 50))
  t.match(
    logged.lines.find(({ level }) => level === 50),
    { app: 'Wire', code: 'INTERNAL', err: { stack: /somebody/ } },
  )
  t.match(await send(undefined, { ...get, path: '/health' }), { status: 200 })
})

verifies('wire:error:route-types', async (t) => {
  const { send } = await openWire(t)
  const notes = '/api/apps/demo/notes/7'
  const lines = { path: '/api/apps/wire/lines/a', method: 'PUT' } as const
  const post = (type: string | undefined, sending: Sending = { path: notes }) =>
    // Bytes without a type: undici adds none.
    send(Buffer.from('{}'), { ...sending, headers: { ...sending.headers, 'content-type': type as string } })
  for (const type of [...simpleTypes, 'application/xml', undefined]) {
    const refused = await post(type)
    t.match(refused, {
      status: 415,
      headers: { accept: 'application/json' },
      json: {
        code: 'UNSUPPORTED_MEDIA_TYPE',
        message: /accepted: application\/json$/,
        remedy: 'send Content-Type: application/json',
        data: { accepted: ['application/json'] },
      },
    })
  }
  t.equal((await post('Application/JSON; charset=utf-8')).status, 200)
  for (const type of simpleTypes.slice(1)) t.equal((await post(type, lines)).status, 415, type)
  t.match((await post('text/plain', lines)).json, {
    data: { accepted: ['application/x-ndjson', 'application/json'] },
  })
  const { paths } = (await send(undefined, { ...get, path: '/openapi.json' })).json
  t.same(Object.keys(paths['/api/apps/wire/lines/{name}'].put.requestBody.content), [
    'application/x-ndjson',
    'application/json',
  ])
  t.notOk('requestBody' in paths['/api/apps/wire/drip'].get)
})

verifies(
  'wire:error:route-types',
  'a route may accept untyped bodies of programs, not of pages',
  async (t) => {
    const { http, send } = await openWire(t)
    const own = `http://127.0.0.1:${http.port}`
    const put = (headers: Record<string, string | undefined>) =>
      send(Buffer.from('x'), {
        path: '/api/apps/wire/lines/a',
        method: 'PUT',
        headers: headers as Record<string, string>,
      })
    for (const type of [undefined, 'application/x-www-form-urlencoded']) {
      t.equal((await put({ 'content-type': type })).status, 200, `program: ${type}`)
      t.equal((await put({ 'content-type': type, origin: own })).status, 415, `page: ${type}`)
      t.equal((await put({ 'content-type': type, 'sec-fetch-site': 'same-origin' })).status, 415)
    }
  },
)

verifies('wire:error:content-encoding', async (t) => {
  const { send } = await openWire(t)
  const refused = (path: string, encoding: string) =>
    send('{}', { path, headers: { 'content-encoding': encoding } })
  for (const path of ['/mcp', '/messages', '/api/apps/demo/tools/count', '/api/apps/demo/notes/1'])
    for (const encoding of ['gzip', 'br', 'identity, gzip']) {
      const { status, headers, text } = await refused(path, encoding)
      t.equal(status, 415, `${path} ${encoding}`)
      t.equal(headers['accept-encoding'], 'identity')
      t.match(text, /"supported":\["identity"\]/)
    }
  t.equal((await refused('/api/apps/demo/notes/1', 'Identity')).status, 200)
})

t.test('app route: an unknown one is 404, a JSON body reaches the app unparsed', async (t) => {
  const { send } = await openWire(t)
  t.match(await send('{not json', { path: '/api/apps/demo/notes/7' }), {
    status: 200,
    json: { id: '7', body: '{not json' },
  })
  t.match(await send('x', { path: '/api/apps/demo/notes/7/more' }), {
    status: 404,
    json: { code: 'ROUTE_NOT_FOUND', data: { routes: ['POST /notes/{id}'] } },
  })
})

t.test('refresh: tells whether a list changed', async (t) => {
  const { send, demo } = await openWire(t)
  const refresh = () => send(undefined, { path: '/api/registry/refresh' })
  t.match((await refresh()).json, { changed: false })
  const { foundTool } = await import('../demo-app.ts')
  demo.discovered = [foundTool('late')]
  t.match((await refresh()).json, { changed: true, hash: /./ })
})

verifies('server:health', 'over HTTP', async (t) => {
  const { send } = await openWire(t)
  t.match(await send(undefined, { ...get, path: '/health' }), {
    status: 200,
    json: { status: 'ok', pid: process.pid, apps: { Demo: {}, Wire: {} } },
  })
})

verifies('server:metrics', 'over HTTP', async (t) => {
  const { send } = await openWire(t)
  await send(toolCall('Demo__echo', { text: 'x' }))
  const { headers, text } = await send(undefined, { ...get, path: '/metrics' })
  t.match(headers['content-type'], /^text\/plain; version=/)
  t.match(text, /causeway_.*Demo/)
})

/** tools/list: from bytes or through the SDK, the same; paged; announced when it changes. */

const names = (result: { tools: { name: string }[] }): string[] => result.tools.map(({ name }) => name)

async function fromBytes(wire: Wire, path: string, era: 'modern' | 'legacy') {
  if (era === 'modern') {
    const { body, headers } = modern(rpc('tools/list'))
    return (await wire.send(body, { path, headers })).json
  }
  const id = await wire.initialize({ path })
  return (await wire.send(rpc('tools/list'), { path, headers: { ...both, 'mcp-session-id': id } })).json
}

t.test('tools/list: the bytes and the SDK give the same answer, on every mount and page size', async (t) => {
  for (const env of [{}, { CAUSEWAY_PAGE_SIZE: '2' }]) {
    const wire = await openWire(t, { dir: t.testdir({ [`size${env.CAUSEWAY_PAGE_SIZE}`]: {} }), env })
    for (const { path } of wire.core.mounts())
      for (const era of ['modern', 'legacy'] as const)
        t.same(
          await fromBytes(wire, path, era),
          await throughSdk(wire, { path, era, message: rpc('tools/list') }),
          `${path} ${era}`,
        )
  }
})

verifies('wire:list:deterministic', 'every leg lists the same tools, every time', async (t) => {
  const wire = await openWire(t)
  for (const path of ['/mcp', '/mcp/demo']) {
    const lists = [
      (await wire.send(rpc('tools/list'), { path })).json.result.tools,
      (await wire.send(rpc('tools/list'), { path })).json.result.tools,
      (await fromBytes(wire, path, 'modern')).result.tools,
      (await fromBytes(wire, path, 'legacy')).result.tools,
    ]
    for (const list of lists) t.same(list, lists[0])
  }
})

verifies('wire:list:cache-hints', async (t) => {
  const wire = await openWire(t)
  t.match((await fromBytes(wire, '/mcp', 'modern')).result, { ttlMs: 300_000, cacheScope: 'public' })
  t.equal((await fromBytes(wire, '/mcp', 'legacy')).result.ttlMs, undefined)
})

verifies('wire:list:pages', async (t) => {
  const { send } = await openWire(t, { env: { CAUSEWAY_PAGE_SIZE: '4' } })
  const found: string[] = []
  let cursor: string | undefined
  do {
    const { result } = (await send(rpc('tools/list', cursor === undefined ? {} : { cursor }))).json
    t.ok(result.tools.length <= 4)
    found.push(...names(result))
    cursor = result.nextCursor
  } while (cursor !== undefined)
  t.equal(new Set(found).size, found.length)
  t.ok(found.includes('Wire__work') && found.includes('Demo__echo') && found.includes('Causeway__get_health'))
  const { body, headers } = modern(rpc('tools/list', { cursor: 'made-up' }))
  t.match((await send(body, { headers })).json, { error: { code: -32602, data: { code: 'INVALID_CURSOR' } } })
})

verifies('wire:list:changed', async (t) => {
  const wire = await openWire(t)
  const listen = modern(rpc('subscriptions/listen', { notifications: { toolsListChanged: true } }))
  const id = await wire.initialize({ path: '/mcp/demo' })
  const other = await wire.initialize({ path: '/mcp/wire' })
  const open = (path: string, session: string) =>
    wire.stream(undefined, { path, method: 'GET', headers: { 'mcp-session-id': session } })
  const streams = [
    await wire.stream(listen.body, { headers: listen.headers }),
    await wire.stream(listen.body, { path: '/mcp/demo', headers: listen.headers }),
    await open('/mcp/demo', id),
  ]
  const unconcerned = await open('/mcp/wire', other)
  for (const one of streams.slice(0, 2)) await one.messages.next() // acknowledged
  wire.demo.discovered = [foundTool('late')]
  wire.demo.announce('tools')
  for (const one of streams)
    t.match((await one.messages.next()).value, { method: 'notifications/tools/list_changed' })
  t.ok(names((await wire.send(rpc('tools/list'))).json.result).includes('Demo__late'))
  await wire.http.close(1000)
  t.same(await unconcerned.messages.next(), { done: true, value: undefined }, 'another mount heard nothing')
})

verifies('wire:name:full', async (t) => {
  const { send } = await openWire(t)
  t.ok(names((await send(rpc('tools/list'))).json.result).includes('Demo__echo'))
  const call = async (name: string) => (await send(toolCall(name, { text: 'x' }))).json
  t.match(await call('Demo__echo'), { result: { structuredContent: { text: 'x' } } })
  t.match(await call('echo'), { error: { code: -32602, data: { code: 'UNKNOWN_TOOL' } } })
})

verifies('wire:name:bare', async (t) => {
  const { send } = await openWire(t)
  const listed = names((await send(rpc('tools/list'), { path: '/mcp/demo' })).json.result)
  t.ok(listed.includes('demo.echo') && listed.includes('count'))
  t.notOk(listed.some((name) => name.includes('__')))
  const call = async (name: string, path: string) =>
    (await send(toolCall(name, { text: 'x' }), { path })).json
  for (const name of ['echo', 'demo.echo'])
    t.match(await call(name, '/mcp/demo'), { result: { structuredContent: { text: 'x' } } })
  t.match(await call('tell', '/mcp/demo'), { error: { data: { code: 'UNKNOWN_TOOL' } } }, 'of another app')
})

verifies('wire:name:limits', async (t) => {
  const { send } = await openWire(t)
  for (const name of names((await send(rpc('tools/list'))).json.result))
    t.match(name, /^[A-Za-z0-9_-]{1,49}$/)
})

t.test('tools/list: a request that the SDK refuses is refused before the bytes', async (t) => {
  const { send } = await openWire(t)
  const { body, headers } = modern(rpc('tools/list'))
  const { 'mcp-method': _, ...withoutMethod } = headers
  t.match(await send(body, { headers: withoutMethod }), { status: 400, json: { error: { code: -32020 } } })
  t.match(await send(body, { headers: { ...headers, 'mcp-method': 'tools/call' } }), { status: 400 })
  t.match(await send(body, { headers: { ...headers, 'mcp-protocol-version': legacyVersions[0] } }), {
    status: 400,
  })
  const { _meta } = body.params
  const broken = { ...body, params: { _meta: { ..._meta, 'io.modelcontextprotocol/clientCapabilities': 5 } } }
  t.match(await send(broken, { headers }), { status: 400, json: { error: { code: -32602 } } })
})
