import t from 'tap'
import { restartServer, startServer } from '../../test/e2e/server-process.ts'
import { verifies } from '../../test/verifies.ts'
import { type Backend, type Got, type Stream, startBackend, type Wire } from './backend.ts'
import { type Client, modern, startBridge } from './client.ts'

t.setTimeout(120_000)

const envelope = {
  _meta: {
    ...modern._meta,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
}
const subscriptionId = 'io.modelcontextprotocol/subscriptionId'
const listen = (notifications: Wire) => ({
  jsonrpc: '2.0',
  id: 'sub',
  method: 'subscriptions/listen',
  params: { ...envelope, notifications },
})
const acknowledged = 'notifications/subscriptions/acknowledged'

/** Acknowledges every subscription; gives out the streams as they come. */
function acknowledge(backend: Backend): { next: () => Promise<Stream>; readonly all: Got[] } {
  const all: Got[] = []
  const taken = new Set<Got>()
  backend.on('subscriptions/listen', (got) => void all.push(got))
  return {
    all,
    async next() {
      const got = await backend.saw('subscriptions/listen', (one) => !taken.has(one))
      taken.add(got)
      const stream = got.stream()
      const { notifications } = got.message.params
      stream.send({
        jsonrpc: '2.0',
        method: acknowledged,
        params: { notifications, _meta: { [subscriptionId]: 'sub' } },
      })
      return stream
    },
  }
}

/** The next notification with this method, which is then taken out. */
async function heard(bridge: Client, method: string): Promise<Wire> {
  const message = await bridge.saw(method)
  bridge.messages.all.splice(bridge.messages.all.indexOf(message), 1)
  return message.params
}

verifies('bridge:subscription:restart', async (t) => {
  const backend = await startBackend(t)
  const subscriptions = acknowledge(backend)
  // The time that a call waits is not that of a subscription.
  const bridge = startBridge(t, { url: backend.url, args: ['--wait', '50'] })
  bridge.send(listen({ toolsListChanged: true, resourceSubscriptions: ['a:1'] }))
  await subscriptions.next()
  t.same((await heard(bridge, acknowledged))._meta, { [subscriptionId]: 'sub' })

  await backend.stop()
  t.match(await bridge.call('away', 'ping', modern), { error: { data: { code: 'SERVER_UNREACHABLE' } } })
  await backend.start()
  const second = await subscriptions.next()
  t.same(await heard(bridge, 'notifications/tools/list_changed'), { _meta: { [subscriptionId]: 'sub' } })
  t.same(await heard(bridge, 'notifications/resources/updated'), {
    uri: 'a:1',
    _meta: { [subscriptionId]: 'sub' },
  })

  second.send({ jsonrpc: '2.0', id: 'sub', result: { resultType: 'complete' } })
  second.end()
  const third = await subscriptions.next()
  await heard(bridge, 'notifications/tools/list_changed')
  third.break()
  const fourth = await subscriptions.next()
  await heard(bridge, 'notifications/tools/list_changed')
  t.notOk(
    bridge.messages.all.some(({ id, method }) => id === 'sub' || method === acknowledged),
    'the client sees one subscription, which goes on',
  )
  fourth.send({ jsonrpc: '2.0', id: 'sub', error: { code: -32603, message: 'no more' } })
  t.match(await bridge.answer('sub'), { error: { message: 'no more' } }, 'an error ends it')
})

verifies('bridge:subscription:restart', 'none is opened again for a client that has cancelled', async (t) => {
  const backend = await startBackend(t)
  const subscriptions = acknowledge(backend)
  const bridge = startBridge(t, { url: backend.url })
  bridge.send(listen({ toolsListChanged: true }))
  await subscriptions.next()
  await bridge.saw(acknowledged)
  await backend.stop()
  bridge.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { ...modern, requestId: 'sub' } })
  // The answer to this shows that the line before it was read.
  bridge.raw('not JSON\n')
  await bridge.answer(null)
  await backend.start()
  await bridge.call(1, 'ping', modern)
  t.equal(subscriptions.all.length, 1)
})

verifies('bridge:subscription:restart', 'a refusal is the answer', async (t) => {
  const backend = await startBackend(t)
  backend.on('subscriptions/listen', (got) =>
    got.json({ jsonrpc: '2.0', id: 'sub', error: { code: -32602, message: 'no' } }, { status: 400 }),
  )
  const bridge = startBridge(t, { url: backend.url })
  bridge.send(listen({}))
  t.match(await bridge.answer('sub'), { error: { code: -32602 } })
})

verifies('bridge:subscription:restart', 'a real server that is stopped and started again', async (t) => {
  const running = await startServer(t, { dir: t.testdir() })
  const bridge = startBridge(t, { url: `${running.url}/mcp`, patienceMs: 60_000 })
  bridge.send(listen({ toolsListChanged: true }))
  await bridge.saw(acknowledged)
  await restartServer(t, running)
  t.same((await bridge.saw('notifications/tools/list_changed')).params, {
    _meta: { [subscriptionId]: 'sub' },
  })
  t.notOk(bridge.messages.all.some(({ id }) => id === 'sub'))
})
