/** `/sse` and `/messages`: the transport of MCP 2024-11-05. */
import { type Case, type Conversation, type Route, sends } from '../conversation.ts'
import { call, json, notification, rejected, rpc } from '../messages.ts'
import type { EventStream, Sent } from '../transcript.ts'

interface Connection {
  readonly stream: EventStream
  readonly post: (body: unknown, more?: Readonly<Record<string, string>>) => Sent
}

/** Opens the event stream; returns requests to its endpoint. */
async function connect(c: Conversation, path = '/sse'): Promise<Connection> {
  const stream = await c.open({ method: 'GET', path, headers: { accept: 'text/event-stream' } })
  const { lines } = await stream.next()
  const endpoint = lines.find((line) => line.startsWith('data: '))?.slice('data: '.length) ?? ''
  return { stream, post: (body, more = {}) => ({ path: endpoint, headers: { ...json, ...more }, body }) }
}

const initialize = rpc(
  'initialize',
  {
    protocolVersion: '2024-11-05',
    capabilities: { sampling: {} },
    clientInfo: { name: 'transcript', version: '1' },
  },
  'init',
)

const within = (title: string, run: (c: Conversation, connection: Connection) => Promise<unknown>): Case => ({
  title,
  async run(c) {
    const connection = await connect(c)
    await c.send(connection.post(initialize))
    await connection.stream.next()
    await c.send(connection.post(notification('notifications/initialized')))
    await run(c, connection)
  },
})

/** Posts each message and reads one event for each. */
const exchanges = (title: string, ...messages: readonly unknown[]): Case =>
  within(title, async (c, { stream, post }) => {
    for (const message of messages) {
      await c.send(post(message))
      await stream.next()
    }
  })

export const sseRoute: Route = {
  name: 'sse',
  cases: [
    exchanges('tools/call succeeds', call('echo', { text: 'hello' })),
    exchanges('failures of a tool', call('fail', { how: 'error' }), call('fail', { how: 'defect' }, 2)),
    exchanges('arguments that do not fit', call('echo', { text: 1, unknown: true })),
    exchanges('an unknown tool and an unknown method', call('ecko'), rpc('tools/destroy', {}, 2)),
    exchanges('tools/list', rpc('tools/list')),
    exchanges(
      'resources',
      rpc('resources/list'),
      rpc('resources/read', { uri: 'sample://notes/a' }, 2),
      rpc('resources/read', { uri: 'sample://notes/absent' }, 3),
    ),
    exchanges(
      'prompts and completion',
      rpc('prompts/get', { name: 'Sample__greet', arguments: { who: 'Ada' } }),
      rpc(
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'Sample__greet' }, argument: { name: 'who', value: 'A' } },
        2,
      ),
    ),
    exchanges('client state belongs to the stream', call('count'), call('count', {}, 2)),
    exchanges('malformed initialize', rpc('initialize', { protocolVersion: 3 }, 2)),
    within('client state by Causeway-Session', async (c, { stream, post }) => {
      await c.send(post(call('count'), { 'causeway-session': 'sse-a' }))
      await stream.next()
    }),
    within('log messages', async (c, { stream, post }) => {
      await c.send(post(rpc('logging/setLevel', { level: 'warning' })))
      await stream.next()
      await c.send(post(call('log', {}, 2)))
      await stream.next()
      await stream.next()
    }),
    within('progress', async (c, { stream, post }) => {
      await c.send(post(call('wait', { steps: 2 }, 1, { _meta: { progressToken: 'p' } })))
      await stream.next()
      await stream.next()
      await c.untilWaiting(1)
      await c.release()
      await stream.next()
    }),
    within('a cancelled call is not answered', async (c, { stream, post }) => {
      await c.send(post(call('wait', { steps: 0 }, 7)))
      await c.untilWaiting(1)
      await c.send(post(notification('notifications/cancelled', { requestId: 7 })))
      await c.untilWaiting(0)
      await c.send(post(rpc('ping', {}, 8)))
      await stream.next()
    }),
    within('closing the stream cancels its calls', async (c, { stream, post }) => {
      await c.send(post(call('wait', { steps: 0 }, 7)))
      await c.untilWaiting(1)
      stream.close()
      c.note('the client closes the stream')
      await c.untilWaiting(0)
      await c.send(post(rpc('ping', {}, 8)))
    }),
    within("the client's model is asked", async (c, { stream, post }) => {
      await c.send(post(call('ask_model')))
      const { json } = await stream.next()
      const content = { type: 'text', text: 'hello' }
      await c.send(post({ jsonrpc: '2.0', id: json.id, result: { role: 'assistant', model: 'm', content } }))
      await stream.next()
    }),
    exchanges('a client that cannot be asked', call('ask_name')),
    within('list_changed and resource subscriptions', async (c, { stream, post }) => {
      await c.toggleExtra()
      await stream.next()
      await c.toggleExtra()
      await stream.next()
      await c.send(post(rpc('resources/subscribe', { uri: 'sample://notes/a' })))
      await stream.next()
      await c.send({ path: '/api/apps/sample/tools/write_note', headers: json, body: { text: 'first' } })
      await stream.next()
    }),
    within('an array of messages', async (c, { stream, post }) => {
      await c.send(post([rpc('ping', {}, 1), rpc('ping', {}, 2)]))
      await stream.next()
      await stream.next()
    }),
    within('bodies that are not messages', async (c, { post }) => {
      for (const body of [{ id: 1 }, [], 'text', [{ jsonrpc: '2.0', id: 1, method: 'ping' }, 3]])
        await c.send(post(body))
    }),
    {
      title: 'a request before initialize',
      async run(c) {
        const { stream, post } = await connect(c)
        await c.send(post(rpc('tools/list', { cursor: 'not-a-cursor' })))
        await stream.next()
      },
    },
    {
      title: "the app's own mount",
      async run(c) {
        const { stream, post } = await connect(c, '/sse/sample')
        await c.send(post(initialize))
        await stream.next()
        await c.send(post(rpc('tools/call', { name: 'echo', arguments: { text: 'hello' } })))
        await stream.next()
      },
    },
    sends('an app that is not served', { method: 'GET', path: '/sse/absent' }),
    sends(
      'other HTTP methods',
      { path: '/sse', headers: json, body: {} },
      { method: 'GET', path: '/messages' },
    ),
    sends(
      'an unknown sessionId',
      { path: '/messages?sessionId=absent', headers: json, body: rpc('ping') },
      { path: '/messages', headers: json, body: rpc('ping') },
    ),
    ...rejected({ path: '/messages?sessionId=absent', headers: json, body: rpc('ping') }),
  ],
}
