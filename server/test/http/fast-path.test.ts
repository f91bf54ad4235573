import { ask, defineApp, elicit } from '@causeway/app-kit'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { sessionRoute } from '../../../test/wire/cases/session.ts'
import { statelessRoute } from '../../../test/wire/cases/stateless.ts'
import sampleApp from '../../../test/wire/sample-app.ts'
import { isPlainCall } from '../../src/http/mcp/started-call.ts'
import {
  both,
  initializeMessage,
  modern,
  openWire,
  respond,
  rpc,
  toolCall,
  until,
  type Wire,
} from './open-wire.ts'

/** Valid and invalid calls. */
const traffic = [
  toolCall('Demo__echo', { text: 'hello' }),
  toolCall('Demo__echo', { text: 'Größe ≤ 3 \u2028 \u0000 "quoted" 🚢', times: 3 }),
  toolCall('Demo__echo', { text: 'Größe "quoted" 🚢'.repeat(2000) }),
  rpc('tools/call', { name: 'Demo__echo', arguments: { text: 'x' } }, 'a string'),
  rpc('tools/call', { name: 'Demo__echo', arguments: { text: 'x' } }, ''),
  rpc('tools/call', { name: 'Demo__echo', arguments: { text: 'x' } }, 0),
  rpc('tools/call', { name: 'Demo__echo', arguments: { text: 'x' } }, -7),
  toolCall('Demo__picture'),
  rpc('tools/call', { name: 'Demo__picture' }),
  toolCall('Demo__fail', { code: 'NO_RECORDING' }),
  toolCall('Demo__fail', { code: 'accident' }),
  toolCall('Demo__echo'),
  toolCall('Demo__echo', { txt: 'misspelt' }),
  toolCall('Demo__ecko', { text: 'no such tool' }),
  toolCall('Wire__identify'),
  toolCall('Causeway__list_apps'),
]

/** Removes the request ids, which one of the tools returns. */
const withoutIds = (response: object): unknown =>
  JSON.parse(JSON.stringify(response).replaceAll(/(request\\*":\\*")[^"\\]+/g, '$1'))

/** Opens two servers with the same apps: with the fast path, and with the SDK only. */
async function openBoth(t: Test, apps: Parameters<typeof openWire>[1] = {}): Promise<readonly [Wire, Wire]> {
  const dir = t.testdir({ fast: {}, sdk: {} })
  return [
    await openWire(t, { ...apps, dir: `${dir}/fast` }),
    await openWire(t, { ...apps, dir: `${dir}/sdk`, hasFastPath: false }),
  ]
}

t.test('the fast path and the SDK return the same results, stateless and in sessions', async (t) => {
  const [fast, sdk] = await openBoth(t)
  for (const [index, message] of traffic.entries())
    for (const era of ['modern', 'legacy'] as const) {
      const sent = { path: '/mcp', era, message } as const
      t.same(withoutIds(await respond(fast, sent)), withoutIds(await respond(sdk, sent)), `${index} ${era}`)
    }
})

/** Opens an event stream of MCP 2024-11-05. */
async function openEventStream(t: Test, wire: Wire, capabilities: object = {}) {
  const { events, hangUp } = await wire.events(undefined, { path: '/sse', method: 'GET' })
  t.teardown(() => hangUp())
  const path: string = (await events.next()).value.data
  const post = (message: object) => wire.send(message, { path })
  const next = async () => JSON.parse((await events.next()).value.data)
  const { params, ...initialize } = initializeMessage()
  await post({ ...initialize, params: { ...params, capabilities } })
  await next()
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return { post, next }
}

t.test('the fast path and the SDK send the same messages on event streams', async (t) => {
  const [fast, sdk] = await openBoth(t)
  const streams = [await openEventStream(t, fast), await openEventStream(t, sdk)]
  const respondBoth = (message: object) =>
    Promise.all(
      streams.map(async ({ post, next }) => {
        await post(message)
        return withoutIds(await next())
      }),
    )
  for (const [index, message] of [...traffic, rpc('tools/list')].entries()) {
    const [fromFast, fromSdk] = await respondBoth(message)
    t.same(fromFast, fromSdk, `${index}`)
  }
})

t.test('each call of an array on an event stream gets its own response', async (t) => {
  const { post, next } = await openEventStream(t, await openWire(t))
  const names = ['Demo__missing', 'Demo__absent']
  await post(names.map((name) => rpc('tools/call', { name }, name)))
  const responses = [await next(), await next()]
  for (const name of names)
    t.match(
      responses.find(({ id }) => id === name),
      { error: { message: new RegExp(name) } },
    )
})

t.test('a call on an event stream that sends messages or asks questions runs once', async (t) => {
  const runs: string[] = []
  const wire = await openWire(t, { apps: [messagingApp(runs)] })
  const { post, next } = await openEventStream(t, wire, { elicitation: {} })
  await post(toolCall('Talking__log'))
  t.match(await next(), { method: 'notifications/message', params: { data: 'one' } })
  t.match(await next(), { params: { level: 'warning', data: 'two' } })
  t.match(await next(), { result: { structuredContent: { sent: 2 } } })
  t.same(runs, ['log'])
  await post(toolCall('Talking__ask'))
  const question = await next()
  t.match(question, { method: 'elicitation/create', params: { message: 'What?' } })
  await post({ jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { said: 'x' } } })
  t.match(await next(), { result: { structuredContent: { done: true } } })
  t.same(runs, ['log', 'ask', 'ask'], 'one run to ask and one with the reply')
})

t.test('the fast path and the SDK return the same responses to the requests of the corpus', async (t) => {
  const [fast, sdk] = await openBoth(t, { apps: [sampleApp] })
  const requests = [statelessRoute, sessionRoute].flatMap(({ cases }) =>
    cases.flatMap(({ title, requests = [] }) => requests.map((sent) => ({ title, ...sent }))),
  )
  t.ok(requests.length > 100)
  const sessions = [await fast.initialize(), await sdk.initialize()]
  for (const { title, path, headers = {}, body, isInSession = false } of requests) {
    const send = async (wire: Wire, session = '') => {
      const own = isInSession ? { 'mcp-session-id': session } : {}
      const { text, status } = await wire.send(body, { path, headers: { ...headers, ...own } })
      // The SDK sends the response in an event stream.
      const messages = [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => data)
      return { status, messages: (messages.length === 0 ? [text] : messages).map(parse) }
    }
    t.same(await send(fast, sessions[0]), await send(sdk, sessions[1]), title)
  }
})

/** Removes what differs between two servers: the order of members, and signatures. */
const parse = (text: string): unknown =>
  text === '' ? '' : JSON.parse(text.replaceAll(/"requestState":"[^"]+"/g, '"requestState":""'))

t.test('a quick call of a session returns JSON, and a slow call gets a stream', async (t) => {
  const wire = await openWire(t)
  const session = { ...both, 'mcp-session-id': await wire.initialize() }
  const getType = async (message: object, headers: Record<string, string>) =>
    String((await wire.send(message, { headers })).headers['content-type']).split(';')[0]
  const quick = toolCall('Demo__echo', { text: 'x' })
  t.equal(await getType(quick, session), 'application/json')
  t.equal(await getType(quick, { ...session, accept: 'text/event-stream' }), 'text/event-stream')
  t.equal(await getType(toolCall('Demo__echo', { text: 'x' }, 'token'), session), 'text/event-stream')

  const { headers, status, messages } = await wire.stream(toolCall('Wire__work', { steps: 0 }), {
    headers: session,
  })
  t.equal(status, 200)
  t.match(headers['content-type'], /^text\/event-stream/)
  t.equal(wire.wire.begun.length, 1, 'it runs once')
  wire.wire.release()
  t.match((await messages.next()).value, { id: 1, result: { structuredContent: { steps: 0 } } })
})

/** Opens a session. `cancel` cancels its call with id 1. */
async function openCancelling(t: Test, options: { quickCallMs?: number } = {}) {
  const wire = await openWire(t, options)
  const session = { headers: { ...both, 'mcp-session-id': await wire.initialize() } }
  const cancel = () =>
    wire.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, session)
  return { wire, session, cancel, cancelled: { id: 1, error: { code: -32800 } } }
}

t.test('a cancellation aborts a call that the SDK has not taken over yet', async (t) => {
  const { wire, session, cancel, cancelled } = await openCancelling(t, { quickCallMs: 60_000 })
  const early = wire.send(toolCall('Wire__work', { steps: 0 }), session)
  await until(() => wire.wire.begun.length === 1)
  await wire.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { requestId: 1 } }, session)
  t.notOk(wire.wire.begun[0]?.aborted, 'another notification with this id cancels nothing')
  t.equal((await cancel()).status, 202)
  t.ok(wire.wire.begun[0]?.aborted)
  t.match((await early).json, cancelled)
})

t.test('a cancellation aborts a call after the SDK continues it', async (t) => {
  const { wire, session, cancel, cancelled } = await openCancelling(t)
  const { messages } = await wire.stream(toolCall('Wire__work', { steps: 0 }), session)
  await until(() => wire.wire.begun.length === 1)
  await cancel()
  t.match((await messages.next()).value, cancelled)
  t.ok(wire.wire.begun[0]?.aborted)
})

t.test('closing the connection cancels a stateless call', async (t) => {
  const wire = await openWire(t)
  const { body, headers } = modern(toolCall('Wire__work', { steps: 0 }))
  const hangUp = new AbortController()
  const lost = wire.send(body, { headers, signal: hangUp.signal })
  await until(() => wire.wire.begun.length === 1)
  hangUp.abort()
  await t.rejects(lost)
  await until(() => wire.wire.begun[0]?.aborted === true)
  t.equal(wire.wire.begun.length, 1)
})

t.test('the end of a session cancels its calls', async (t) => {
  const wire = await openWire(t, { quickCallMs: 60_000 })
  const session = { headers: { ...both, 'mcp-session-id': await wire.initialize() } }
  const lost = wire.send(toolCall('Wire__work', { steps: 0 }), session)
  await until(() => wire.wire.begun.length === 1)
  await wire.send(undefined, { ...session, method: 'DELETE' })
  t.match((await lost).json, { id: 1, error: { code: -32800 } })
})

/** Opens a session of a client that supports elicitation. Returns its id. */
async function openElicitation(wire: Wire): Promise<string> {
  const { params, ...opened } = initializeMessage()
  const message = { ...opened, params: { ...params, capabilities: { elicitation: {} } } }
  const { headers } = await wire.send(message, { headers: both })
  const id = headers['mcp-session-id'] as string
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
  await wire.send(initialized, { headers: { ...both, 'mcp-session-id': id } })
  return id
}

/** An app whose tools send messages or ask the client. `runs` records their runs. */
function messagingApp(runs: string[]) {
  const said = { said: z.string().describe('anything') }
  return defineApp(
    { name: 'Talking', about: 'Sends messages and asks.', open: () => ({}), session: () => ({}) },
    (app) => {
      app.tool('log', {
        about: 'Sends two messages.',
        input: {},
        output: { sent: z.int() },
        example: { args: {} },
        run(_, { notify }) {
          runs.push('log')
          notify('info', 'one')
          notify('warning', 'two')
          return { sent: 2 }
        },
      })
      app.tool('ask', {
        about: 'Asks.',
        input: {},
        output: { done: z.boolean() },
        example: { args: {} },
        run(_, { input }) {
          runs.push('ask')
          return 'q' in input.replies ? { done: true } : ask({ q: elicit('What?', said) })
        },
      })
    },
  )
}

t.test('a call that sends messages or asks questions continues in the SDK and runs once', async (t) => {
  const runs: string[] = []
  const wire = await openWire(t, { apps: [messagingApp(runs)] })
  const session = { headers: { ...both, 'mcp-session-id': await openElicitation(wire) } }

  const logged = await wire.stream(toolCall('Talking__log'), session)
  t.match((await logged.messages.next()).value, { method: 'notifications/message', params: { data: 'one' } })
  t.match((await logged.messages.next()).value, { params: { level: 'warning', data: 'two' } })
  t.match((await logged.messages.next()).value, { result: { structuredContent: { sent: 2 } } })
  t.same(runs, ['log'])

  const asked = await wire.stream(toolCall('Talking__ask'), session)
  const question = (await asked.messages.next()).value
  t.match(question, { method: 'elicitation/create', params: { message: 'What?' } })
  const reply = { jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { said: 'x' } } }
  t.equal((await wire.send(reply, session)).status, 202)
  t.match((await asked.messages.next()).value, { result: { structuredContent: { done: true } } })
  t.same(runs, ['log', 'ask', 'ask'], 'one run to ask and one with the reply')
})

t.test('cancelling a call that waits for its client ends its stream', async (t) => {
  const wire = await openWire(t, { apps: [messagingApp([])] })
  const session = { headers: { ...both, 'mcp-session-id': await openElicitation(wire) } }
  const { messages } = await wire.stream(toolCall('Talking__ask'), session)
  t.match((await messages.next()).value, { method: 'elicitation/create' })
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
  await wire.send([cancelled], session)
  const received: unknown[] = []
  for await (const message of messages) received.push(message)
  t.match(received.at(-1), { id: 1, error: { code: -32800 } })
})

t.test('log messages below the level that the client set are not sent', async (t) => {
  const wire = await openWire(t, { apps: [messagingApp([])] })
  const session = { headers: { ...both, 'mcp-session-id': await wire.initialize() } }
  await wire.send(rpc('logging/setLevel', { level: 'warning' }), session)
  const { messages } = await wire.stream(toolCall('Talking__log'), session)
  t.match((await messages.next()).value, { params: { data: 'two' } })
})

t.test(
  'isPlainCall rejects malformed calls and calls that request messages, contain replies or have unknown params',
  async (t) => {
    const plain = rpc('tools/call', { name: 'x', arguments: {} })
    t.ok(isPlainCall(plain))
    t.ok(isPlainCall({ ...plain, params: { name: 'x' } }))
    const others = [
      null,
      [plain],
      { ...plain, jsonrpc: '1.0' },
      { ...plain, id: null },
      { ...plain, id: 1.5 },
      { ...plain, method: 'tools/list' },
      { ...plain, params: undefined },
      { ...plain, params: { name: 5 } },
      { ...plain, params: { name: 'x', arguments: [] } },
      { ...plain, params: { name: 'x', _meta: { progressToken: 1 } } },
      { ...plain, params: { name: 'x', _meta: { 'io.modelcontextprotocol/logLevel': 'info' } } },
      { ...plain, params: { name: 'x', inputResponses: {} } },
      { ...plain, params: { name: 'x', requestState: 'v1' } },
      { ...plain, params: { name: 'x', task: {} } },
    ]
    for (const [index, other] of others.entries()) t.notOk(isPlainCall(other), String(index))
  },
)
