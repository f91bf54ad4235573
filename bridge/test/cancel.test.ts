import { verifies } from '../../test/verifies.ts'
import { Calls } from '../src/calls.ts'
import { createCancel } from '../src/cancel.ts'
import type { Incoming } from '../src/message.ts'
import { type Got, startBackend } from './backend.ts'
import { modern, startBridge } from './client.ts'

const cancel = (requestId: unknown, more: object = {}) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId, ...more },
})

verifies(
  'bridge:relay:cancel',
  'a legacy cancellation is forwarded behind its request, and a late answer is dropped',
  async (t) => {
    const backend = await startBackend(t)
    let slow: Got | undefined
    backend.on('slow', (got) => {
      slow = got
    })
    const bridge = startBridge(t, { url: backend.url })
    await bridge.open()
    bridge.send({ jsonrpc: '2.0', id: 7, method: 'slow', params: { pad: 'x'.repeat(100_000) } }, cancel(7))
    const got = await backend.saw('notifications/cancelled')
    t.same(got.message.params, { requestId: 7 })
    t.equal(got.headers['mcp-session-id'], 's1')
    t.ok(backend.methods().indexOf('slow') < backend.methods().indexOf('notifications/cancelled'))
    slow?.result({ late: true })
    await slow?.closed
    await bridge.call(8, 'ping')
    t.notOk(bridge.messages.all.some(({ id }) => id === 7))
  },
)

verifies(
  'bridge:relay:cancel',
  'messages of the server still come on the stream of a cancelled legacy call',
  async (t) => {
    const backend = await startBackend(t)
    const bridge = startBridge(t, { url: backend.url })
    await bridge.open()
    bridge.send({ jsonrpc: '2.0', id: 7, method: 'slow' })
    backend.on('slow', () => {})
    const stream = (await backend.saw('slow')).stream()
    bridge.send(cancel(7))
    await backend.saw('notifications/cancelled')
    stream.send({ jsonrpc: '2.0', method: 'notifications/message', params: {} })
    await bridge.saw('notifications/message')
    t.pass('relayed')
  },
)

verifies(
  'bridge:relay:cancel',
  'a stateless call is cancelled by closing its stream, nothing more is written for it',
  async (t) => {
    const backend = await startBackend(t)
    backend.on('slow', () => {})
    const bridge = startBridge(t, { url: backend.url })
    bridge.send({ jsonrpc: '2.0', id: 'm', method: 'slow', params: modern })
    const slow = await backend.saw('slow')
    const stream = slow.stream()
    const progress = (value: number) => ({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { value },
    })
    stream.send(progress(1))
    await bridge.saw('notifications/progress')
    bridge.send(cancel('m'))
    await slow.closed
    stream.send(progress(2))
    stream.send({ jsonrpc: '2.0', id: 'm', result: {} })
    await bridge.call('after', 'ping')
    t.same(
      bridge.messages.all.map(({ id, method }) => id ?? method),
      ['notifications/progress', 'after'],
    )
    t.notOk(backend.methods().includes('notifications/cancelled'))
  },
)

verifies('bridge:relay:cancel', 'an id of another type cancels nothing', async (t) => {
  const backend = await startBackend(t)
  backend.on('slow', () => {})
  const bridge = startBridge(t, { url: backend.url })
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'slow', params: modern }, cancel('1', modern))
  const slow = await backend.saw('slow')
  await bridge.call('after', 'ping')
  slow.result({ done: true })
  t.match(await bridge.answer(1), { result: { done: true } })
})

verifies(
  'bridge:relay:cancel',
  'an unknown id is passed to a legacy server, which may know it',
  async (t) => {
    const backend = await startBackend(t)
    const bridge = startBridge(t, { url: backend.url })
    bridge.send(cancel('unknown'), { jsonrpc: '2.0', method: 'notifications/cancelled' })
    await backend.saw('notifications/cancelled', ({ message }) => message.params?.requestId === 'unknown')
    t.match(await bridge.call(1, 'ping'), { result: {} })
  },
)

verifies(
  'bridge:relay:cancel',
  'the stream of a cancelled legacy call is closed after a while',
  async (t) => {
    const message = (method: string, more: object): Incoming => ({
      bytes: Buffer.alloc(0),
      kind: 'request',
      id: 7,
      method,
      params: {},
      claimed: undefined,
      ...more,
    })
    const calls = new Calls()
    const events: string[] = []
    const due: (() => void)[] = []
    const call = calls.open(Buffer.alloc(0), [message('slow', {})])
    call.abort = () => void events.push('closed')
    const cancel = createCancel(
      calls,
      () => void events.push('forwarded'),
      (then) => void due.push(then),
    )
    cancel(message('notifications/cancelled', { kind: 'notification', id: null, params: { requestId: 7 } }))
    await call.settled
    await new Promise(setImmediate)
    t.same(events, ['forwarded'], 'it is read on')
    for (const run of due) run()
    t.same(events, ['forwarded', 'closed'])
  },
)
