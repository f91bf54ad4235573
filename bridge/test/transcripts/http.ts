import { modern } from '../client.ts'
import { type Case, notification, request, streamResult } from '../transcript.ts'

/** The statuses that the bridge maps to an error without a retry. */
const statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 418, 500, 501]

/** Statuses, content types, event streams and headers of HTTP responses. */
export const http: readonly Case[] = [
  {
    name: 'each failed status becomes an error with a remedy',
    server: (backend) =>
      backend.on('ping', (got) =>
        got.status(got.message.id, `body of ${got.message.id}`, { 'content-type': 'text/plain' }),
      ),
    async run(client) {
      for (const status of statuses) await client.call(status, 'ping')
    },
  },
  {
    name: 'each failed status of a tool call is an error result',
    server: (backend) => backend.on('tools/call', (got) => got.status(got.message.id, 'no')),
    async run(client) {
      for (const status of [400, 401, 404, 413, 500]) await client.call(status, 'tools/call', { name: 'x' })
    },
  },
  {
    name: 'a call to a busy server is retried within --wait',
    args: ['--wait', '100'],
    server: (backend) => backend.on('ping', (got) => got.status(503, 'busy', { 'retry-after': '60' })),
    run: (client) => client.call(1, 'ping'),
  },
  {
    name: 'too many requests',
    args: ['--wait', '100'],
    server: (backend) => backend.on('tools/call', (got) => got.status(429, '', { 'retry-after': '30' })),
    run: (client) => client.call(1, 'tools/call', { name: 'x' }),
  },
  {
    name: 'a JSON-RPC error in a failed response is forwarded',
    server: (backend) =>
      backend.on('ping', (got) =>
        got.json(
          { jsonrpc: '2.0', id: got.message.id, error: { code: -32020, message: 'm', data: { a: 1 } } },
          { status: 400 },
        ),
      ),
    run: (client) => client.call(1, 'ping'),
  },
  {
    name: 'an HTML page is not forwarded',
    server: (backend) =>
      backend.on('ping', (got) =>
        got.status(500, '<!doctype html><title>Error</title>', { 'content-type': 'text/html' }),
      ),
    run: (client) => client.call(1, 'ping'),
  },
  {
    name: 'successful responses that do not answer the call',
    server: (backend) => {
      backend.on('empty', (got) => got.status(200))
      backend.on('text', (got) => got.status(200, 'hello', { 'content-type': 'text/plain' }))
      backend.on('invalid', (got) => got.status(200, '{"jsonrpc":', { 'content-type': 'application/json' }))
      backend.on('other-id', (got) => got.json({ jsonrpc: '2.0', id: 77, result: {} }))
      backend.on('no-stream-answer', (got) => {
        const stream = got.stream()
        stream.send(notification('notifications/message', { data: 'one' }))
        stream.end()
      })
    },
    async run(client) {
      for (const method of ['empty', 'text', 'invalid', 'other-id', 'no-stream-answer'])
        await client.call(method, method)
    },
  },
  {
    name: 'a redirect to the same server is followed once, a redirect to another server is not',
    server: (backend) => {
      backend.on('here', (got) =>
        got.path === '/mcp' ? got.status(307, '', { location: '/other' }) : got.result({ path: got.path }),
      )
      backend.on('away', (got) => got.status(308, '', { location: 'http://127.0.0.1:1/mcp' }))
    },
    async run(client) {
      await client.call(1, 'here')
      await client.call(2, 'away')
    },
  },
  {
    name: 'an event stream with every form of line end, comments and data of several lines',
    server: (backend) =>
      backend.on('tools/call', (got) => {
        const stream = got.stream()
        stream.raw('\uFEFF: comment\r\n\r\nid: e1\r\ndata:\r\n\r\n')
        stream.raw('event: message\rdata: {"jsonrpc":"2.0",\rdata: "method":"notifications/message",\r')
        stream.raw('data: "params":{"data":"ä"}}\r\r')
        stream.raw(Buffer.from(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} })}\n\n`))
        stream.end()
      }),
    run: (client) => client.call(1, 'tools/call', { name: 'x' }),
  },
  {
    name: 'progress and log messages before the result of a call',
    server: (backend) =>
      backend.on('tools/call', (got) =>
        streamResult(
          got,
          [
            notification('notifications/progress', { progressToken: 7, progress: 1, total: 2 }),
            notification('notifications/message', { level: 'info', data: 'half' }),
            notification('notifications/progress', { progressToken: 7, progress: 2, total: 2 }),
          ],
          { content: [] },
        ),
      ),
    async run(client) {
      await client.open()
      await client.call(1, 'tools/call', { name: 'x', _meta: { progressToken: 7 } })
      await client.call(2, 'tools/call', { ...modern, name: 'x' })
    },
  },
  {
    name: 'configured headers',
    args: ['--header', 'X-Team: physics', '--header', 'Authorization: Bearer secret'],
    async run(client) {
      await client.open()
      await client.call(1, 'ping')
    },
  },
  {
    name: 'the path of one app',
    args: ['--app', 'replay'],
    run: (client) => client.call(1, 'ping'),
  },
  {
    name: 'requests that the server sends on the stream of a call',
    server: (backend) =>
      backend.on('tools/call', async (got) => {
        const stream = got.stream()
        stream.send(request('q', 'elicitation/create', { message: 'which?' }))
        const { message } = await backend.saw('response')
        stream.send({ jsonrpc: '2.0', id: got.message.id, result: { answer: message.result } })
        stream.end()
      }),
    async run(client) {
      await client.open()
      client.send(request(1, 'tools/call', { name: 'x' }))
      const { id } = await client.saw('elicitation/create')
      client.send({ jsonrpc: '2.0', id, result: { action: 'accept', content: { a: 1 } } })
      await client.answer(1)
    },
  },
]
