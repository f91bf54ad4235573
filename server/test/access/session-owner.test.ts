import { rmSync, writeFileSync } from 'node:fs'
import { ask, defineApp, elicit } from '@causeway/app-kit'
import { openDatabase } from '@causeway/store'
import type { Test } from 'tap'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { verifies } from '../../../test/verifies.ts'
import { TokenFile } from '../../src/access/token-file.ts'
import { serverMigrations } from '../../src/host/server-store.ts'
import { both, modern, openWire, rpc, type Sending, toolCall, type Wire } from '../http/open-wire.ts'
import { portApp } from '../http/port-app.ts'
import { captureLog, soon } from '../test-core.ts'

const alice = 'token-of-alice-0001'
const bob = 'token-of-bob-000001'
const unnamed = 'token-without-name-1'
const another = 'token-without-name-2'

/** Pairs of an owner and another token, with and without names. */
const pairs = [
  [alice, bob],
  [unnamed, another],
  [unnamed, alice],
  [alice, unnamed],
] as const

const lines = [`${alice} alice`, `${bob} bob`, unnamed, another]

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

const writeTokens = (t: Test, content: readonly string[]): string => {
  const file = `${t.testdirName}/tokens`
  // A new inode is recognized as a change even if the modification time stays the same.
  rmSync(file, { force: true })
  writeFileSync(file, `${content.join('\n')}\n`, { mode: 0o600 })
  return file
}

async function openOwned(t: Test): Promise<Wire> {
  t.testdir({ data: {} })
  return reopen(t, writeTokens(t, lines))
}

/** An app whose tool asks the client before it returns. */
const askingApp = defineApp(
  { name: 'Asking', about: 'Asks the client.', open: () => ({}), session: () => ({}) },
  (app) =>
    app.tool('ask', {
      about: 'Ask the client, then return the value that was stored with the request.',
      input: {},
      output: { stored: z.string() },
      example: { args: {} },
      run: (_, { input }) =>
        'q' in input.replies
          ? { stored: String(input.kept) }
          : ask({ q: elicit('Continue?', { yes: z.boolean().describe('consent') }) }, 'stored by the owner'),
    }),
)

/** Opens a server with the same data folder. */
function reopen(t: Test, file: string | undefined): Promise<Wire> {
  const tokens = file === undefined ? undefined : new TokenFile(file, { log: captureLog().log })
  return openWire(t, { dir: `${t.testdirName}/data`, apps: [portApp().app, askingApp], tokens })
}

async function stop({ http, core }: Wire): Promise<void> {
  await http.close(0)
  await core.close()
}

/** Every way to use a session by its id. */
const uses: readonly (readonly [string, unknown, Sending])[] = [
  ['request', rpc('ping'), {}],
  ['plain call', toolCall('Demo__count'), {}],
  ['call with progress', toolCall('Demo__count', {}, 'p'), {}],
  ['list', rpc('tools/list'), {}],
  ['call without streaming', toolCall('Demo__count'), { headers: { accept: 'application/json' } }],
  ['response to an elicitation', { jsonrpc: '2.0', id: 0, result: { action: 'accept' } }, {}],
  ['cancellation', { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, {}],
  ['subscription', rpc('resources/subscribe', { uri: 'demo://notes/a' }), {}],
  ['stream', undefined, { method: 'GET' }],
  ['resumed stream', undefined, { method: 'GET', headers: { 'last-event-id': 'EVENT' } }],
  ['end', undefined, { method: 'DELETE' }],
]

/** Uses a session in every way with a token. Every response must be the same as for an unknown id. */
async function requireUnknown(
  t: Test,
  wire: Wire,
  session: { id: string; event?: string | undefined },
  token: string,
) {
  for (const [name, body, sending] of uses) {
    const send = async (id: string) => {
      const headers = { ...both, ...sending.headers, ...bearer(token), 'mcp-session-id': id }
      if ('last-event-id' in headers) headers['last-event-id'] = session.event ?? 'x-1'
      const { status, text } = await wire.send(body, { ...sending, headers })
      return { status, text }
    }
    const response = await send(session.id)
    t.equal(response.status, 404, name)
    t.match(response.text, 'SESSION_NOT_FOUND')
    t.same(
      response,
      await send('0'.repeat(session.id.length)),
      `${name}: same response as for an unknown session`,
    )
  }
}

const ping = async (wire: Wire, id: string, token: string) =>
  (await wire.send(rpc('ping'), { headers: { ...both, ...bearer(token), 'mcp-session-id': id } })).status

verifies('access:session-owner', async (t) => {
  const wire = await openOwned(t)
  for (const [owner, stranger] of pairs) {
    const id = await wire.initialize({ headers: bearer(owner) })
    const headers = { ...bearer(owner), 'mcp-session-id': id }
    const stream = await wire.stream(undefined, { method: 'GET', headers })
    const call = await wire.stream(toolCall('Wire__work', { steps: 1 }, 'p'), { headers })
    await call.messages.next()
    await requireUnknown(t, wire, { id, event: call.ids[0] }, stranger)
    t.equal(wire.wire.begun.at(-1)?.aborted, false, 'the call of the owner keeps running')
    wire.wire.release()
    t.match((await call.messages.next()).value, { result: {} })
    stream.hangUp()
    t.equal(await ping(wire, id, owner), 200, 'the session still exists')
  }
})

verifies(
  'access:session-owner',
  'sessions keep their owner after a restart and a rotation of tokens',
  async (t) => {
    const first = await openOwned(t)
    const ids = new Map<string, string>()
    for (const token of [alice, unnamed]) ids.set(token, await first.initialize({ headers: bearer(token) }))
    await stop(first)
    const replaced = 'token-of-alice-0002'
    const file = writeTokens(t, [`${replaced} alice`, `${bob} bob`, unnamed, another])
    const second = await reopen(t, file)
    for (const [owner, stranger] of [
      [alice, bob],
      [unnamed, another],
      [alice, unnamed],
    ] as const)
      await requireUnknown(t, second, { id: ids.get(owner) as string }, stranger)
    t.equal(await ping(second, ids.get(alice) as string, alice), 401)
    t.equal(
      await ping(second, ids.get(alice) as string, replaced),
      200,
      'a new token of the same name owns it',
    )
    t.equal(await ping(second, ids.get(unnamed) as string, unnamed), 200)

    const renewed = 'token-without-name-3'
    writeTokens(t, [`${replaced} alice`, `${bob} bob`, renewed])
    await requireUnknown(t, second, { id: ids.get(unnamed) as string }, renewed)
    await requireUnknown(t, second, { id: ids.get(alice) as string }, renewed)
  },
)

verifies(
  'access:session-owner',
  'concurrent requests of another token do not affect the owner',
  async (t) => {
    const first = await openOwned(t)
    const id = await first.initialize({ headers: bearer(alice) })
    await stop(first)
    const second = await reopen(t, `${t.testdirName}/tokens`)
    const statuses = await Promise.all([bob, alice, bob].map((token) => ping(second, id, token)))
    t.same(statuses, [404, 200, 404])
  },
)

verifies(
  'access:session-owner',
  'a session opened without a token does not belong to any token',
  async (t) => {
    t.testdir({ data: {} })
    const open = await reopen(t, undefined)
    const id = await open.initialize()
    await stop(open)
    const guarded = await reopen(t, writeTokens(t, lines))
    await requireUnknown(t, guarded, { id }, alice)
    const owned = await guarded.initialize({ headers: bearer(alice) })
    await stop(guarded)
    const reopened = await reopen(t, undefined)
    t.equal(await ping(reopened, owned, alice), 404)
    t.equal(await ping(reopened, id, alice), 200)
  },
)

verifies(
  'access:session-owner',
  'a 2024-11-05 event stream accepts only messages of its own token',
  async (t) => {
    const wire = await openOwned(t)
    for (const [owner, stranger] of pairs) {
      const { events, hangUp } = await wire.events(undefined, {
        path: '/sse',
        method: 'GET',
        headers: bearer(owner),
      })
      const { data: path } = (await events.next()).value as { data: string }
      const post = async (endpoint: string, token: string) => {
        const { status, text } = await wire.send(rpc('ping'), { path: endpoint, headers: bearer(token) })
        return { status, text }
      }
      const rejected = await post(path, stranger)
      t.match(rejected, { status: 404, text: /SESSION_NOT_FOUND/ })
      t.same(rejected, await post('/messages?sessionId=unknown', stranger))
      t.equal((await post(path, owner)).status, 202)
      t.match(JSON.parse(((await events.next()).value as { data: string }).data), { id: 1, result: {} })
      hangUp()
    }
  },
)

verifies('access:state', 'unnamed tokens do not share state over HTTP or WebSockets', async (t) => {
  const wire = await openOwned(t)
  const named = { 'causeway-session': 'same' }
  const count = async (token: string) =>
    (await wire.send(toolCall('Demo__count'), { headers: { ...named, ...bearer(token) } })).json.result
      .structuredContent.count
  t.same([await count(unnamed), await count(unnamed)], [1, 2])
  t.same([await count(another), await count(alice), await count(bob)], [1, 1, 1])
  const frames = (token: string): Promise<number> => {
    const headers = { ...named, ...bearer(token) }
    const socket = new WebSocket(`${wire.http.url.replace('http', 'ws')}/api/apps/port`, { headers })
    t.teardown(() => socket.terminate())
    socket.once('open', () => socket.send('count'))
    return soon(
      new Promise((resolve) =>
        socket.on(
          'message',
          (data) => data.toString() !== 'welcome' && resolve(JSON.parse(String(data)).frames),
        ),
      ),
    )
  }
  t.same([await frames(unnamed), await frames(unnamed)], [1, 2])
  t.same([await frames(another), await frames(alice)], [1, 1])
})

verifies(
  'access:state',
  'state saved before the upgrade belongs to the first unnamed token that uses it',
  async (t) => {
    const dir = t.testdir({ data: { data: {} } })
    const before = serverMigrations.slice(
      0,
      serverMigrations.findIndex(({ name }) => name === 'owners'),
    )
    const db = openDatabase(`${dir}/data/data/server.db`, { migrations: before })
    const insert = db.prepare(`INSERT INTO client_state VALUES (?, 'Demo', '{"count":10}', ?)`)
    for (const key of ['one', 'two', 'anonymous']) insert.run(key, Date.now() - 60_000)
    db.close()
    const count = async (wire: Wire, session: string | undefined, token: string) => {
      const headers = { ...bearer(token), ...(session !== undefined && { 'causeway-session': session }) }
      return (await wire.send(toolCall('Demo__count'), { headers })).json.result.structuredContent.count
    }
    const first = await reopen(t, writeTokens(t, lines))
    t.same(
      [await count(first, 'one', alice), await count(first, 'one', unnamed)],
      [1, 11],
      'a named token does not get the state',
    )
    t.same([await count(first, undefined, another), await count(first, undefined, unnamed)], [11, 1])
    await stop(first)
    const second = await reopen(t, `${t.testdirName}/tokens`)
    t.same([await count(second, 'one', another), await count(second, 'one', unnamed)], [1, 12])
    await stop(second)
    const open = await reopen(t, undefined)
    t.equal(await count(open, 'two', alice), 11)
    await stop(open)
    const guarded = await reopen(t, `${t.testdirName}/tokens`)
    t.equal(
      await count(guarded, 'two', unnamed),
      1,
      'state that was used without tokens after the upgrade is not transferred',
    )
  },
)

/** Sends a stateless message of a client that supports tasks. */
async function sendStateless(
  wire: Wire,
  message: ReturnType<typeof rpc>,
  token: string,
  more: Readonly<Record<string, string>> = {},
) {
  const { body, headers } = modern(message)
  const { _meta } = body.params as { _meta: Record<string, unknown> }
  _meta['io.modelcontextprotocol/clientCapabilities'] = {
    elicitation: {},
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  }
  const { taskId } = (message.params ?? {}) as { taskId?: string }
  const named = taskId === undefined ? headers : { ...headers, 'mcp-name': taskId }
  return (await wire.send(body, { headers: { ...named, ...more, ...bearer(token) } })).json
}

verifies(
  'access:session-owner',
  'the state of an elicitation is accepted only from its own token',
  async (t) => {
    const wire = await openOwned(t)
    const session = { 'causeway-session': 'same' }
    for (const [owner, stranger] of pairs) {
      const { requestState, inputRequests } = (
        await sendStateless(wire, toolCall('Asking__ask'), owner, session)
      ).result
      const [key] = Object.keys(inputRequests) as [string]
      const reply = rpc('tools/call', {
        name: 'Asking__ask',
        arguments: {},
        requestState,
        inputResponses: { [key]: { action: 'accept', content: { yes: true } } },
      })
      const rejected = JSON.stringify(await sendStateless(wire, reply, stranger, session))
      t.match(rejected, /requestState/)
      t.notMatch(rejected, 'stored by the owner')
      t.match(await sendStateless(wire, reply, owner, session), {
        result: { structuredContent: { stored: 'stored by the owner' } },
      })
    }
  },
)

const taskMethods = ['tasks/get', 'tasks/update', 'tasks/cancel']

verifies('access:task-owner', async (t) => {
  const first = await openOwned(t)
  const tasks = new Map<string, string>()
  for (const [owner, stranger] of pairs) {
    const { taskId } = (await sendStateless(first, toolCall('Wire__work', { steps: 1 }), owner)).result
    tasks.set(owner, taskId)
    for (const method of taskMethods)
      t.match(
        await sendStateless(first, rpc(method, { taskId, inputResponses: {} }), stranger),
        { error: { code: -32602, data: { code: 'TASK_NOT_FOUND' } } },
        method,
      )
    t.match((await sendStateless(first, rpc('tasks/get', { taskId }), owner)).result, { status: 'working' })
  }
  first.wire.release()
  await stop(first)
  const second = await reopen(t, `${t.testdirName}/tokens`)
  for (const [owner, stranger] of pairs) {
    const get = rpc('tasks/get', { taskId: tasks.get(owner) })
    t.match(await sendStateless(second, get, stranger), { error: { data: { code: 'TASK_NOT_FOUND' } } })
    t.match((await sendStateless(second, get, owner)).result, { resultType: 'complete' })
  }
})
