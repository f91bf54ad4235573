import { Readable } from 'node:stream'
import { defineApp } from '@causeway/app-kit'
import t from 'tap'
import { request } from 'undici'
import { z } from 'zod'
import { verifies } from '../../../test/verifies.ts'
import { LatestPictures } from '../../src/http/rest/pictures.ts'
import { openWire, type Sending, toolCall, until } from './open-wire.ts'

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

t.test('every reference in the OpenAPI document exists', async (t) => {
  const node = z.object({
    get next() {
      return node.optional()
    },
  })
  const linked = defineApp(
    { name: 'Linked', about: 'Has recursive schemas.', open: () => ({}), session: () => ({}) },
    (app) => {
      app.tool('follow', {
        about: 'Return the list.',
        input: { list: node.describe('list') },
        output: { list: node },
        example: { args: { list: {} } },
        run: (args) => args,
      })
    },
  )
  const { send } = await openWire(t, { apps: [linked] })
  const document = (await send(undefined, { ...get, path: '/openapi.json' })).json
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
    ([, path = '']) => path,
  )
  t.ok(references.filter((path) => path.includes('~1linked~1')).length >= 2)
  for (const path of new Set(references)) {
    const keys = path.split('/').map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    t.ok(keys.reduce((value, key) => value?.[key], document) !== undefined, path)
  }
})

t.test('OpenAPI paths without variables respond to their documented examples', async (t) => {
  const { send } = await openWire(t)
  const { paths } = (await send(undefined, { ...get, path: '/openapi.json' })).json
  for (const [path, operations] of Object.entries<Record<string, { requestBody?: unknown }>>(paths))
    for (const [method, { requestBody }] of Object.entries(operations)) {
      if (path.includes('{') || /work|wait|drip|break|events$/.test(path)) continue
      const body = requestBody as { content: { 'application/json': { example: object } } } | undefined
      const response = await send(body?.content['application/json'].example, {
        path,
        method: method.toUpperCase() as 'GET',
      })
      const expected = path.endsWith('/tools/fail') ? 409 : method === 'delete' ? 204 : 200
      t.equal(response.status, expected, `${method} ${path}`)
    }
})

verifies('wire:rest:call', async (t) => {
  const { send } = await openWire(t)
  const call = (tool: string, args?: object, headers = {}) =>
    send(args, { path: `/api/apps/demo/tools/${tool}`, headers })
  t.match(await call('echo', { text: 'hi', times: 2 }), { status: 200, json: { text: 'hihi' } })
  t.match(await call('demo.echo', { text: 'hi' }), { status: 200, json: { text: 'hi' } }, 'accepts an alias')
  t.match(await call('count', {}, { 'causeway-session': 'mine' }), { json: { count: 1, shared: false } })
  t.match(await call('count'), { json: { count: 1, shared: true } }, 'accepts a call without a body')
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

verifies('wire:rest:picture', async (t) => {
  const { send, http } = await openWire(t)
  const path = '/api/apps/demo/tools/picture'
  const { json } = await send({}, { path })
  t.equal(json.value, null)
  t.match(json.picture_url, /^\/api\/apps\/demo\/pictures\/[0-9a-f-]{36}$/)
  const read = async (url: string, options: Parameters<typeof request>[1] = {}) => {
    const { statusCode, headers, body } = await request(`${http.url}${url}`, options)
    return { status: statusCode, headers, bytes: Buffer.from(await body.arrayBuffer()) }
  }
  const png = { status: 200, headers: { 'content-type': 'image/png' }, bytes: Buffer.from('AAAA', 'base64') }
  t.match(await read(json.picture_url), png)
  t.match(await send(undefined, { ...get, path: '/api/apps/demo/pictures/none' }), {
    status: 404,
    json: { code: 'RESOURCE_NOT_FOUND' },
  })
  t.equal((await read(json.picture_url.replace('demo', 'wire'))).status, 404, 'of another app')
  const call = (accept: string) => read(path, { method: 'POST', headers: { accept } })
  for (const accept of ['image/png', 'image/*', 'application/json;q=0.5, image/png;q=0.9']) {
    const found = await call(accept)
    t.match(found, png, accept)
    t.match(await read(String(found.headers['content-location'])), png)
  }
  for (const accept of ['*/*', 'application/json', 'application/json, image/png;q=0.1', 'image/png;q=0'])
    t.match((await call(accept)).headers['content-type'], /^application\/json/, accept)
  const plain = await send(
    { text: 'hi' },
    { path: '/api/apps/demo/tools/echo', headers: { accept: 'image/png' } },
  )
  t.match(plain, { status: 200, json: { text: 'hi' } }, 'a tool without a picture returns JSON')
})

t.test('LatestPictures removes the oldest pictures beyond its size', async (t) => {
  const pictures = new LatestPictures({ bytes: 10 })
  const find = (path: string) => pictures.find('demo', path.split('/').at(-1) ?? '')
  const add = (bytes: number) => pictures.add('demo', { mimeType: 'image/png', bytes: Buffer.alloc(bytes) })
  const [first, second] = [add(4), add(4)]
  t.ok(find(first))
  const third = add(4)
  t.notOk(find(first))
  t.ok(find(second) && find(third))
  t.ok(find(add(20)), 'a larger picture is stored alone')
  t.notOk(find(third))
})

t.test('disconnecting aborts a tool call', async (t) => {
  const { send, wire } = await openWire(t)
  const hangUp = new AbortController()
  const call = send({ steps: 0 }, { path: '/api/apps/wire/tools/work', signal: hangUp.signal })
  await until(() => wire.begun.length === 1)
  hangUp.abort()
  await t.rejects(call)
  await until(() => wire.begun[0]?.aborted === true)
})

t.test('an app route streams the request and the response', async (t) => {
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
  t.equal(String((await chunks.next()).value), 'a/b:first', 'responds while the upload is open')
  upload.push('second')
  t.equal(String((await chunks.next()).value), 'a/b:second')
  upload.push(null)
  t.ok((await chunks.next()).done)
})

t.test('an app route rejects a body over the limit, chunked or not, unless it streams', async (t) => {
  const { http } = await openWire(t, { bodyLimitBytes: 1024 })
  const long = 'x'.repeat(1025)
  const post = async (path: string, body: string | Readable, method: 'POST' | 'PUT' = 'POST') => {
    const headers = { 'content-type': 'application/json' }
    const response = await request(`${http.url}${path}`, { method, headers, body })
    return { status: response.statusCode, text: await response.body.text() }
  }
  for (const body of [long, Readable.from([long])]) {
    const { status, text } = await post('/api/apps/demo/notes/1', body)
    t.equal(status, 413)
    t.match(JSON.parse(text), { code: 'BODY_TOO_LARGE', data: { limit_bytes: 1024 } })
  }
  t.match(await post('/api/apps/demo/notes/1', long.slice(1)), { status: 200, text: long.slice(1) })
  t.match(await post('/api/apps/wire/lines/a', long, 'PUT'), { status: 200, text: `a:${long}` })
})

t.test('disconnecting aborts the context of an app route', async (t) => {
  const { http, wire } = await openWire(t)
  const hangUp = new AbortController()
  const { body } = await request(`${http.url}/api/apps/wire/drip`, { signal: hangUp.signal })
  const chunks = body[Symbol.asyncIterator]()
  t.equal(String((await chunks.next()).value), 'drop\n')
  hangUp.abort()
  await t.rejects(chunks.next())
  await until(() => wire.begun[0]?.aborted === true)
})

t.test('an error while a response streams closes the connection and is logged', async (t) => {
  const { send, logged } = await openWire(t)
  await t.rejects(send(undefined, { ...get, path: '/api/apps/wire/break' }))
  await until(() => logged.lines.some(({ level }) => level === 50))
  t.match(
    logged.lines.find(({ level }) => level === 50),
    { app: 'Wire', code: 'INTERNAL', err: { stack: /home.user/ } },
  )
  t.match(await send(undefined, { ...get, path: '/health' }), { status: 200 })
})

verifies('wire:error:route-types', async (t) => {
  const { send } = await openWire(t)
  const notes = '/api/apps/demo/notes/7'
  const lines = { path: '/api/apps/wire/lines/a', method: 'PUT' } as const
  const post = (type: string | undefined, options: Sending = { path: notes }) =>
    // undici does not add a content type to bytes.
    send(Buffer.from('{}'), { ...options, headers: { ...options.headers, 'content-type': type as string } })
  for (const type of [...simpleTypes, 'application/xml', undefined]) {
    t.match(await post(type), {
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
  'a route may accept bodies without a type from programs, but not from pages',
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
  const post = (path: string, encoding: string) =>
    send('{}', { path, headers: { 'content-encoding': encoding } })
  for (const path of ['/mcp', '/messages', '/api/apps/demo/tools/count', '/api/apps/demo/notes/1'])
    for (const encoding of ['gzip', 'br', 'identity, gzip']) {
      const { status, headers, text } = await post(path, encoding)
      t.equal(status, 415, `${path} ${encoding}`)
      t.equal(headers['accept-encoding'], 'identity')
      t.match(text, /"supported":\["identity"\]/)
    }
  t.equal((await post('/api/apps/demo/notes/1', 'Identity')).status, 200)
})

t.test('an unknown app route gets status 404, and a JSON body reaches the app unparsed', async (t) => {
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

t.test('refresh reports whether a list changed', async (t) => {
  const { send, demo } = await openWire(t)
  const refresh = () => send(undefined, { path: '/api/registry/refresh' })
  t.match((await refresh()).json, { changed: false })
  const { foundTool } = await import('../demo-app.ts')
  demo.discovered = [foundTool('late')]
  t.match((await refresh()).json, { changed: true, hash: /./ })
})

verifies('server:health', 'GET /health returns the status of the server and its apps', async (t) => {
  const { send } = await openWire(t)
  t.match(await send(undefined, { ...get, path: '/health' }), {
    status: 200,
    json: { status: 'ok', pid: process.pid, apps: { Demo: {}, Wire: {} } },
  })
})

verifies('server:metrics', 'GET /metrics returns metrics in the Prometheus format', async (t) => {
  const { send } = await openWire(t)
  await send(toolCall('Demo__echo', { text: 'x' }))
  const { headers, text } = await send(undefined, { ...get, path: '/metrics' })
  t.match(headers['content-type'], /^text\/plain; version=/)
  t.match(text, /causeway_.*Demo/)
})
