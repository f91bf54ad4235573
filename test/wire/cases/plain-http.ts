/** Plain HTTP: tools, the apps' own routes and WebSockets, and what operators read. */
import { Readable } from 'node:stream'
import { type Case, type Route, sends } from '../conversation.ts'
import { json, rejected } from '../messages.ts'
import type { Sent } from '../transcript.ts'

const tools = '/api/apps/sample/tools'
const get = (path: string, headers: Readonly<Record<string, string>> = {}): Sent => ({
  method: 'GET',
  path,
  headers,
})
const callTool = (
  tool: string,
  body: unknown = {},
  headers: Readonly<Record<string, string>> = {},
): Sent => ({
  path: `${tools}/${tool}`,
  headers: { ...json, ...headers },
  body,
})

export const restRoute: Route = {
  name: 'rest',
  cases: [
    sends('the list of apps', get('/api/apps')),
    sends('one app', get('/api/apps/sample'), get('/api/apps/absent')),
    sends('a tool', callTool('echo', { text: 'hello' })),
    sends('a tool by its alias', callTool('sample.echo', { text: 'hello' })),
    sends('a tool without a body', { path: `${tools}/count`, headers: { 'causeway-session': 'rest-none' } }),
    sends(
      'client state',
      callTool('count', {}, { 'causeway-session': 'rest-a' }),
      callTool('count', {}, { 'causeway-session': 'rest-a' }),
    ),
    sends(
      'failures',
      callTool('fail', { how: 'error' }),
      callTool('fail', { how: 'defect' }),
      callTool('fail', { how: 'output' }),
    ),
    sends('arguments that do not fit', callTool('echo', { text: 1, unknown: true }), callTool('echo', [])),
    sends('an unknown tool', callTool('ecko')),
    sends('a tool that would ask the user', callTool('ask_name')),
    sends('a tool that requires tasks is called directly', callTool('picture')),
    sends('a deadline', callTool('wait', { steps: 0 }, { 'causeway-deadline': '50' })),
    {
      title: 'closing the connection cancels the call',
      async run(c) {
        await c.hangUp(callTool('wait', { steps: 0 }), () => c.untilWaiting(1))
        await c.untilWaiting(0)
      },
    },
    sends('other HTTP methods', get(`${tools}/echo`), { method: 'DELETE', path: '/api/apps' }),
    sends('the registry is refreshed', { path: '/api/registry/refresh', headers: json, body: {} }),
    ...rejected(callTool('echo', { text: 'hello' })),
  ],
}

const notes = '/api/apps/sample/notes/a'
const lines = { 'content-type': 'application/x-ndjson' }

export const appRoute: Route = {
  name: 'app-route',
  cases: [
    sends('GET', get(`${notes}?x=1`)),
    sends('POST', { path: notes, headers: json, body: { text: 'hello' } }),
    sends('a variable is decoded', get('/api/apps/sample/notes/a%20b'), get('/api/apps/sample/notes/%ff')),
    sends('client state', { path: notes, headers: { ...json, 'causeway-session': 'route-a' }, body: {} }),
    {
      title: 'a body that is streamed in both directions',
      run: (c) =>
        c.send({
          method: 'PUT',
          path: '/api/apps/sample/lines/a',
          headers: lines,
          body: Readable.from(['{"a":1}\n', '{"a":2}\n']),
          shownBody: '(chunked)\n{"a":1}\n{"a":2}',
        }),
    },
    sends('a streamed body may be larger than the limit', {
      method: 'PUT',
      path: '/api/apps/sample/lines/a',
      headers: lines,
      body: 'x'.repeat(100_000),
    }),
    sends('a body without a type is accepted from programs', {
      method: 'PUT',
      path: '/api/apps/sample/lines/a',
      body: 'a',
    }),
    sends('a body without a type is rejected from pages', {
      method: 'PUT',
      path: '/api/apps/sample/lines/a',
      headers: { 'sec-fetch-site': 'same-origin' },
      body: 'a',
    }),
    sends('failures', get('/api/apps/sample/failure/error'), get('/api/apps/sample/failure/defect')),
    {
      title: 'an event stream',
      async run(c) {
        const stream = await c.open(get('/api/apps/sample/events'))
        await stream.next()
      },
    },
    sends('an unknown route', get('/api/apps/sample/absent'), { method: 'DELETE', path: notes }),
    ...rejected({ path: notes, headers: json, body: { text: 'hello' } }),
  ],
}

const socketPath = '/api/apps/sample/'

/** A connection to the app's socket that receives the greeting and then one message for each frame. */
const exchanges = (
  title: string,
  frames: readonly (string | Buffer)[],
  headers: Readonly<Record<string, string>> = {},
): Case => ({
  title,
  async run(c) {
    const socket = await c.connect(socketPath, headers)
    await socket.next()
    for (const frame of frames) {
      socket.send(frame)
      await socket.next()
    }
  },
})

const sockets: readonly Case[] = [
  exchanges('frames are answered in order', ['hello', 'count', 'count']),
  exchanges('failures keep the connection open', ['error', 'defect', 'hello']),
  exchanges('the app closes the connection', ['close']),
  exchanges('client state by Causeway-Session', ['count'], { 'causeway-session': 'socket-a' }),
  {
    title: 'a variable of the path',
    async run(c) {
      const socket = await c.connect('/api/apps/sample/rooms/a%20b')
      socket.send('which')
      await socket.next()
    },
  },
  exchanges('binary frames are rejected', [Buffer.from([1, 2])]),
  exchanges('a frame over the limit closes the connection', [Buffer.alloc(70_000)]),
]

const refused = (title: string, path: string, headers: Readonly<Record<string, string>> = {}): Case => ({
  title,
  run: (c) => c.connect(path, headers),
})

export const socketRoute: Route = {
  name: 'websocket',
  cases: [
    ...sockets,
    refused('an unknown path', '/api/apps/sample/absent'),
    refused('an unknown app', '/api/apps/absent/'),
    refused('a foreign Host is rejected', socketPath, { host: 'attacker.example' }),
    refused('a foreign Origin is rejected', socketPath, { origin: 'http://attacker.example' }),
    refused('a malformed Causeway-Session is rejected', socketPath, { 'causeway-session': 'a b' }),
    refused('an unknown WebSocket version is rejected', socketPath, { 'sec-websocket-version': '7' }),
    sends('other protocols are not upgraded', get('/api/apps', { upgrade: 'h2c', connection: 'upgrade' })),
  ],
}

export const operationsRoute: Route = {
  name: 'operations',
  cases: [
    sends('health', get('/health'), get('/health/sample'), get('/health/absent')),
    sends('openapi.json', get('/openapi.json')),
    sends('an unknown path', get('/absent'), { path: '/', headers: json, body: {} }, get('/%ff')),
    sends(
      'other HTTP methods',
      { path: '/health', headers: json, body: {} },
      { method: 'DELETE', path: '/openapi.json' },
    ),
    sends(
      'preflight',
      {
        method: 'OPTIONS',
        path: '/mcp',
        headers: {
          origin: 'http://tool.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'content-type, mcp-protocol-version',
        },
      },
      {
        method: 'OPTIONS',
        path: '/mcp',
        headers: { origin: 'http://attacker.example', 'access-control-request-method': 'POST' },
      },
    ),
    ...rejected(get('/api/apps')),
  ],
}
