/** Every route of a server that requires tokens. */
import { until } from '../../e2e/condition.ts'
import { type Case, type Route, sends } from '../conversation.ts'
import { both, call, json, rpc, stateless } from '../messages.ts'
import type { Sent } from '../transcript.ts'

/** The token file. `reader` may read the sample app, `guest` may read another one, `writer` may do everything. */
export const tokenFile = `reader-secret-0123456789abcdef reader sample:read
guest-secret-0123456789abcdef guest causeway:read
writer-secret-0123456789abcdef writer
`
export const writerToken = 'writer-secret-0123456789abcdef'

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const reader = bearer('reader-secret-0123456789abcdef')
const writer = bearer(writerToken)

const initialize: Sent = {
  path: '/mcp',
  headers: both,
  body: rpc('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 't', version: '1' },
  }),
}

/** A valid request of each route. */
const requests: Readonly<Record<string, Sent>> = {
  stateless: stateless(call('count')),
  session: initialize,
  lenient: { path: '/mcp', headers: json, body: call('count') },
  sse: { method: 'GET', path: '/sse/absent' },
  messages: { path: '/messages?sessionId=absent', headers: json, body: rpc('ping') },
  rest: { path: '/api/apps/sample/tools/count', headers: json, body: {} },
  'app route': { path: '/api/apps/sample/notes/a', headers: json, body: {} },
  health: { method: 'GET', path: '/health/sample' },
  registry: { path: '/api/registry/refresh', headers: json, body: {} },
}

const withHeaders = (sent: Sent, headers: Readonly<Record<string, string>>): Sent => ({
  ...sent,
  headers: { ...sent.headers, ...headers },
})

const perRoute = Object.entries(requests).map(([name, sent]) =>
  sends(
    `${name}: no token, an unknown token, a token without the scope, a valid token`,
    sent,
    withHeaders(sent, bearer('unknown')),
    withHeaders(sent, reader),
    withHeaders(sent, writer),
  ),
)

const sockets: Case = {
  title: 'websocket: no token, a token without the scope, a valid token',
  async run(c) {
    await c.connect('/api/apps/sample/')
    await c.connect('/api/apps/sample/', reader)
    const socket = await c.connect('/api/apps/sample/', writer)
    await socket.next()
  },
}

const owners: Case = {
  title: 'a session belongs to its token',
  async run(c) {
    const { headers } = await c.send(withHeaders(initialize, writer))
    const own = { 'mcp-session-id': String(headers['mcp-session-id']) }
    const ping: Sent = { path: '/mcp', headers: { ...both, ...own }, body: rpc('ping') }
    await c.send(withHeaders(ping, writer))
    await c.send(withHeaders(ping, reader))
    await c.send({ method: 'GET', path: '/mcp', headers: { accept: 'text/event-stream', ...own, ...reader } })
    await c.send({ method: 'DELETE', path: '/mcp', headers: { ...own, ...reader } })
  },
}

const tasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } }

const taskOwner: Case = {
  title: 'a task belongs to its token',
  async run(c) {
    const created = await c.send(withHeaders(stateless(call('long_job'), { capabilities: tasks }), writer))
    await c.untilWaiting(1)
    const get = stateless(rpc('tasks/get', { taskId: created.json.result.taskId }), { capabilities: tasks })
    await c.send(withHeaders(get, reader))
    await c.release()
    await until(
      () => c.sendUnrecorded(withHeaders(get, writer)),
      ({ json }) => json.result.status === 'completed',
    )
  },
}

export const tokenRoute: Route = {
  name: 'tokens',
  cases: [
    ...perRoute,
    sockets,
    owners,
    taskOwner,
    sends(
      'a foreign Origin with a token',
      withHeaders(requests.rest as Sent, { ...writer, origin: 'http://page.example' }),
    ),
    sends(
      'a foreign Origin with an unknown token',
      withHeaders(requests.rest as Sent, { ...bearer('unknown'), origin: 'http://page.example' }),
    ),
    sends('malformed credentials', withHeaders(requests.rest as Sent, { authorization: 'Basic d3JpdGVy' })),
    sends(
      'a subscription outside the scopes',
      withHeaders(
        stateless(
          rpc('subscriptions/listen', { notifications: { resourceSubscriptions: ['sample://notes/a'] } }),
        ),
        bearer('guest-secret-0123456789abcdef'),
      ),
    ),
    sends('lists show the apps of the token', withHeaders(stateless(rpc('prompts/list')), reader)),
  ],
}
