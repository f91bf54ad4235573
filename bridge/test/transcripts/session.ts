import type { Backend, Got } from '../backend.ts'
import { initializeParams } from '../client.ts'
import { type Case, notification, request } from '../transcript.ts'

/** Makes the backend open sessions `s1`, `s2`, … and answer 404 to requests of all but the last one. */
function startSessions(backend: Backend): { lose: () => void } {
  let count = 0
  let current = ''
  backend.on('initialize', (got) => {
    current = `s${++count}`
    got.result(
      {
        protocolVersion: '2025-11-25',
        capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
        serverInfo: { name: 'backend', version: '1' },
      },
      { 'mcp-session-id': current },
    )
  })
  const check = (got: Got): void => {
    if (got.headers['mcp-session-id'] !== current) got.status(404)
    else if (got.message.id === undefined) got.status(202)
    else got.result({ echo: got.message.method })
  }
  for (const method of [
    'notifications/initialized',
    'ping',
    'tools/list',
    'tools/call',
    'logging/setLevel',
    'resources/subscribe',
  ])
    backend.on(method, check)
  return {
    lose: () => {
      current = 'lost'
    },
  }
}

/** The handshake, the GET stream, lost sessions and restarts. */
export const session: readonly Case[] = [
  {
    name: 'messages sent directly after initialize wait for its result',
    async run(client) {
      client.send(
        request(1, 'initialize', initializeParams),
        notification('notifications/initialized'),
        request(2, 'tools/list'),
      )
      await client.answer(2)
    },
  },
  {
    name: 'a rejected initialize',
    server: (backend) =>
      backend.on('initialize', (got) =>
        got.json({ jsonrpc: '2.0', id: got.message.id, error: { code: -32602, message: 'no' } }),
      ),
    async run(client) {
      await client.call(1, 'initialize', initializeParams)
      await client.call(2, 'ping')
    },
    isTransparent: false,
  },
  {
    name: 'notifications and requests of the GET stream',
    server: (backend) => backend.on('GET', () => {}),
    async run(client, backend) {
      await client.open()
      const stream = (await backend.saw('GET')).stream()
      stream.send(notification('notifications/tools/list_changed'))
      stream.send(notification('notifications/resources/updated', { uri: 'a:1' }))
      await client.saw('notifications/resources/updated')
      stream.send(request(0, 'roots/list'))
      const { id } = await client.saw('roots/list')
      client.send({ jsonrpc: '2.0', id, result: { roots: [] } })
      await backend.saw('response')
    },
  },
  {
    name: 'a GET stream that breaks is resumed at its last event',
    server: (backend) => backend.on('GET', () => {}),
    async run(client, backend) {
      await client.open()
      const first = (await backend.saw('GET')).stream()
      first.raw('retry: 10\n')
      first.send(notification('notifications/one'), 'id: event-1\n')
      await client.saw('notifications/one')
      first.break()
      const second = await backend.saw('GET', ({ headers }) => headers['last-event-id'] === 'event-1')
      second.stream().send(notification('notifications/two'))
      await client.saw('notifications/two')
    },
  },
  {
    name: 'a lost session is renewed with the log level, the subscriptions and the lost call',
    server: (backend) => Object.assign(backend, { sessions: startSessions(backend) }),
    async run(client, backend) {
      await client.open()
      await client.call(1, 'logging/setLevel', { level: 'error' })
      await client.call(2, 'resources/subscribe', { uri: 'a:1' })
      ;(backend as Backend & { sessions: { lose: () => void } }).sessions.lose()
      await client.call(3, 'tools/list')
      await client.saw('notifications/tools/list_changed')
      await client.call(4, 'ping')
    },
    isTransparent: false,
  },
  {
    name: 'a server that was restarted',
    async run(client, backend) {
      await client.open()
      await client.call(1, 'ping')
      await backend.stop()
      await backend.start()
      await client.call(2, 'ping')
    },
  },
  {
    name: 'a session is deleted at the end',
    async run(client, backend) {
      await client.open()
      await backend.saw('GET')
      client.end()
      await backend.saw('DELETE')
    },
  },
]
