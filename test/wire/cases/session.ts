/** `/mcp` for clients that open a session with `initialize`: MCP 2025-11-25, 2025-03-26 and 2024-11-05. */
import { type Case, type Conversation, type Route, sends } from '../conversation.ts'
import { both, call, json, notification, rejected, rpc } from '../messages.ts'
import type { Sent } from '../transcript.ts'

const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} }
const meta = { _meta: { progressToken: 'p' } }

const initialize = (version: string, id: unknown = 'init', more: object = {}): Sent => ({
  path: '/mcp',
  headers: both,
  body: rpc(
    'initialize',
    { protocolVersion: version, capabilities, clientInfo: { name: 'transcript', version: '1' }, ...more },
    id,
  ),
})

/** Opens a session without recording it. Returns requests in that session. */
async function openSession(c: Conversation, version: string, path = '/mcp') {
  const { headers } = await c.sendUnrecorded({ ...initialize(version), path })
  const own = {
    ...both,
    'mcp-session-id': String(headers['mcp-session-id']),
    'mcp-protocol-version': version,
  }
  const post = (body: unknown, more: Readonly<Record<string, string>> = {}): Sent => ({
    path,
    headers: { ...own, ...more },
    body,
  })
  await c.sendUnrecorded(post(notification('notifications/initialized')))
  const { 'content-type': _, ...withoutType } = own
  const get = (more: Readonly<Record<string, string>> = {}): Sent => ({
    method: 'GET',
    path,
    headers: { ...withoutType, accept: 'text/event-stream', ...more },
  })
  const remove: Sent = { method: 'DELETE', path, headers: withoutType }
  return { post, get, remove }
}

type Session = Awaited<ReturnType<typeof openSession>>

/** Cases that the SDK answers differently from revision to revision, and the usual calls. */
const basicCases = (version: string): Case[] => {
  const within = (title: string, run: (c: Conversation, session: Session) => Promise<unknown>): Case => ({
    title,
    run: async (c) => run(c, await openSession(c, version)),
  })
  const posts = (title: string, ...bodies: readonly unknown[]): Case => ({
    ...within(title, async (c, { post }) => {
      for (const body of bodies) await c.send(post(body))
    }),
    requests: toRequests(bodies),
  })
  return [
    {
      title: 'the handshake',
      async run(c) {
        const { headers } = await c.send(initialize(version))
        const own = { ...both, 'mcp-session-id': String(headers['mcp-session-id']) }
        await c.send({ path: '/mcp', headers: own, body: notification('notifications/initialized') })
        await c.send({ path: '/mcp', headers: own, body: rpc('ping') })
      },
    },
    posts('tools/call succeeds', call('echo', { text: 'hello' })),
    posts('a tool that fails', call('fail', { how: 'error' }), call('fail', { how: 'defect' })),
    posts('arguments that do not fit', call('echo', { text: 1, unknown: true })),
    posts('an unknown tool and an unknown method', call('ecko'), rpc('tools/destroy')),
    posts('tools/list', rpc('tools/list')),
    posts('a resource that does not exist', rpc('resources/read', { uri: 'sample://notes/absent' })),
    within('progress is sent on the stream of the call', async (c, { post }) => {
      const stream = await c.open(post(call('wait', { steps: 2 }, 1, meta)))
      await c.untilWaiting(1)
      await c.release()
      await stream.end()
    }),
    within('a cancelled call ends its stream', async (c, { post }) => {
      const stream = await c.open(post(call('wait', { steps: 0 }, 7)))
      await c.untilWaiting(1)
      await c.send(
        post(notification('notifications/cancelled', { requestId: 7, reason: 'no longer needed' })),
      )
      await stream.end()
      await c.untilWaiting(0)
    }),
    within('an array of messages', async (c, { post }) => {
      const stream = await c.open(
        post([call('echo', { text: 'a' }, 1), notification('notifications/initialized'), rpc('ping', {}, 2)]),
      )
      await stream.end()
    }),
    within('the user is asked on the stream of the call', async (c, { post }) => {
      const stream = await c.open(post(call('ask_name')))
      const first = await untilRequest(stream)
      await c.send(
        post({ jsonrpc: '2.0', id: first, result: { action: 'accept', content: { name: 'Ada' } } }),
      )
      const second = await untilRequest(stream)
      await c.send(
        post({ jsonrpc: '2.0', id: second, result: { action: 'accept', content: { colour: 'red' } } }),
      )
      await stream.end()
    }),
    within('the GET stream carries list_changed', async (c, { get }) => {
      const stream = await c.open(get())
      await c.toggleExtra()
      await untilMethod(stream, 'notifications/tools/list_changed')
      await c.toggleExtra()
      await untilMethod(stream, 'notifications/tools/list_changed')
    }),
    within('DELETE ends the session', async (c, { post, remove }) => {
      await c.send(remove)
      await c.send(post(rpc('ping')))
    }),
  ]
}

type Stream = Awaited<ReturnType<Conversation['open']>>

/** Reads up to a request of the server; returns its id. */
async function untilRequest(stream: Stream): Promise<unknown> {
  for (;;) {
    const { json } = await stream.next()
    if (json?.method !== undefined && json.id !== undefined) return json.id
  }
}

async function untilMethod(stream: Stream, method: string): Promise<void> {
  while ((await stream.next()).json?.method !== method);
}

const version = '2025-11-25'

const within = (title: string, run: (c: Conversation, session: Session) => Promise<unknown>): Case => ({
  title,
  run: async (c) => run(c, await openSession(c, version)),
})

const posts = (title: string, ...bodies: readonly unknown[]): Case => ({
  ...within(title, async (c, { post }) => {
    for (const body of bodies) await c.send(post(body))
  }),
  requests: toRequests(bodies),
})

const toRequests = (bodies: readonly unknown[]) =>
  bodies.map((body) => ({ path: '/mcp', headers: both, body, isInSession: true }))

const handshakes: readonly Case[] = [
  sends('an unknown revision is answered with the newest', initialize('2023-01-01')),
  sends('initialize without params', { path: '/mcp', headers: both, body: rpc('initialize') }),
  sends(
    'malformed capabilities',
    initialize(version, 1, { capabilities: 3 }),
    initialize(version, 1, { capabilities: { roots: 3 } }),
  ),
  sends('a malformed version', initialize(version, 1, { protocolVersion: 3 })),
  sends('an unsupported MCP-Protocol-Version', {
    path: '/mcp',
    headers: { ...both, 'mcp-protocol-version': '2023-01-01' },
    body: rpc('ping'),
  }),
  sends('an unknown session', {
    path: '/mcp',
    headers: { ...both, 'mcp-session-id': 'absent' },
    body: rpc('ping'),
  }),
  sends(
    'streams and DELETE of an unknown session',
    { method: 'GET', path: '/mcp', headers: { accept: 'text/event-stream', 'mcp-session-id': 'absent' } },
    { method: 'DELETE', path: '/mcp', headers: { 'mcp-session-id': 'absent' } },
  ),
  within('a session belongs to its mount', (c, { post }) =>
    c.send({ ...post(rpc('ping')), path: '/mcp/sample' }),
  ),
  {
    title: "a session on the app's own mount",
    async run(c) {
      const { post } = await openSession(c, version, '/mcp/sample')
      await c.send(post(rpc('tools/call', { name: 'echo', arguments: { text: 'hello' } })))
    },
  },
]

const calls: readonly Case[] = [
  within('client state belongs to the session', async (c, { post }) => {
    await c.send(post(call('count')))
    await c.send(post(call('count', {}, 2)))
    await c.send(post(call('count', {}, 3), { 'causeway-session': 'session-named' }))
  }),
  within('a client that accepts JSON only', (c, { post }) =>
    c.send(post(call('count'), { accept: 'application/json' })),
  ),
  within('a client that accepts neither', (c, { post }) =>
    c.send(post(call('echo', { text: 'a' }), { accept: 'text/html' })),
  ),
  posts('a picture', call('picture')),
  posts('a result of 100,000 characters', call('echo', { text: 'x', times: 100_000 })),
  posts('output that does not fit its schema', call('fail', { how: 'output' })),
  posts(
    'messages that are not JSON-RPC',
    { id: 1, method: 'ping' },
    { jsonrpc: '2.0', id: 1.5, method: 'ping' },
    [],
    'text',
  ),
  posts('a notification', notification('notifications/roots/list_changed')),
  posts('a response without a request', { jsonrpc: '2.0', id: 99, result: {} }),
  within('log messages are sent from the level that the client sets', async (c, { post }) => {
    await (await c.open(post(call('log')))).end()
    await c.send(post(rpc('logging/setLevel', { level: 'warning' }, 2)))
    await (await c.open(post(call('log', {}, 3)))).end()
    await c.send(post(rpc('logging/setLevel', { level: 'absent' }, 4)))
  }),
  within('a call without a result within 100 ms gets a stream', async (c, { post }) => {
    const stream = await c.open(post(call('wait', { steps: 1 })))
    await c.untilWaiting(1)
    await c.release()
    await stream.end()
  }),
  within('a user who declines', async (c, { post }) => {
    const stream = await c.open(post(call('ask_name')))
    const id = await untilRequest(stream)
    await c.send(post({ jsonrpc: '2.0', id, result: { action: 'decline' } }))
    const again = await untilRequest(stream)
    await c.send(post({ jsonrpc: '2.0', id: again, error: { code: -1, message: 'no user' } }))
    await stream.end()
  }),
  within("the client's model is asked", async (c, { post }) => {
    const stream = await c.open(post(call('ask_model')))
    const id = await untilRequest(stream)
    const content = { type: 'text', text: 'hello' }
    await c.send(post({ jsonrpc: '2.0', id, result: { role: 'assistant', model: 'm', content } }))
    await stream.end()
  }),
  within('a call that waits for the user is cancelled', async (c, { post }) => {
    const stream = await c.open(post(call('ask_name', {}, 7)))
    await untilRequest(stream)
    await c.send(post(notification('notifications/cancelled', { requestId: 7 })))
    await stream.end()
  }),
  {
    title: 'a client without capabilities cannot be asked',
    async run(c) {
      const { headers } = await c.sendUnrecorded(initialize(version, 1, { capabilities: {} }))
      const own = { ...both, 'mcp-session-id': String(headers['mcp-session-id']) }
      await c.send({ path: '/mcp', headers: own, body: call('ask_name') })
    },
  },
  within('a tool that supports tasks runs to its end', async (c, { post }) => {
    const stream = await c.open(post(call('long_job', {}, 1, meta)))
    await c.untilWaiting(1)
    await c.release()
    await stream.end()
  }),
  posts('task methods are unknown', rpc('tasks/get', { taskId: 'absent' })),
]

const methods: readonly Case[] = [
  within('tools/list in pages', async (c, { post }) => {
    const { json } = await c.sendUnrecorded(post(rpc('tools/list'), { accept: 'application/json' }))
    await c.send(post(rpc('tools/list', { cursor: json.result.nextCursor })))
    await c.send(post(rpc('tools/list', { cursor: 'not-a-cursor' }, 2)))
  }),
  posts(
    'resources',
    rpc('resources/list'),
    rpc('resources/templates/list'),
    rpc('resources/read', { uri: 'sample://notes/a' }),
  ),
  posts(
    'prompts',
    rpc('prompts/list'),
    rpc('prompts/get', { name: 'Sample__greet', arguments: { who: 'Ada' } }),
    rpc('prompts/get', { name: 'Sample__absent' }),
  ),
  posts(
    'completion',
    rpc('completion/complete', {
      ref: { type: 'ref/prompt', name: 'Sample__greet' },
      argument: { name: 'who', value: 'A' },
    }),
  ),
  within('resource subscriptions', async (c, { get, post }) => {
    const stream = await c.open(get())
    await c.send(post(rpc('resources/subscribe', { uri: 'sample://notes/a' })))
    await c.send(post(rpc('resources/subscribe', { uri: 'absent://notes' }, 2)))
    await c.send(post(call('write_note', { text: 'first' }, 3)))
    await untilMethod(stream, 'notifications/resources/updated')
    await c.send(post(rpc('resources/unsubscribe', { uri: 'sample://notes/a' }, 4)))
    await c.send(post(call('write_note', { text: 'first' }, 5)))
    await c.toggleExtra()
    await untilMethod(stream, 'notifications/tools/list_changed')
    await c.toggleExtra()
  }),
]

const resumption: readonly Case[] = [
  within('a call is resumed with Last-Event-ID', async (c, { get, post }) => {
    const stream = await c.open(post(call('wait', { steps: 2 }, 1, meta)))
    const { id = '' } = await stream.next()
    await stream.next()
    await c.untilWaiting(1)
    stream.close()
    c.note('the connection of the stream breaks')
    await c.release()
    const resumed = await c.open(get({ 'last-event-id': id }))
    while ((await resumed.next()).json?.result === undefined);
  }),
  within('the GET stream is resumed with Last-Event-ID', async (c, { get }) => {
    const stream = await c.open(get())
    await c.toggleExtra()
    const { id = '' } = await stream.next()
    stream.close()
    c.note('the connection of the stream breaks')
    await c.toggleExtra()
    const resumed = await c.open(get({ 'last-event-id': id }))
    await untilMethod(resumed, 'notifications/tools/list_changed')
  }),
  within('a change before the first GET is delivered on it', async (c, { get }) => {
    await c.toggleExtra()
    await c.toggleExtra()
    const stream = await c.open(get())
    await untilMethod(stream, 'notifications/tools/list_changed')
  }),
  within('an unknown event of the GET stream opens a new stream', async (c, { get }) => {
    const stream = await c.open(get({ 'last-event-id': '00000000-0000-4000-8000-000000000000-1' }))
    await c.toggleExtra()
    await untilMethod(stream, 'notifications/tools/list_changed')
    await c.toggleExtra()
  }),
  within('an unknown event of a call is rejected', (c, { get }) =>
    c.send(get({ 'last-event-id': '00000000-0000-4000-8000-000000000000-a1' })),
  ),
  within('a second GET stream is rejected', async (c, { get }) => {
    await c.open(get())
    await c.send(get())
  }),
  within('GET without Accept is rejected', (c, { get }) => c.send(get({ accept: 'application/json' }))),
]

export const sessionRoute: Route = {
  name: 'session-2025-11-25',
  cases: [
    ...basicCases(version),
    ...handshakes,
    ...calls,
    ...methods,
    ...resumption,
    ...rejected({ path: '/mcp', headers: { ...json, accept: both.accept }, body: initialize(version).body }),
  ],
}

export const olderSessionRoutes: readonly Route[] = ['2025-03-26', '2024-11-05'].map((name) => ({
  name: `session-${name}`,
  cases: basicCases(name),
}))
