/** `/mcp` for scripts: JSON without handshake, session or `Accept`. */
import { type Case, type Route, sends } from '../conversation.ts'
import { call, json, notification, rejected, rpc } from '../messages.ts'
import type { Sent } from '../transcript.ts'

const post = (body: unknown, headers: Readonly<Record<string, string>> = {}): Sent => ({
  path: '/mcp',
  headers: { ...json, ...headers },
  body,
})

const posts = (title: string, ...bodies: readonly unknown[]): Case =>
  sends(title, ...bodies.map((body) => post(body)))

export const lenientRoute: Route = {
  name: 'lenient',
  cases: [
    posts(
      'initialize',
      rpc('initialize'),
      rpc('initialize', { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'curl' } }),
      rpc('initialize', { protocolVersion: 3 }),
      rpc('initialize', { clientInfo: { name: 3 } }),
    ),
    posts('tools/call succeeds', call('echo', { text: 'hello' }), call('echo', { text: 'hello' }, 'text-id')),
    sends("tools/call on the app's own mount", {
      ...post(rpc('tools/call', { name: 'sample.echo', arguments: { text: 'hello' } })),
      path: '/mcp/sample',
    }),
    sends(
      'client state',
      post(call('count'), { 'causeway-session': 'lenient-a' }),
      post(call('count'), { 'causeway-session': 'lenient-a' }),
    ),
    sends(
      'the client is named by its User-Agent',
      post(call('echo', { text: 'a' }), { 'user-agent': 'curl/8.5.0' }),
    ),
    sends('any Accept', post(call('echo', { text: 'a' }), { accept: 'text/html' })),
    sends(
      'a deadline',
      post(call('wait', { steps: 0 }), { 'causeway-deadline': '50' }),
      post(call('wait', { steps: 0 }, 1, { _meta: { 'causeway/deadline_ms': 50 } })),
    ),
    posts(
      'failures of a tool',
      call('fail', { how: 'error' }),
      call('fail', { how: 'defect' }),
      call('fail', { how: 'output' }),
    ),
    posts('arguments that do not fit', call('echo', { text: 1, unknown: true })),
    posts('an unknown tool and an unknown method', call('ecko'), rpc('tools/destroy')),
    posts('a tool that would ask the user', call('ask_name')),
    posts('a tool that requires tasks', rpc('tasks/get', { taskId: 'absent' })),
    posts('tools/list', rpc('tools/list')),
    {
      title: 'the second page of tools/list',
      async run(c) {
        const { json } = await c.sendUnrecorded(post(rpc('tools/list')))
        await c.send(post(rpc('tools/list', { cursor: json.result.nextCursor })))
        await c.send(post(rpc('tools/list', { cursor: 'not-a-cursor' })))
      },
    },
    posts(
      'other methods',
      rpc('ping'),
      rpc('logging/setLevel', { level: 'info' }),
      rpc('resources/list'),
      rpc('resources/templates/list'),
      rpc('prompts/list'),
    ),
    posts(
      'resources/read',
      rpc('resources/read', { uri: 'sample://notes/a' }),
      rpc('resources/read', { uri: 'sample://notes/absent' }),
    ),
    posts(
      'prompts/get',
      rpc('prompts/get', { name: 'Sample__greet', arguments: { who: 'Ada' } }),
      rpc('prompts/get', { name: 'Sample__interview' }),
    ),
    posts('resources/subscribe is unknown', rpc('resources/subscribe', { uri: 'sample://notes/a' })),
    posts(
      'arrays',
      [call('echo', { text: 'a' }, 1), rpc('ping', {}, 'two'), rpc('tools/destroy', {}, 3)],
      [notification('notifications/initialized'), { id: 4 }],
      [notification('notifications/initialized')],
      [],
    ),
    sends(
      'each call of an array has its own request id',
      post([rpc('ping', {}, 1)], { 'causeway-request': 'batch' }),
    ),
    {
      title: 'an array of too many messages',
      run: (c) =>
        c.send({
          ...post(Array.from({ length: 1001 }, (_, id) => rpc('ping', undefined, id))),
          shownBody: '(1,001 pings)',
        }),
    },
    posts('notifications and responses', notification('notifications/initialized'), {
      jsonrpc: '2.0',
      id: 1,
      result: {},
    }),
    posts(
      'messages that are not JSON-RPC',
      { method: 'ping' },
      { jsonrpc: '1.0', id: 1, method: 'ping' },
      'text',
      3,
      null,
      { jsonrpc: '2.0', id: 1.5, method: 'ping' },
    ),
    posts('ids keep their type', rpc('ping', {}, 'a'), rpc('ping', {}, 0)),
    posts('a stateless message in an array', [
      rpc('ping', { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }),
    ]),
    sends('an unsupported MCP-Protocol-Version', post(rpc('ping'), { 'mcp-protocol-version': '2023-01-01' })),
    {
      title: 'closing the connection cancels the call',
      async run(c) {
        await c.hangUp(post(call('wait', { steps: 0 })), () => c.untilWaiting(1))
        await c.untilWaiting(0)
      },
    },
    {
      title: 'a slow call is answered when it ends',
      async run(c) {
        const response = c.send(post(call('wait', { steps: 3 }, 1, { _meta: { progressToken: 'p' } })))
        await c.untilWaiting(1)
        await c.release()
        await response
      },
    },
    ...rejected(post(call('echo', { text: 'hello' }))),
  ],
}

/** The port of the sample app serves it at the root, with the error numbers of the original designs. */
export const aliasRoute: Route = {
  name: 'alias',
  cases: [
    sends('tools/call succeeds', post(rpc('tools/call', { name: 'echo', arguments: { text: 'hello' } }))),
    sends('a failure has a number', post(rpc('tools/call', { name: 'fail', arguments: { how: 'error' } }))),
    sends('a defect has no number', post(rpc('tools/call', { name: 'fail', arguments: { how: 'defect' } }))),
    sends('health', { method: 'GET', path: '/health' }),
    sends(
      "the app's own routes",
      { path: '/notes/a', headers: json, body: { a: 1 } },
      { method: 'GET', path: '/notes/a?x=1' },
    ),
    sends('tools by plain HTTP', { path: '/tools/echo', headers: json, body: { text: 'hello' } }),
    sends('an unknown path', { method: 'GET', path: '/absent' }),
    {
      title: 'the old event stream',
      async run(c) {
        const stream = await c.open({ method: 'GET', path: '/sse' })
        await stream.next()
      },
    },
    {
      title: 'a WebSocket at the root',
      async run(c) {
        const socket = await c.connect('/')
        await socket.next()
      },
    },
    ...rejected(post(rpc('ping'))),
  ],
}
