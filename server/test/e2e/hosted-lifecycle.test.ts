import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CausewayError } from '@causeway/protocol'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Test } from 'tap'
import { HttpChannel } from '../../../packages/gateway/src/upstream/http-channel.ts'
import { until } from '../../../test/e2e/condition.ts'
import { inCI } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { fixture, listed, openHostedCore, serve, status } from '../hosted/hosted-core.ts'
import { call, soon, testCaller, toolNames } from '../test-core.ts'

const readText = (result: object): string =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join('')

const readCode = (result: object) =>
  (result as { _meta?: Record<string, { code: string }> })._meta?.['causeway/error']?.code

const readLines = async (file: string): Promise<readonly string[]> =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []

const waitForLine = (file: string, line: string, count = 1) =>
  until(
    () => readLines(file),
    (lines) => lines.filter((one) => one === line).length >= count,
  )

async function connect(t: Test, url: string): Promise<Client> {
  const client = new Client({ name: 'lifecycle', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
  t.teardown(() => client.close())
  return client
}

verifies('gateway:subscriptions', async (t) => {
  const dir = t.testdir({ data: {} })
  const log = `${dir}/log`
  const { core } = await openHostedCore(t, { notes: fixture([`--log=${log}`], { idleMs: 50 }) }, { dir })
  await listed(core, 'notes')
  const url = await serve(t, core)
  const uri = 'causeway-mcp://notes/note:///a'
  const clients = await Promise.all([connect(t, url), connect(t, url)])
  const updates = clients.map((client) => {
    const received: string[] = []
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      received.push(params.uri)
    })
    return received
  })
  for (const client of clients) await client.subscribeResource({ uri })
  const received = (count: number) =>
    until(
      async () => updates.map(({ length }) => length),
      (lengths) => lengths.every((length) => length >= count),
    )
  const touch = () => call(core, 'Notes__touch', { uri: 'note:///a' })
  await waitForLine(log, 'subscribed note:///a')
  await touch()
  await received(1)
  t.match(await call(core, 'Notes__crash'), { isError: true })
  await waitForLine(log, 'subscribed note:///a', 2)
  await touch()
  await received(2)
  t.same(updates, [
    [uri, uri],
    [uri, uri],
  ])
  await clients[0]?.unsubscribeResource({ uri })
  await touch()
  await until(
    async () => updates[1]?.length,
    (length) => length === 3,
  )
  t.equal(updates[0]?.length, 2)
  t.notOk((await readLines(log)).includes('unsubscribed note:///a'), 'one client still needs it')
  t.equal(status(core, 'notes')?.pids.length, 1, 'it runs as long as it is needed')
  await clients[1]?.unsubscribeResource({ uri })
  await waitForLine(log, 'unsubscribed note:///a')
  await until(
    async () => status(core, 'notes')?.pids.length,
    (count) => count === 0,
  )
})

verifies('gateway:log-level', async (t) => {
  const dir = t.testdir({ data: {} })
  const log = `${dir}/log`
  const { core } = await openHostedCore(
    t,
    { chatty: fixture([`--log=${log}`], { share: 'client' }) },
    { dir },
  )
  await listed(core, 'chatty')
  const url = await serve(t, core)
  const clients = await Promise.all([connect(t, url), connect(t, url)])
  const messages = clients.map((client) => {
    const received: string[] = []
    client.setNotificationHandler('notifications/message', ({ params }) => {
      received.push(`${params.level} ${params.data}`)
    })
    return received
  })
  const [quiet, curious] = clients as [Client, Client]
  await quiet.setLoggingLevel('error')
  await curious.setLoggingLevel('debug')
  for (const [index, client] of clients.entries())
    await client.callTool({ name: 'Chatty__log', arguments: { text: `of ${index}` } })
  await until(
    async () => messages.flat().length,
    (count) => count >= 3,
  )
  t.same(messages, [['error of 0'], ['debug of 1', 'error of 1']])
  t.notOk((await readLines(log)).includes('level error'), 'others may need more')
})

verifies('gateway:idle', async (t) => {
  const dir = t.testdir({ data: {} })
  const log = `${dir}/log`
  const { core } = await openHostedCore(t, { lazy: fixture([`--log=${log}`], { idleMs: 20 }) }, { dir })
  await listed(core, 'lazy')
  const stopped = () =>
    until(
      async () => status(core, 'lazy'),
      (found) => found?.state === 'idle' && found.pids.length === 0,
    )
  await stopped()
  t.ok(toolNames(core).includes('Lazy__echo'), 'it is still listed')
  const { starts } = status(core, 'lazy') as { starts: number }
  const waited = call(core, 'Lazy__wait', { text: 'w' })
  await waitForLine(log, 'waiting w')
  // The calls and the pause last several idle timeouts.
  for (let index = 0; index < 5; index++)
    t.match(await call(core, 'Lazy__echo', { text: 'e' }), { content: [{ text: 'e' }] })
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.match(status(core, 'lazy'), { state: 'ready', starts: starts + 1 })
  await call(core, 'Lazy__release')
  t.equal(readText(await soon(waited)), 'w')
  await stopped()
})

verifies('gateway:idle', 'the process of a client ends after its session', async (t) => {
  const { core } = await openHostedCore(t, { own: fixture([], { share: 'client', idleMs: 0 }) })
  await listed(core, 'own')
  const { gateway } = core.hosted
  const ended: string[] = []
  const endClient = gateway.endClient.bind(gateway)
  gateway.endClient = (key) => {
    ended.push(key)
    endClient(key, 1)
  }
  const url = await serve(t, core)
  const connect = async () => {
    const client = new Client({ name: 'test', version: '1' })
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`))
    await client.connect(transport)
    t.teardown(() => client.close())
    t.match(await client.callTool({ name: 'Own__echo', arguments: { text: 'x' } }), { isError: undefined })
    return transport
  }
  const [leaving] = [await connect(), await connect()]
  t.equal(status(core, 'own')?.pids.length, 2)
  const { sessionId } = leaving
  await leaving.terminateSession()
  t.same(ended, [sessionId])
  await until(
    async () => status(core, 'own')?.pids.length,
    (count) => count === 1,
  )
})

verifies(
  'gateway:backoff',
  inCI(async (t) => {
    let skippedMs = 0
    const { core } = await openHostedCore(
      t,
      { fragile: fixture(), good: fixture() },
      { monotonicNow: () => performance.now() + skippedMs },
    )
    await listed(core, 'fragile', 'good')
    const crash = async () => readCode(await call(core, 'Fragile__crash'))
    t.equal(await crash(), 'UPSTREAM_GONE')
    t.match(status(core, 'fragile'), { state: 'idle' }, 'the next call starts it at once')
    for (const waitMs of [1250, 2500, 5000]) {
      t.equal(await crash(), 'UPSTREAM_GONE')
      t.match(status(core, 'fragile'), { state: 'backoff' })
      skippedMs += waitMs
      t.match(status(core, 'fragile'), { state: 'idle' })
    }
    t.equal(await crash(), 'UPSTREAM_GONE')
    const { starts } = status(core, 'fragile') as { starts: number }
    t.match(status(core, 'fragile'), { state: 'down' })
    t.equal(await crash(), 'UPSTREAM_UNAVAILABLE')
    t.match(status(core, 'fragile'), { starts }, 'it was not started')
    t.match(await core.health(), { apps: { Fragile: { state: 'down' } } })
    t.equal(readText(await call(core, 'Good__echo', { text: 'g' })), 'g', 'others are not affected')
    await core.hosted.gateway.restart('fragile')
    t.equal(readText(await call(core, 'Fragile__echo', { text: 'f' })), 'f')
  }),
)

verifies('gateway:tasks', async (t) => {
  const dir = t.testdir({ data: {} })
  const log = `${dir}/log`
  const { core } = await openHostedCore(t, { lab: fixture([`--log=${log}`]) }, { dir })
  await listed(core, 'lab')
  const messages: unknown[] = []
  const research = (text: string, cancellation = new AbortController()) =>
    call(core, 'Lab__research', { text }, { cancellation, progress: (...one) => messages.push(one) })
  const waited = research('a')
  await waitForLine(log, 'waiting task a')
  await until(
    async () => messages.length,
    (count) => count > 0,
  )
  t.same(messages, [[1, undefined, 'working on task a']])
  await call(core, 'Lab__release')
  t.equal(readText(await soon(waited)), 'result of task a')
  const abort = new AbortController()
  const cancelled = research('b', abort)
  await waitForLine(log, 'waiting task b')
  abort.abort(new CausewayError('CANCELLED', 'cancelled by the test'))
  t.equal(readCode(await soon(cancelled)), 'CANCELLED')
  await waitForLine(log, 'cancelled task b')
  const { tools } = JSON.parse(core.registry.getLists({ path: '/mcp' }).toolsJson.legacy)
  const listedTool = tools.find((tool: { name: string }) => tool.name === 'Lab__research')
  t.equal(listedTool.execution, undefined, 'clients send no task of MCP 2025-11-25')
  const listing = core.dispatch('tasks/list', {}, testCaller())
  await t.rejects(listing, { code: 'METHOD_NOT_FOUND' }, 'no client sees the tasks of another')
})

verifies(
  'gateway:misbehaviour',
  'servers work without ping, with one era, and with another era after a restart',
  async (t) => {
    const dir = t.testdir({ data: {} })
    const [log, update] = [`${dir}/log`, `${dir}/update`]
    const servers = {
      silent: fixture(['--no-ping', `--log=${log}`]),
      modern: fixture(['--modern']),
      updated: fixture([`--modern-if=${update}`]),
    }
    const { core } = await openHostedCore(t, servers, { dir })
    await listed(core, 'silent', 'modern', 'updated')
    for (const app of ['Silent', 'Modern', 'Updated'])
      t.equal(readText(await call(core, `${app}__echo`, { text: app })), app)
    t.match(status(core, 'modern'), { protocol_version: '2026-07-28', starts: 1 })
    t.match(status(core, 'updated'), { protocol_version: '2025-11-25' })
    t.notOk((await readLines(log)).includes('ping'), 'a process is never pinged')
    writeFileSync(update, '')
    await core.hosted.gateway.restart('updated')
    t.equal(readText(await call(core, 'Updated__echo', { text: 'after' })), 'after')
    await until(
      async () => status(core, 'updated')?.protocol_version,
      (version) => version === '2026-07-28',
    )
  },
)

verifies(
  'gateway:misbehaviour',
  '300 calls to a working server succeed while other servers misbehave',
  inCI(async (t) => {
    const { core } = await openHostedCore(t, {
      good: fixture(),
      bad: fixture(['--banner', '--stubborn']),
      huge: fixture(),
    })
    await listed(core, 'good', 'bad', 'huge')
    const bad = ['Bad__crash', 'Huge__huge', 'Bad__fail', 'Bad__wait'].map((name) => {
      const cancellation = new AbortController()
      const outcome = call(core, name, {}, { cancellation }).catch((error: unknown) => error)
      return { cancellation, outcome }
    })
    const echoes: object[] = []
    for (let index = 0; index < 300; index++)
      echoes.push(await call(core, 'Good__echo', { text: String(index) }))
    t.ok(echoes.every((result, index) => readText(result) === String(index)))
    t.match(status(core, 'good'), { starts: 1, errors: 0 })
    for (const { cancellation } of bad)
      cancellation.abort(new CausewayError('CANCELLED', 'the end of the test'))
    await Promise.all(bad.map(({ outcome }) => outcome))
  }),
)

verifies('gateway:backoff', 'Retry-After of an HTTP response applies only to its own request', async (t) => {
  const responses = [() => new Response(null, { status: 503, headers: { 'retry-after': '5' } })]
  const channel = new HttpChannel({
    ...{ kind: 'http', server: 'remote', url: 'http://127.0.0.1:9/mcp', headers: {} },
    fetch: async () => {
      const respond = responses.pop()
      if (respond === undefined) throw new TypeError('fetch failed')
      return respond()
    },
  })
  t.teardown(() => channel.close())
  await channel.start({ onMessage: () => {}, onRequestLost: () => {}, onClose: () => {} })
  const fail = (id: number) => channel.send({ jsonrpc: '2.0', id, method: 'ping' }).catch((error) => error)
  t.equal((await fail(1)).data.retry_after_ms, 5000)
  t.equal((await fail(2)).data.retry_after_ms, undefined)
})

verifies(
  'gateway:backoff',
  'an unavailable remote server receives fewer than 300 requests a day',
  inCI(async (t) => {
    let isDead = false
    let requests = 0
    const results: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'remote', version: '1' },
      },
      'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'alive' }] },
    }
    const remote = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      if (isDead) {
        requests += 1
        return void response.writeHead(503).end()
      }
      if (request.method !== 'POST') return void response.writeHead(405).end()
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString())
      if (id === undefined) return void response.writeHead(202).end()
      const result = results[method]
      const outcome = result === undefined ? { error: { code: -32601, message: 'unknown' } } : { result }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }))
    }).listen(0, '127.0.0.1')
    await once(remote, 'listening')
    t.teardown(() => {
      remote.closeAllConnections()
      remote.close()
    })
    const url = `http://127.0.0.1:${(remote.address() as AddressInfo).port}/mcp`
    let now = 0
    const { core } = await openHostedCore(t, { remote: { type: 'http', url } }, { monotonicNow: () => now })
    await listed(core, 'remote')
    t.equal(readText(await call(core, 'Remote__echo')), 'alive')
    isDead = true
    for (let minute = 0; minute < 24 * 60; minute++) {
      t.match(await call(core, 'Remote__echo'), { isError: true })
      now += 60_000
    }
    t.ok(requests < 300, `${requests} requests`)
    isDead = false
    now += 5 * 60_000
    t.equal(readText(await call(core, 'Remote__echo')), 'alive')
  }),
)
