import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readAll } from 'node:stream/consumers'
import { identifyProcess } from '@causeway/store'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Test } from 'tap'
import { until } from '../../../test/e2e/condition.ts'
import { verifies } from '../../../test/verifies.ts'
import type { Caller } from '../../src/dispatch/caller.ts'
import type { Core } from '../../src/host/core.ts'
import { openWire } from '../http/open-wire.ts'
import { call, testCaller, toolNames } from '../test-core.ts'
import { fixture, listed, openHostedCore, serve, status } from './hosted-core.ts'

const readText = (result: object): string =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join('')

const dispatch = (core: Core, method: string, params: object, caller: Partial<Caller> = {}) =>
  // biome-ignore lint/suspicious/noExplicitAny: each test expects its own shape
  core.dispatch(method, params as never, testCaller(caller)) as Promise<any>

interface RemoteRequest {
  readonly method: string
  readonly rpc: string
  readonly response: ServerResponse
  answer(result: object): void
}

/** Starts a remote server of MCP 2026-07-28. `handle` returns whether it handled a request. */
async function serveRemote(
  t: Test,
  results: Readonly<Record<string, object>>,
  handle: (request: RemoteRequest) => boolean,
): Promise<string> {
  const remote = createServer(async (request, response) => {
    const { method = '' } = request
    const { id, method: rpc = '' } = JSON.parse((await readAll(request)) || '{}')
    const send = (outcome: object): void => {
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'session' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }))
    }
    if (handle({ method, rpc, response, answer: (result) => send({ result }) })) return
    if (method !== 'POST') return void response.writeHead(405).end()
    if (id === undefined) return void response.writeHead(202).end()
    const result = results[rpc]
    send(result === undefined ? { error: { code: -32601, message: 'unknown' } } : { result })
  }).listen(0, '127.0.0.1')
  await once(remote, 'listening')
  t.teardown(() => {
    remote.close()
    remote.closeAllConnections()
  })
  return `http://127.0.0.1:${(remote.address() as AddressInfo).port}/mcp`
}

verifies('gateway:app', async (t) => {
  const { core } = await openHostedCore(t, { 'my-files': fixture() })
  await listed(core, 'my-files')
  for (const name of ['MyFiles__echo', 'MyFiles__get-env', 'MyFiles__count_calls'])
    t.ok(toolNames(core).includes(name), name)
  t.notOk(toolNames(core).includes('MyFiles__broken'), 'a tool that clients reject is left out')
  const own = toolNames(core, '/mcp/myfiles')
  t.ok(
    own.includes('count.calls') && own.includes('get-env'),
    'the path of the app has the names of the server',
  )
  const result = await call(core, 'MyFiles__echo', { text: 'a' })
  t.same(result, { content: [{ type: 'text', text: 'a' }], 'x-fixture': true }, 'passed on unchanged')
  const bare = await call(core, 'count.calls', {}, { mount: { path: '/mcp/myfiles', app: 'myfiles' } })
  t.match(readText(bare), / 2$/, 'the same process')
  await t.rejects(call(core, 'MyFiles__fail'), { code: 'UPSTREAM_ERROR' })
})

verifies('gateway:errors', async (t) => {
  const { core } = await openHostedCore(t, { files: fixture() })
  await listed(core, 'files')
  const url = await serve(t, core)
  for (const isModern of [false, true]) {
    const client = new Client(
      { name: 'test', version: '1' },
      isModern ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {},
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
    t.teardown(() => client.close())
    const fail = (error: object): Promise<unknown> =>
      client.callTool({ name: 'Files__fail', arguments: { error } }).catch((thrown: unknown) => thrown)
    const data = { reason: 'quota', code: 'E7' }
    t.match(await fail({ code: -32050, message: 'over quota', data }), {
      code: -32050,
      message: 'over quota',
      data,
    })
    t.match(await fail({ code: -32602, message: 'no such path' }), {
      code: -32602,
      message: 'no such path',
      data: { code: 'UPSTREAM_ERROR', data: { server: 'files' } },
    })
    t.match(await fail({ code: -32601, message: 'not here', data: 'as text' }), {
      code: -32601,
      data: 'as text',
    })
    t.match(await fail({ code: -32002, message: 'no such note' }), { code: isModern ? -32602 : -32002 })
    t.match(await fail({ code: -32022, message: 'other version' }), {
      code: -32000,
      data: { code: 'UPSTREAM_ERROR', data: { rpc: { code: -32022 } } },
    })
    const echo = (args: Record<string, unknown>): Promise<unknown> =>
      client.callTool({ name: 'Files__echo', arguments: args })
    t.match(await echo({ text: 'a' }), { content: [{ text: 'a' }] })
    for (const content of [
      'text',
      { type: 'text', text: 'a' },
      [null],
      [{ type: 'text' }],
      [{ type: 'image', data: '' }],
    ])
      t.match(
        await echo({ result: { content } }),
        { isError: true, content: [{ text: /^UPSTREAM_INVALID: files returned a malformed content/ }] },
        JSON.stringify(content),
      )
    t.match(await echo({ result: {} }), { content: [] }, 'older servers may omit it')
    const toMalformed = (value: unknown): string => `malformed:${encodeURIComponent(JSON.stringify(value))}`
    const readError = (answer: Promise<unknown>): Promise<unknown> =>
      answer.catch((thrown: unknown) => thrown)
    const text = { type: 'text', text: 'a' }
    for (const messages of [
      'text',
      [null],
      [{ role: 'system', content: text }],
      [{ role: 'user', content: [text] }],
    ])
      t.match(
        await readError(
          client.getPrompt({ name: 'Files__greet', arguments: { who: toMalformed(messages) } }),
        ),
        { code: -32000, message: /files returned a malformed messages/, data: { code: 'UPSTREAM_INVALID' } },
        JSON.stringify(messages),
      )
    for (const contents of ['text', [null], [{ uri: 'note:///a' }], [{ text: 'a' }]])
      t.match(
        await readError(
          client.readResource({ uri: `causeway-mcp://files/note:///${toMalformed(contents)}` }),
        ),
        { code: -32000, message: /files returned a malformed contents/, data: { code: 'UPSTREAM_INVALID' } },
        JSON.stringify(contents),
      )
  }
})

verifies('gateway:app', 'malformed definitions do not make clients reject a list', async (t) => {
  const { core } = await openHostedCore(t, { bad: fixture(['--malformed']) })
  await listed(core, 'bad')
  const url = new URL(`${await serve(t, core)}/mcp`)
  const client = new Client({ name: 'test', version: '1' })
  const older = new OlderClient({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(url))
  await older.connect(new OlderTransport(url) as Parameters<OlderClient['connect']>[0])
  t.teardown(() => Promise.all([client.close(), older.close()]))
  for (const one of [client, older]) {
    const { tools } = await one.listTools()
    const own = tools.filter(({ name }) => name.startsWith('Bad__'))
    t.match(own, [
      { name: 'Bad__nulls', inputSchema: { type: 'object' } },
      {
        name: 'Bad__types',
        description: '',
        inputSchema: { properties: { any: {}, none: { not: {} } } },
        annotations: { destructiveHint: false },
      },
      { name: 'Bad__reference' },
      { name: 'Bad__pattern' },
      { name: 'Bad__twice', description: 'One.' },
    ])
    t.same(
      own.flatMap(({ outputSchema, icons, title }) => outputSchema ?? icons ?? title ?? []),
      [],
    )
    const { prompts } = await one.listPrompts()
    t.match(
      prompts.filter(({ name }) => name.startsWith('Bad__')),
      [
        { name: 'Bad__nulls', arguments: [] },
        { name: 'Bad__types', arguments: [{ name: 'who' }] },
      ],
    )
    const { resources } = await one.listResources()
    t.match(
      resources.filter(({ uri }) => uri.startsWith('causeway-mcp://bad/')),
      [{ name: 'nulls' }, { name: 'types', annotations: {} }],
    )
    await one.listResourceTemplates()
  }
  t.same(core.hosted.gateway.listPendingChanges('bad'), [], 'a name that is listed twice is not a change')
  t.match(core.hosted.gateway.readOutput('bad').lines, [/templates.list failed: .*cannot be listed/])
})

verifies('gateway:app', 'resources, templates, prompts and completion work', async (t) => {
  const { core } = await openHostedCore(t, { notes: fixture() })
  await listed(core, 'notes')
  const uri = 'causeway-mcp://notes/note:///a'
  const { resources } = await dispatch(core, 'resources/list', {})
  t.match(
    resources.filter((one: { uri: string }) => one.uri === uri),
    [{ uri, name: 'a' }],
  )
  t.match(await dispatch(core, 'resources/read', { uri }), {
    contents: [{ uri, text: 'content of note:///a' }],
  })
  const uriTemplate = 'causeway-mcp://notes/note:///{name}'
  t.match(await dispatch(core, 'resources/templates/list', {}), { resourceTemplates: [{ uriTemplate }] })
  t.match(await dispatch(core, 'prompts/get', { name: 'Notes__greet', arguments: { who: 'Ada' } }), {
    messages: [{ content: { text: 'Greet Ada.' } }],
  })
  const argument = { name: 'who', value: 'A' }
  for (const ref of [
    { type: 'ref/prompt', name: 'Notes__greet' },
    { type: 'ref/resource', uri: uriTemplate },
  ])
    t.match(await dispatch(core, 'completion/complete', { ref, argument }), {
      completion: { values: ['Ada'] },
    })
})

for (const era of ['2025-11-25', '2026-07-28'])
  verifies('gateway:app', `a resource can ask the client first, in MCP ${era}`, async (t) => {
    const { core } = await openHostedCore(t, { notes: fixture([], { concurrency: 1 }) })
    await listed(core, 'notes')
    const client = new Client(
      { name: 'test', version: '1' },
      {
        capabilities: { elicitation: { form: {} } },
        ...(era === '2026-07-28' ? { versionNegotiation: { mode: { pin: era } } } : {}),
      },
    )
    client.setRequestHandler('elicitation/create', async ({ params }) => ({
      action: 'accept',
      content: { answer: params.message },
    }))
    await client.connect(new StreamableHTTPClientTransport(new URL(`${await serve(t, core)}/mcp`)))
    t.teardown(() => client.close())
    const uri = 'causeway-mcp://notes/note:///ask'
    t.match(await client.readResource({ uri }), {
      contents: [{ uri, text: '{"action":"accept","content":{"answer":"note:///ask"}}' }],
    })
  })

verifies('gateway:catalogue', async (t) => {
  const { core, dir } = await openHostedCore(t, { one: fixture(), two: fixture([], { app: 'One' }) })
  await listed(core, 'one', 'two')
  const names = toolNames(core)
  t.ok(names.includes('One2__echo'), 'a name that is taken gets a number')
  await core.close()
  const { core: next } = await openHostedCore(
    t,
    { one: fixture(), two: fixture([], { app: 'One' }) },
    { dir },
  )
  t.same(toolNames(next), names)
  t.match(status(next, 'one'), { state: 'idle', pids: [], starts: 0 })
  t.equal(readText(await call(next, 'One__echo', { text: 'b' })), 'b')
  t.match(status(next, 'one'), { state: 'ready', starts: 1 })
  t.match(status(next, 'two'), { starts: 0 })
})

verifies('gateway:app', 'remote servers work over both HTTP transports', async (t) => {
  const dir = t.testdir({ upstream: {}, data: {} })
  const wire = await openWire(t, { dir: `${dir}/upstream` })
  const { url } = wire.http
  const { core } = await openHostedCore(
    t,
    {
      remote: { type: 'http', url: `${url}/mcp/demo` },
      old: { type: 'sse', url: `${url}/sse/demo` },
      gone: { type: 'http', url: 'http://127.0.0.1:9/mcp' },
    },
    { dir },
  )
  await listed(core, 'remote', 'old')
  for (const app of ['Remote', 'Old']) {
    t.match(await call(core, `${app}__demo_echo`, { text: 'r' }), { structuredContent: { text: 'r' } }, app)
    t.match(await call(core, `${app}__fail`, { code: 'NO_RECORDING' }), { isError: true }, app)
  }
  t.match(status(core, 'remote'), { kind: 'http', state: 'ready', protocol_version: '2026-07-28' })
  t.match(status(core, 'old'), { kind: 'sse', state: 'ready', protocol_version: '2025-11-25' })
  t.match(status(core, 'gone'), { last_error: { code: 'UPSTREAM_UNAVAILABLE' } })
})

verifies('gateway:config:watch', 'a change is applied while the gateway ends old processes', async (t) => {
  const dir = t.testdir({ data: { gateway: {} } })
  const program =
    'process.on("SIGTERM", () => console.log("asked")); setInterval(() => {}, 1000); console.log("ready")'
  const child = spawn(process.execPath, ['-e', program], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const pid = child.pid as number
  writeFileSync(`${dir}/data/gateway/pids.json`, JSON.stringify([{ pid, process: identifyProcess(pid) }]))
  // The gateway kills the child a second after its signal, and only then opens.
  const asked = once(child.stdout, 'data')
  const opening = openHostedCore(t, {}, { dir })
  await asked
  writeFileSync(`${dir}/data/mcp.json`, JSON.stringify({ mcpServers: { added: fixture() } }))
  const { core } = await opening
  core.hosted.check()
  await listed(core, 'added')
})

verifies('gateway:subscriptions', 'a notification stream that ended is requested again', async (t) => {
  let streams = 0
  const tools = [{ name: 'first', inputSchema: { type: 'object' } }]
  const results = {
    'server/discover': {
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: { listChanged: true } },
    },
    'tools/list': { tools },
  }
  const url = await serveRemote(t, results, ({ rpc, response }) => {
    if (rpc !== 'subscriptions/listen') return false
    streams += 1
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (streams === 1) return response.end(': ends\n\n') !== undefined
    tools.push({ name: 'second', inputSchema: { type: 'object' } })
    const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
    response.write(`data: ${JSON.stringify(changed)}\n\n`)
    return true
  })
  const { core } = await openHostedCore(t, { remote: { type: 'http', url, causeway: { pin: 'off' } } })
  await until(
    async () => toolNames(core),
    (names) => names.includes('Remote__second'),
  )
  t.match(status(core, 'remote'), { starts: 1, state: 'ready' })
})

verifies('gateway:misbehaviour', 'a call that a remote server accepts without a result fails', async (t) => {
  const results = {
    'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
    'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
  }
  const other = JSON.stringify({ jsonrpc: '2.0', id: 'other', result: {} })
  const answers = [[202], [200, { 'content-type': 'application/json' }, other]] as const
  let calls = 0
  const url = await serveRemote(t, results, ({ rpc, response }) => {
    if (rpc !== 'tools/call') return false
    const [code, headers, body] = answers[calls++ % answers.length] ?? [500]
    response.writeHead(code, headers).end(body)
    return true
  })
  const { core } = await openHostedCore(t, { remote: { type: 'http', url } })
  await listed(core, 'remote')
  for (const [code] of answers)
    t.match(
      await call(core, 'Remote__echo'),
      {
        isError: true,
        content: [{ text: /^UPSTREAM_INVALID: remote accepted the request, but sent no result/ }],
      },
      `status ${code}`,
    )
  t.match(status(core, 'remote'), { starts: 1, state: 'ready' })
})

verifies('gateway:misbehaviour', 'a remote server may ignore the end of its session', async (t) => {
  const results = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} } },
    'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'again' }] },
  }
  const url = await serveRemote(t, results, ({ method }) => method === 'DELETE')
  const { core } = await openHostedCore(t, { remote: { type: 'http', url } })
  await listed(core, 'remote')
  await core.hosted.gateway.restart('remote')
  t.equal(readText(await call(core, 'Remote__echo')), 'again')
})
