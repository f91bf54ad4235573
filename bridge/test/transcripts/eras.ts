import { type Backend, makeStateless, rejectRequest } from '../backend.ts'
import { initializeParams, modern } from '../client.ts'
import { type Case, notification, request, streamResult } from '../transcript.ts'

function makeListening(backend: Backend): void {
  makeStateless(backend, { tools: { listChanged: true }, resources: { subscribe: true } })
  backend.on('tools/list', (got) =>
    got.result({ resultType: 'complete', ttlMs: 1000, cacheScope: 'private', tools: [] }),
  )
  backend.on('subscriptions/listen', (got) => {
    got.stream().send(
      notification('notifications/subscriptions/acknowledged', {
        notifications: got.message.params.notifications,
        _meta: { 'io.modelcontextprotocol/subscriptionId': got.message.id },
      }),
    )
  })
}

/** Makes the backend a server that requires a session. */
function makeSessionOnly(backend: Backend): void {
  for (const method of ['server/discover', 'subscriptions/listen'])
    backend.on(method, (got) => rejectRequest(got, -32600))
  for (const method of ['tools/list', 'tools/call'])
    backend.on(method, (got) => {
      if (got.headers['mcp-session-id'] === undefined) rejectRequest(got, -32600)
      else if (method === 'tools/list') got.result({ tools: [] })
      else
        streamResult(got, [notification('notifications/message', { level: 'info', data: 'a' })], {
          content: [],
        })
    })
}

const envelope = {
  _meta: {
    ...modern._meta,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
}

/** Clients and servers of different eras. */
export const eras: readonly Case[] = [
  {
    name: 'both eras in one conversation',
    async run(client, backend) {
      await client.call('probe', 'server/discover', modern)
      await client.open()
      await backend.saw('notifications/initialized')
      await client.call(1, 'tools/list', { ...modern, cursor: 'c' })
      await client.call(2, 'tools/list', { cursor: 'c' })
    },
  },
  {
    name: 'a session client and a stateless server',
    server: makeListening,
    async run(client, backend) {
      client.send(request(1, 'initialize', initializeParams), notification('notifications/initialized'))
      await client.answer(1)
      await backend.saw('subscriptions/listen')
      await client.call(2, 'logging/setLevel', { level: 'error' })
      await client.call(3, 'tools/list')
      await client.call(4, 'tools/call', { name: 'x', _meta: { progressToken: 7 } })
      await client.call(5, 'ping')
    },
    isTransparent: false,
  },
  {
    name: 'a stateless server that asks for input',
    server: (backend) => {
      makeListening(backend)
      backend.on('tools/call', (got) =>
        got.message.params.inputResponses === undefined
          ? got.result({
              resultType: 'input_required',
              inputRequests: { a: { method: 'elicitation/create', params: { message: 'which?' } } },
              requestState: 'state',
            })
          : got.result({ resultType: 'complete', content: [], got: got.message.params.inputResponses }),
      )
    },
    async run(client, backend) {
      client.send(
        request(1, 'initialize', { ...initializeParams, capabilities: { elicitation: {} } }),
        notification('notifications/initialized'),
      )
      await client.answer(1)
      await backend.saw('subscriptions/listen')
      client.send(request(2, 'tools/call', { name: 'x' }))
      const { id } = await client.saw('elicitation/create')
      client.send({ jsonrpc: '2.0', id, result: { action: 'accept', content: { a: 1 } } })
      await client.answer(2)
    },
    isTransparent: false,
  },
  {
    name: 'a stateless client and a server that requires a session',
    server: makeSessionOnly,
    async run(client) {
      await client.call(1, 'server/discover', envelope)
      await client.call(2, 'tools/list', envelope)
      await client.call(3, 'tools/call', { ...envelope, name: 'x', arguments: {} })
    },
    isTransparent: false,
  },
  {
    name: 'a stateless subscription that the client cancels',
    server: (backend) =>
      backend.on('subscriptions/listen', (got) => {
        const stream = got.stream()
        const _meta = { 'io.modelcontextprotocol/subscriptionId': 'sub' }
        const { notifications } = got.message.params
        stream.send(notification('notifications/subscriptions/acknowledged', { notifications, _meta }))
        stream.send(notification('notifications/tools/list_changed', { _meta }))
      }),
    async run(client, backend) {
      client.send(
        request('sub', 'subscriptions/listen', { ...envelope, notifications: { toolsListChanged: true } }),
      )
      await client.saw('notifications/tools/list_changed')
      client.send(notification('notifications/cancelled', { ...envelope, requestId: 'sub' }))
      await (await backend.saw('subscriptions/listen')).closed
      await client.call(1, 'ping', envelope)
    },
  },
]
