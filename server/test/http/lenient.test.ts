import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ask, defineApp, elicit } from '@causeway/app-kit'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { verifies } from '../../../test/verifies.ts'
import { isPlainCall } from '../../src/http/plain-call.ts'
import { both, initializeMessage, modern, openWire, rpc, toolCall, until, type Wire } from './open-wire.ts'
import { answered, throughSdk } from './through-sdk.ts'

/** Scripts without handshake: the original curls, batches, and what is refused. */

const run = promisify(execFile)

/** A curl of the original document, word for word, but for the port. */
const curl = async (port: number, body: string): Promise<{ jsonrpc: string; id: number; result: never }> => {
  const { stdout } = await run('curl', [
    '-sS',
    '-X',
    'POST',
    `http://localhost:${port}/mcp`,
    '-H',
    'Content-Type: application/json',
    '-d',
    body,
  ])
  return JSON.parse(stdout)
}

verifies('wire:lenient:curl-initialize', async (t) => {
  const { http } = await openWire(t)
  const answer = await curl(
    http.port,
    `{
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"clientInfo": {"name": "test"}}
  }`,
  )
  t.match(answer, {
    jsonrpc: '2.0',
    id: 1,
    result: { protocolVersion: '2025-03-26', serverInfo: { name: 'causeway' }, capabilities: { tools: {} } },
  })
})

verifies('wire:lenient:curl-list', async (t) => {
  const { http } = await openWire(t)
  const { id, result } = await curl(
    http.port,
    `{
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/list",
    "params": {}
  }`,
  )
  t.equal(id, 2)
  const names = (result as { tools: { name: string }[] }).tools.map(({ name }) => name)
  t.ok(names.includes('Demo__echo'))
  t.notOk(names.includes('OldDemo__echo'), 'aliases are called, not listed')
})

verifies('wire:lenient:curl-call', async (t) => {
  const { http } = await openWire(t)
  const answer = await curl(
    http.port,
    `{
    "jsonrpc": "2.0",
    "id": 3,
    "method": "tools/call",
    "params": {
      "name": "OldDemo__echo",
      "arguments": {"text": "test query"}
    }
  }`,
  )
  t.match(answer, {
    id: 3,
    result: {
      content: [{ type: 'text', text: '{"text":"test query","client":"curl"}' }],
      structuredContent: { text: 'test query', client: 'curl' },
    },
  })
})

t.test('lenient: the answer is one JSON body, in a session-less way, whatever is accepted', async (t) => {
  const { send } = await openWire(t)
  for (const accept of ['', '*/*', 'application/json', 'application/json, text/event-stream']) {
    const answer = await send(rpc('tools/list'), { headers: { accept } })
    t.equal(answer.status, 200)
    t.match(answer.headers['content-type'], /^application\/json/)
    t.equal(answer.headers['mcp-session-id'], undefined)
  }
  const opened = await send(rpc('initialize'), { headers: { accept: 'application/json' } })
  t.equal(opened.headers['mcp-session-id'], undefined, 'initialize without a stream opens no session')
})

t.test('lenient: an array is answered by an array, its notifications not at all', async (t) => {
  const { send } = await openWire(t)
  const { status, json } = await send(
    [
      rpc('ping', undefined, 'a'),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      toolCall('Wire__tell'),
      { nonsense: true },
      rpc('tools/list', { cursor: 'wrong' }, 0),
    ],
    { headers: { 'causeway-request': 'bridge-1' } },
  )
  t.equal(status, 200)
  t.match(json, [
    { id: 'a', result: {} },
    { id: 1, result: { structuredContent: { request: 'bridge-1.1' } } },
    { id: null, error: { code: -32600 } },
    { id: 0, error: { code: -32602, data: { code: 'INVALID_CURSOR' } } },
  ])
  t.equal(json.length, 4)
})

t.test('lenient: what needs no answer is accepted with 202 and no body', async (t) => {
  const { send } = await openWire(t)
  for (const body of [
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 4, result: {} },
    [{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }],
  ]) {
    const { status, text } = await send(body)
    t.same({ status, text }, { status: 202, text: '' })
  }
})

t.test('lenient: ids keep their type', async (t) => {
  const { send } = await openWire(t)
  for (const id of [0, -1, 1.5, '', 'x', 2 ** 53])
    t.equal((await send(rpc('ping', undefined, id))).json.id, id)
})

t.test('lenient: hanging up aborts the handler', async (t) => {
  const { send, wire } = await openWire(t)
  const hangUp = new AbortController()
  const call = send(toolCall('Wire__work', { steps: 0 }), { signal: hangUp.signal })
  await until(() => wire.begun.length === 1)
  hangUp.abort()
  await t.rejects(call)
  await until(() => wire.begun[0]?.aborted === true)
})

t.test('lenient: a tool that fails answers in band, an unknown method is -32601', async (t) => {
  const { send } = await openWire(t)
  t.match(await send(toolCall('Demo__fail', { code: 'NO_RECORDING' })), {
    status: 200,
    json: {
      result: { isError: true, _meta: { 'causeway/error': { code: 'NO_RECORDING', legacy_code: -32000 } } },
    },
  })
  t.match((await send(rpc('no/such'))).json, { error: { code: -32601, data: { code: 'METHOD_NOT_FOUND' } } })
  t.match((await send(rpc('resources/subscribe', { uri: 'demo://notes/a' }))).json, {
    error: { code: -32601 },
  })
})

t.test('lenient: a missing resource has the number of its revision', async (t) => {
  const { send } = await openWire(t)
  t.match((await send(rpc('resources/read', { uri: 'demo://nothing/here' }))).json, {
    error: { code: -32002, data: { code: 'RESOURCE_NOT_FOUND' } },
  })
})

t.test('lenient: initialize with members of the wrong type is -32602', async (t) => {
  const { send } = await openWire(t)
  for (const params of [
    { clientInfo: 5 },
    { protocolVersion: 1 },
    { capabilities: [] },
    { clientInfo: { name: 1 } },
  ])
    t.match((await send(rpc('initialize', params))).json, { error: { code: -32602 } })
  t.match((await send(rpc('initialize', { protocolVersion: '1999-01-01' }))).json, {
    result: { protocolVersion: '2025-11-25' },
  })
})

/** Plain calls: the same answers as through the SDK, and a way over to it for all that is not plain. */

/** Calls as clients send them, the good and the bad. */
const traffic = [
  toolCall('Demo__echo', { text: 'hello' }),
  toolCall('Demo__echo', { text: 'Größe ≤ 3 \u2028 \u0000 "quoted" 🚢', times: 3 }),
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
  toolCall('Wire__tell'),
  toolCall('Causeway__list_apps'),
]

/** Each HTTP request has an id of its own, which one of the tools tells. */
const withoutIds = (answer: object): unknown =>
  JSON.parse(JSON.stringify(answer).replaceAll(/(request\\*":\\*")[^"\\]+/g, '$1'))

t.test('plain call: the short way and the SDK give the same answer, in both eras', async (t) => {
  const wire = await openWire(t)
  for (const [index, message] of traffic.entries())
    for (const era of ['modern', 'legacy'] as const) {
      const sent = { path: '/mcp', era, message } as const
      const [short, long] = [await answered(wire, sent), await throughSdk(wire, sent)]
      t.same(withoutIds(short), withoutIds(long), `${index} ${era}`)
    }
})

t.test('plain call: one that is quick is answered as one JSON body, another gets a stream', async (t) => {
  const wire = await openWire(t)
  const session = { ...both, 'mcp-session-id': await wire.initialize() }
  const typeOf = async (message: object, headers: Record<string, string>) =>
    String((await wire.send(message, { headers })).headers['content-type']).split(';')[0]
  const quick = toolCall('Demo__echo', { text: 'x' })
  t.equal(await typeOf(quick, session), 'application/json')
  t.equal(await typeOf(quick, { ...session, accept: 'text/event-stream' }), 'text/event-stream')
  t.equal(await typeOf(toolCall('Demo__echo', { text: 'x' }, 'token'), session), 'text/event-stream')

  const { headers, status, messages } = await wire.stream(toolCall('Wire__work', { steps: 0 }), {
    headers: session,
  })
  t.equal(status, 200)
  t.match(headers['content-type'], /^text\/event-stream/)
  t.equal(wire.wire.begun.length, 1, 'begun once, although handed over')
  wire.wire.release()
  t.match((await messages.next()).value, { id: 1, result: { structuredContent: { steps: 0 } } })
})

/** A client of a session, and its cancellation of call 1. */
async function cancelling(t: Test, options: { plainMs?: number } = {}) {
  const wire = await openWire(t, options)
  const session = { headers: { ...both, 'mcp-session-id': await wire.initialize() } }
  const cancel = () =>
    wire.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, session)
  return { wire, session, cancel, cancelled: { id: 1, error: { code: -32800 } } }
}

t.test('plain call: a cancellation reaches it at once before it is handed over', async (t) => {
  const { wire, session, cancel, cancelled } = await cancelling(t, { plainMs: 60_000 })
  const early = wire.send(toolCall('Wire__work', { steps: 0 }), session)
  await until(() => wire.wire.begun.length === 1)
  t.equal((await cancel()).status, 202)
  t.ok(wire.wire.begun[0]?.aborted)
  t.match((await early).json, cancelled)
})

t.test('plain call: and after it was', async (t) => {
  const { wire, session, cancel, cancelled } = await cancelling(t)
  const { messages } = await wire.stream(toolCall('Wire__work', { steps: 0 }), session)
  await until(() => wire.wire.begun.length === 1)
  await cancel()
  t.match((await messages.next()).value, cancelled)
  t.ok(wire.wire.begun[0]?.aborted)
})

t.test('plain call: who hangs up on a stateless call cancels it', async (t) => {
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

t.test('plain call: the end of the session ends it', async (t) => {
  const wire = await openWire(t, { plainMs: 60_000 })
  const session = { headers: { ...both, 'mcp-session-id': await wire.initialize() } }
  const lost = wire.send(toolCall('Wire__work', { steps: 0 }), session)
  await until(() => wire.wire.begun.length === 1)
  await wire.send(undefined, { ...session, method: 'DELETE' })
  t.match((await lost).json, { id: 1, error: { code: -32800 } })
})

/** Opens a session of a client that takes questions; gives its id. */
async function openAsking(wire: Wire): Promise<string> {
  const { params, ...opened } = initializeMessage()
  const message = { ...opened, params: { ...params, capabilities: { elicitation: {} } } }
  const { headers } = await wire.send(message, { headers: both })
  const id = headers['mcp-session-id'] as string
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
  await wire.send(initialized, { headers: { ...both, 'mcp-session-id': id } })
  return id
}

/** Sends a message, or asks, before it answers; counts its runs. */
function talkingApp(runs: string[]) {
  const said = { said: z.string().describe('anything') }
  return defineApp({ name: 'Talking', about: 'Talks.', open: () => ({}), session: () => ({}) }, (app) => {
    app.tool('tell', {
      about: 'Sends two messages.',
      input: {},
      output: { told: z.int() },
      example: { args: {} },
      run(_, { notify }) {
        runs.push('tell')
        notify('info', 'one')
        notify('warning', 'two')
        return { told: 2 }
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
  })
}

t.test(
  'plain call: one that sends messages or asks goes on through the SDK, without being run again',
  async (t) => {
    const runs: string[] = []
    const wire = await openWire(t, { apps: [talkingApp(runs)] })
    const session = { headers: { ...both, 'mcp-session-id': await openAsking(wire) } }

    const told = await wire.stream(toolCall('Talking__tell'), session)
    t.match((await told.messages.next()).value, { method: 'notifications/message', params: { data: 'one' } })
    t.match((await told.messages.next()).value, { params: { level: 'warning', data: 'two' } })
    t.match((await told.messages.next()).value, { result: { structuredContent: { told: 2 } } })
    t.same(runs, ['tell'])

    const asked = await wire.stream(toolCall('Talking__ask'), session)
    const question = (await asked.messages.next()).value
    t.match(question, { method: 'elicitation/create', params: { message: 'What?' } })
    const reply = { jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { said: 'x' } } }
    t.equal((await wire.send(reply, session)).status, 202)
    t.match((await asked.messages.next()).value, { result: { structuredContent: { done: true } } })
    t.same(runs, ['tell', 'ask', 'ask'], 'once to ask and once with the reply')
  },
)

t.test('plain call: a call that waits for its client can be cancelled, and its stream ends', async (t) => {
  const wire = await openWire(t, { apps: [talkingApp([])] })
  const session = { headers: { ...both, 'mcp-session-id': await openAsking(wire) } }
  const { messages } = await wire.stream(toolCall('Talking__ask'), session)
  t.match((await messages.next()).value, { method: 'elicitation/create' })
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
  await wire.send([cancelled], session)
  const seen: unknown[] = []
  for await (const message of messages) seen.push(message)
  t.match(seen.at(-1), { id: 1, error: { code: -32800 } })
})

t.test('plain call: messages below the level that the client set are not sent', async (t) => {
  const wire = await openWire(t, { apps: [talkingApp([])] })
  const session = { headers: { ...both, 'mcp-session-id': await wire.initialize() } }
  await wire.send(rpc('logging/setLevel', { level: 'warning' }), session)
  const { messages } = await wire.stream(toolCall('Talking__tell'), session)
  t.match((await messages.next()).value, { params: { data: 'two' } })
})

t.test('isPlainCall: nothing of the protocol beside name and arguments', async (t) => {
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
})
