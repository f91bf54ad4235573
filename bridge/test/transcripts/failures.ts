import { initializeParams, modern } from '../client.ts'
import { type Case, notification, request } from '../transcript.ts'

/** Cancellation, broken streams and unreachable servers. */
export const failures: readonly Case[] = [
  {
    name: 'a cancelled call of a session',
    server: (backend) => backend.on('tools/call', () => {}),
    async run(client, backend) {
      await client.open()
      client.send(request(1, 'tools/call', { name: 'slow' }))
      const got = await backend.saw('tools/call')
      client.send(notification('notifications/cancelled', { requestId: 1, reason: 'enough' }))
      await backend.saw('notifications/cancelled')
      got.result({ late: true })
      await client.call(2, 'ping')
    },
  },
  {
    name: 'a cancelled stateless call closes its response',
    server: (backend) => backend.on('tools/call', (got) => void got.stream()),
    async run(client, backend) {
      client.send(request(1, 'tools/call', { ...modern, name: 'slow' }))
      const got = await backend.saw('tools/call')
      client.send(notification('notifications/cancelled', { ...modern, requestId: 1 }))
      await got.closed
      await client.call(2, 'ping', modern)
    },
  },
  {
    name: 'a stream that breaks is resumed after its last event',
    server: (backend) => {
      backend.on('tools/call', (got) => {
        const stream = got.stream()
        got.response.write('id: e-1\nretry: 10\ndata:\n\n', () => stream.break())
      })
      backend.on('GET', (got) => {
        if (got.headers['last-event-id'] === undefined) return got.status(405)
        const stream = got.stream()
        stream.send({ jsonrpc: '2.0', id: 1, result: { resumed: true } }, 'id: e-2\n')
        stream.end()
      })
    },
    async run(client) {
      await client.open()
      await client.call(1, 'tools/call', { name: 'x' })
    },
  },
  {
    name: 'a stream that breaks without an event',
    server: (backend) =>
      backend.on('tools/call', (got) => {
        const stream = got.stream()
        got.response.write(': comment\n\n', () => stream.break())
      }),
    async run(client) {
      await client.open()
      await client.call(1, 'tools/call', { name: 'x' })
    },
  },
  {
    name: 'a connection that breaks before the response: a read is repeated, a call is not',
    args: ['--wait', '2000'],
    server: (backend) => {
      let reads = 0
      backend.on('tools/list', (got) => {
        if (reads++ === 0) got.response.destroy()
        else got.result({ tools: [] })
      })
      backend.on('tools/call', (got) => void got.response.destroy())
    },
    async run(client) {
      await client.open()
      await client.call(1, 'tools/list')
      await client.call(2, 'tools/call', { name: 'x' })
    },
    isTransparent: false,
  },
  {
    name: 'a server that cannot be reached',
    isServerDown: true,
    args: ['--wait', '50'],
    async run(client) {
      await client.call(1, 'initialize', initializeParams)
      await client.call(2, 'tools/list', modern)
      await client.call(3, 'tools/call', { name: 'x' })
    },
    isTransparent: false,
  },
  {
    name: 'a server that starts while the client waits',
    isServerDown: true,
    async run(client, backend) {
      client.send(request(1, 'initialize', initializeParams))
      client.send(notification('notifications/initialized'))
      await backend.start()
      await client.answer(1)
      await client.call(2, 'ping')
    },
    isTransparent: false,
  },
  {
    name: 'a call in flight is finished after the end of input',
    server: (backend) => backend.on('tools/call', () => {}),
    async run(client, backend) {
      await client.open()
      client.send(request(1, 'tools/call', { name: 'x' }))
      const got = await backend.saw('tools/call')
      await backend.saw('GET')
      client.end()
      got.result({ content: [] })
      await client.answer(1)
    },
  },
  {
    name: 'a call in flight is answered with an error when --drain ends',
    args: ['--drain', '50'],
    server: (backend) => backend.on('tools/call', () => {}),
    async run(client, backend) {
      await client.open()
      client.send(request(1, 'tools/call', { name: 'x' }), request(2, 'tools/call', { name: 'y' }))
      await backend.saw('tools/call', ({ message }) => message.id === 1)
      await backend.saw('tools/call', ({ message }) => message.id === 2)
      await backend.saw('GET')
      client.end()
      await Promise.all([client.answer(1), client.answer(2)])
    },
  },
  {
    name: 'SIGTERM',
    async run(client, backend) {
      await client.open()
      await backend.saw('GET')
      client.process.kill('SIGTERM')
      await client.exited
    },
  },
]
