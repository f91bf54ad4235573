import { verifies } from '../../test/verifies.ts'
import { type Backend, type Stream, startBackend, type Wire } from './backend.ts'
import { modern, startBridge } from './client.ts'

/** Makes the backend a legacy server with a GET stream, which is given out. */
function makeLegacy(backend: Backend): Promise<Stream> {
  backend.on('server/discover', (got) =>
    got.json({ jsonrpc: '2.0', id: got.message.id, error: { code: -32601, message: 'no' } }, { status: 400 }),
  )
  return new Promise((resolve) => backend.on('GET', (got) => resolve(got.stream())))
}

const subscriptionId = 'io.modelcontextprotocol/subscriptionId'

verifies(
  'bridge:translate:modern-client',
  'a subscription hears what it asked for until it is cancelled',
  async (t) => {
    const backend = await startBackend(t)
    const unasked = makeLegacy(backend)
    const bridge = startBridge(t, { url: backend.url })
    await bridge.call(1, 'server/discover', modern)
    const notifications = { promptsListChanged: true, resourceSubscriptions: ['test://a'] }
    bridge.send({
      jsonrpc: '2.0',
      id: 'sub',
      method: 'subscriptions/listen',
      params: { ...modern, notifications },
    })
    t.same((await bridge.saw('notifications/subscriptions/acknowledged')).params, {
      notifications,
      _meta: { [subscriptionId]: 'sub' },
    })
    t.match((await backend.saw('resources/subscribe')).message.params, { uri: 'test://a' })
    const stream = await unasked
    for (const [method, params] of [
      ['notifications/tools/list_changed', undefined],
      ['notifications/resources/updated', { uri: 'test://b' }],
      ['notifications/resources/updated', { uri: 'test://a' }],
      ['notifications/prompts/list_changed', undefined],
    ])
      stream.send({ jsonrpc: '2.0', method, params })
    t.same((await bridge.saw('notifications/prompts/list_changed')).params, {
      _meta: { [subscriptionId]: 'sub' },
    })
    t.same((await bridge.saw('notifications/resources/updated')).params, {
      uri: 'test://a',
      _meta: { [subscriptionId]: 'sub' },
    })
    t.notOk(bridge.messages.all.some(({ method }) => method === 'notifications/tools/list_changed'))
    bridge.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'sub' } })
    t.match((await backend.saw('resources/unsubscribe')).message.params, { uri: 'test://a' })
  },
)

verifies(
  'bridge:translate:modern-client',
  'questions come one by one, and what nobody can answer is refused',
  async (t) => {
    const backend = await startBackend(t)
    const unasked = makeLegacy(backend)
    const bridge = startBridge(t, { url: backend.url })
    await bridge.call(1, 'server/discover', modern)
    const stream = await unasked
    const replied = (id: unknown) => backend.saw('response', ({ message }) => message.id === id)
    stream.send({ jsonrpc: '2.0', id: 'p', method: 'ping' })
    t.same((await replied('p')).message.result, {})
    stream.send({ jsonrpc: '2.0', id: 'early', method: 'roots/list' })
    t.match((await replied('early')).message.error, { code: -32601 })

    backend.on('tools/call', async (got) => {
      const answer = got.stream()
      for (const id of ['q1', 'q2'])
        answer.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params: { message: id } })
      const said = [await replied('q1'), await replied('q2')].map(({ message }) => message.result)
      answer.send({ jsonrpc: '2.0', id: got.message.id, result: { said } })
      answer.end()
    })
    const params = { ...modern, name: 'x' }
    const rounds: Wire[] = []
    let { result } = await bridge.call('c0', 'tools/call', params)
    for (const id of ['c1', 'c2']) {
      rounds.push(result.inputRequests.reply)
      const { requestState } = result
      const inputResponses = { reply: { action: 'accept', content: { id } } }
      result = (await bridge.call(id, 'tools/call', { ...params, inputResponses, requestState })).result
    }
    t.same(rounds, [
      { method: 'elicitation/create', params: { message: 'q1' } },
      { method: 'elicitation/create', params: { message: 'q2' } },
    ])
    t.match(result, {
      resultType: 'complete',
      said: [{ content: { id: 'c1' } }, { content: { id: 'c2' } }],
    })
    t.equal(backend.methods().filter((method) => method === 'tools/call').length, 1, 'the tool ran once')
  },
)

verifies(
  'bridge:translate:modern-client',
  'a question that the server takes back is not asked, unless the client has it already',
  async (t) => {
    const backend = await startBackend(t)
    void makeLegacy(backend)
    const bridge = startBridge(t, { url: backend.url })
    await bridge.call(1, 'server/discover', modern)
    backend.on('tools/call', async (got) => {
      const answer = got.stream()
      for (const id of ['q1', 'q2', 'q3'])
        answer.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params: { message: id } })
      for (const requestId of ['q1', 'q2', 'unknown'])
        answer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
      await backend.saw('response', ({ message }) => message.id === 'q3')
      answer.send({ jsonrpc: '2.0', id: got.message.id, result: {} })
      answer.end()
    })
    const params = { ...modern, name: 'x' }
    const asked: Wire[] = []
    let { result } = await bridge.call('c0', 'tools/call', params)
    for (let round = 1; result.resultType === 'input_required'; round += 1) {
      asked.push(result.inputRequests.reply.params.message)
      const { requestState } = result
      const inputResponses = { reply: { action: 'accept' } }
      ;({ result } = await bridge.call(`c${round}`, 'tools/call', {
        ...params,
        inputResponses,
        requestState,
      }))
    }
    t.same(asked, ['q1', 'q3'])
    t.equal(result.resultType, 'complete')
    t.notOk(bridge.messages.all.some(({ method }) => method === 'notifications/cancelled'))
  },
)

verifies(
  'bridge:translate:modern-client',
  'a cancelled call is cancelled under the id that the server knows',
  async (t) => {
    const backend = await startBackend(t)
    void makeLegacy(backend)
    const bridge = startBridge(t, { url: backend.url })
    await bridge.call(1, 'server/discover', modern)
    backend.on('tools/call', () => {})
    bridge.send({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params: { ...modern, name: 'x' } })
    await backend.saw('tools/call')
    const _meta = modern._meta
    bridge.send({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 'c', reason: 'r', _meta },
    })
    const told = await backend.saw('notifications/cancelled')
    t.same(told.message.params, { requestId: 'c', reason: 'r' })
  },
)

verifies(
  'bridge:translate:modern-client',
  'calls that are never taken up again are given up, oldest first',
  async (t) => {
    const backend = await startBackend(t)
    void makeLegacy(backend)
    const bridge = startBridge(t, { url: backend.url })
    await bridge.call(1, 'server/discover', modern)
    backend.on('tools/call', (got) =>
      got.stream().send({ jsonrpc: '2.0', id: `q${got.message.id}`, method: 'roots/list' }),
    )
    for (let call = 0; call <= 64; call += 1)
      t.match((await bridge.call(`c${call}`, 'tools/call', { ...modern, name: 'x' })).result, {
        resultType: 'input_required',
      })
    t.match((await backend.saw('notifications/cancelled')).message.params, { requestId: 'c0' })
  },
)
