import { initializeParams, modern } from '../client.ts'
import { type Case, notification, request } from '../transcript.ts'

export const framing: readonly Case[] = [
  {
    name: 'a handshake, a call and the end of input',
    async run(client) {
      await client.open()
      await client.call(1, 'tools/call', { name: 'x', arguments: { text: 'é"\\\n' } })
    },
  },
  {
    name: 'a request without a handshake',
    run: (client) => client.call(1, 'tools/list'),
  },
  {
    name: 'lines that are split within a character, joined, ended by CRLF, or blank',
    async run(client, backend) {
      const line = Buffer.from(`${JSON.stringify(request(1, 'echo', { text: 'ä€😀' }))}\r\n`)
      const middle = line.indexOf('😀') + 2
      client.raw(line.subarray(0, middle))
      client.raw(line.subarray(middle))
      await client.answer(1)
      client.raw(`\n  \n${JSON.stringify(request(2, 'two'))}\n`)
      await client.answer(2)
      client.raw(
        `${JSON.stringify(notification('notifications/a'))}\n${JSON.stringify(request(3, 'three'))}\n`,
      )
      await client.answer(3)
      await backend.saw('notifications/a')
    },
  },
  {
    name: 'a last line without a newline',
    async run(client) {
      client.raw(JSON.stringify(request(1, 'last')))
      client.end()
      await client.answer(1)
    },
  },
  {
    name: 'values that are not requests',
    async run(client) {
      for (const line of [
        '42',
        '"text"',
        '[]',
        'null',
        '{"id":5,"method":"no/version"}',
        '{"jsonrpc":"2.0"}',
      ])
        client.raw(`${line}\n`)
      client.raw('{"jsonrpc":"2.0","id":null,"method":"ping"}\n{"jsonrpc":"2.0","id":{},"method":"ping"}\n')
      await client.call(1, 'ping')
    },
  },
  {
    name: 'lines that are not JSON',
    async run(client) {
      client.raw('{"jsonrpc":"2.0","id":1,\n')
      client.raw(Buffer.from([0xff, 0x00, 0xfe, 0x0a]))
      client.raw('not JSON\n')
      await client.call(2, 'ping')
    },
  },
  {
    name: 'ids of every type and form',
    server: (backend) =>
      backend.on('echo', (got) => {
        const id = /"id":("[^"]*"|[^,]+),/.exec(got.text)?.[1]
        got.response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(`{"jsonrpc":"2.0","id":${id},"result":{}}`)
      }),
    async run(client) {
      for (const id of ['0', '-1', '"1"', '""', '"é"', '1.5', '9007199254740993', '1e3', '"a b"']) {
        const count = client.lines.length
        client.raw(`{"jsonrpc":"2.0","id":${id},"method":"echo"}\n`)
        await client.messages.first('one more line', () => client.lines.length > count)
      }
    },
  },
  {
    name: 'a batch to a server of 2025-03-26',
    server: (backend) => {
      backend.on('initialize', (got) =>
        got.result(
          { protocolVersion: '2025-03-26', capabilities: {}, serverInfo: { name: 'b', version: '1' } },
          { 'mcp-session-id': 's1' },
        ),
      )
      backend.on('batch', (got) =>
        got.json(
          got.message
            .filter(({ id }: { id?: unknown }) => id !== undefined)
            .map(({ id }: { id: unknown }) => ({ jsonrpc: '2.0', id, result: {} })),
        ),
      )
    },
    async run(client) {
      client.send(request('open', 'initialize', { ...initializeParams, protocolVersion: '2025-03-26' }))
      await client.answer('open')
      client.send([request(1, 'ping'), notification('notifications/a'), request(2, 'tools/list')])
      await client.messages.first(
        'both answers',
        () => client.lines.length === 2 || client.lines.length === 3,
      )
    },
    isTransparent: false,
  },
  {
    name: 'a batch to a newer server is split',
    async run(client, backend) {
      await client.open()
      client.send([request(1, 'ping')])
      await client.answer(1)
      client.send([notification('notifications/a')])
      await backend.saw('notifications/a')
      client.send([])
      await client.call(2, 'ping')
    },
  },
  {
    name: 'a large request and a large response',
    server: (backend) => backend.on('echo', (got) => got.result({ text: got.message.params.text })),
    run: (client) => client.call(1, 'echo', { text: 'x'.repeat(3_000_000) }),
  },
  {
    name: 'a response that is longer than --max-line',
    args: ['--max-line', '500'],
    server: (backend) => {
      backend.on('tools/call', (got) => got.result({ content: [{ type: 'text', text: 'y'.repeat(1000) }] }))
      backend.on('resources/read', (got) => got.result({ contents: ['z'.repeat(1000)] }))
    },
    async run(client) {
      await client.call(1, 'tools/call', { name: 'x' })
      await client.call(2, 'resources/read', { uri: 'a:1' })
    },
  },
  {
    name: 'a pretty-printed response becomes one line',
    server: (backend) =>
      backend.on('ping', (got) => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: got.message.id, result: { text: 'a\nb' } }, null, 2)
        got.response.writeHead(200, { 'content-type': 'application/json' }).end(body.replaceAll('\n', '\r\n'))
      }),
    run: (client) => client.call(1, 'ping'),
  },
  {
    name: 'stateless requests with names outside ASCII',
    async run(client) {
      await client.call(1, 'server/discover', modern)
      await client.call(2, 'tools/list', { ...modern, cursor: 'c' })
      await client.call(3, 'tools/call', { ...modern, name: 'Café', arguments: {} })
      await client.call(4, 'resources/read', { ...modern, uri: 'file:///a b' })
      await client.call(5, 'prompts/get', { ...modern, name: 'p' })
      client.send(notification('notifications/cancelled', { ...modern, requestId: 99 }))
      await client.call(6, 'tools/list', modern)
    },
  },
  {
    name: 'arguments that the tool list mirrors into headers',
    server: (backend) =>
      backend.on('tools/list', (got) =>
        got.result({
          tools: [
            {
              name: 'x',
              inputSchema: {
                type: 'object',
                properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, n: { type: 'number' } },
              },
            },
          ],
        }),
      ),
    async run(client) {
      await client.call(1, 'tools/list', modern)
      await client.call(2, 'tools/call', { ...modern, name: 'x', arguments: { region: 'eu', n: 1 } })
      await client.call(3, 'tools/call', { ...modern, name: 'x', arguments: { region: 'Café' } })
    },
    isTransparent: false,
  },
]
