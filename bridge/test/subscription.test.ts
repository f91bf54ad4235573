import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { restartServer, startServer } from '../../test/e2e/server-process.ts'
import { inCI } from '../../test/tier.ts'
import { verifies } from '../../test/verifies.ts'
import { postCall } from '../src/calls/call-exchange.ts'
import type { Delivery } from '../src/calls/delivery.ts'
import { Forwarder } from '../src/calls/forwarder.ts'
import { PendingCalls } from '../src/calls/pending-calls.ts'
import type { Reader, Upstream } from '../src/http/upstream.ts'
import { followSubscription } from '../src/session/subscriptions.ts'
import { LegacyClientTranslator } from '../src/stages/eras/legacy-client.ts'
import { type Backend, type Got, type Stream, startBackend, type Wire } from './backend.ts'
import { type Client, initializeParams, modern, startBridge } from './client.ts'

t.setTimeout(300_000)

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

/** Makes the backend acknowledge subscriptions. `next` resolves to the stream of the next one. */
function acknowledge(backend: Backend): { next: () => Promise<Stream> } {
  const taken = new Set<Got>()
  backend.on('subscriptions/listen', () => {})
  return {
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

/** Returns the parameters of the next notification with this method and removes it. */
async function takeParams(bridge: Client, method: string): Promise<Wire> {
  const message = await bridge.saw(method)
  bridge.messages.all.splice(bridge.messages.all.indexOf(message), 1)
  return message.params
}

verifies('bridge:subscription:restart', async (t) => {
  const backend = await startBackend(t)
  const subscriptions = acknowledge(backend)
  // --wait limits only calls, not subscriptions.
  const bridge = startBridge(t, { url: backend.url, args: ['--wait', '50'] })
  bridge.send(listen({ toolsListChanged: true, resourceSubscriptions: ['a:1'] }))
  await subscriptions.next()
  t.same((await takeParams(bridge, acknowledged))._meta, { [subscriptionId]: 'sub' })

  await backend.stop()
  t.match(await bridge.call('away', 'ping', modern), { error: { data: { code: 'SERVER_UNREACHABLE' } } })
  await backend.start()
  const second = await subscriptions.next()
  t.same(await takeParams(bridge, 'notifications/tools/list_changed'), { _meta: { [subscriptionId]: 'sub' } })
  t.same(await takeParams(bridge, 'notifications/resources/updated'), {
    uri: 'a:1',
    _meta: { [subscriptionId]: 'sub' },
  })

  second.send({ jsonrpc: '2.0', id: 'sub', result: { resultType: 'complete' } })
  second.end()
  const third = await subscriptions.next()
  await takeParams(bridge, 'notifications/tools/list_changed')
  third.break()
  const fourth = await subscriptions.next()
  await takeParams(bridge, 'notifications/tools/list_changed')
  t.notOk(
    bridge.messages.all.some(({ id, method }) => id === 'sub' || method === acknowledged),
    'the client sees one uninterrupted subscription',
  )
  fourth.send({ jsonrpc: '2.0', id: 'sub', error: { code: -32603, message: 'no more' } })
  t.match(await bridge.answer('sub'), { error: { message: 'no more' } }, 'an error ends it')
})

/** Answers one POST: passes a response to the reader, or rejects. */
type Attempt = (reader: Reader) => Promise<void>

const acknowledges: Attempt = async (reader) => {
  const message = { jsonrpc: '2.0', method: acknowledged, params: { notifications: {} } }
  reader.head(200, { 'content-type': 'text/event-stream' })
  reader.data(Buffer.from(`data: ${JSON.stringify(message)}\n\n`))
}
const answers =
  (status: number, headers = {}): Attempt =>
  async (reader) =>
    reader.head(status, headers)
const isAway: Attempt = () => Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }))

const log = () => {}
const url = new URL('http://127.0.0.1/mcp')

/** Creates a subscription without a clock. Each POST uses the next attempt; `pause` replaces the retry delay. */
function createSubscription(attempts: Attempt[], pause: () => Promise<void> = async () => {}) {
  const calls = new PendingCalls()
  const { id, method, params } = listen({})
  const [bytes, kind, claimedVersion] = [Buffer.alloc(0), 'request', '2026-07-28'] as const
  const call = calls.open(bytes, [{ bytes, kind, id, method, params, claimedVersion }])
  const pauses: number[] = []
  let starts = 0
  const delivery = {
    deliverEvent: (...[event, call]: Parameters<Delivery['deliverEvent']>) => void call?.intercept?.(event),
    deliver: () => true,
  } as unknown as Delivery
  const countedPause = (ms: number): Promise<void> => {
    pauses.push(ms)
    return attempts.length > 0 ? pause() : Promise.reject(new Error('no attempt is left'))
  }
  const link = {
    upstream: {
      url,
      send: (_request: unknown, reader: Reader) => ({
        done: attempts.shift()?.(reader) ?? Promise.reject(new Error('no attempt is left')),
        wasWritten: () => false,
        whenWritten: async () => {},
        abort() {},
      }),
    } as unknown as Upstream,
    delivery,
    retry: {
      url,
      budgetMs: 1000,
      monitor: { waitForResponse: async () => true, tryProbe: () => true, recordFailure() {} },
      autostart: {
        start: async () => {
          starts += 1
        },
        logFile: '',
      },
      now: () => 0,
      random: () => 0,
    },
    log,
  }
  const options = { key: { id: undefined, version: undefined }, fields: {}, isSafe: false }
  const follow = () =>
    followSubscription({ ...link, pause: countedPause }, call, () => postCall(link, call, options))
  return { calls, call, follow, pauses, starts: () => starts }
}

verifies('bridge:subscription:restart', 'does not reopen a cancelled subscription', async (t) => {
  const left = [acknowledges, answers(400)]
  const { calls, call, follow, pauses } = createSubscription(left, () => {
    calls.settleAll(call)
    // The cancellation ends the pause.
    return new Promise(() => {})
  })
  t.equal(await follow(), undefined)
  t.equal(pauses.length, 1)
  t.equal(left.length, 1, 'it was posted once')
})

verifies('bridge:subscription:restart', 'posts again only after the pause', async (t) => {
  const { follow, pauses } = createSubscription([acknowledges, acknowledges], () => new Promise(() => {}))
  void follow()
  while (pauses.length === 0) await setImmediate()
  t.equal(pauses.length, 1)
})

verifies(
  'bridge:subscription:restart',
  'honours Retry-After of a busy server if the subscription is acknowledged',
  async (t) => {
    const { follow, pauses } = createSubscription([
      acknowledges,
      answers(503, { 'retry-after': '30' }),
      answers(429),
      answers(503, { 'retry-after': '999999999' }),
      answers(400),
    ])
    t.match(await follow(), { reply: { status: 400 } })
    t.same(pauses, [200, 30_000, 800, 3_600_000])
    const fresh = createSubscription([answers(503, { 'retry-after': '30' })])
    t.match(
      await fresh.follow(),
      { reply: { status: 503 } },
      'but ends a subscription that is not acknowledged',
    )
  },
)

verifies(
  'bridge:subscription:restart',
  'an acknowledged subscription waits for an unreachable server without starting it',
  async (t) => {
    const { calls, follow, starts } = createSubscription([isAway, acknowledges, isAway, answers(400)])
    t.match(await follow(), { reply: { status: 400 } })
    t.equal(starts(), 1)

    const bytes = Buffer.alloc(0)
    const own = {
      ...listen({}),
      bytes,
      kind: 'request',
      id: 'causeway-bridge/listen/2',
      claimedVersion: undefined,
    } as const
    const call = calls.open(bytes, [own])
    const forwarder = new Forwarder({
      upstream: {
        url,
        send: (_request: unknown, reader: Reader) => {
          calls.settleAll(call)
          reader.head(200, {})
          return { done: Promise.resolve() }
        },
      },
      session: { key: {}, isLost: () => false },
      identity: { call: () => ({}) },
      retry: { now: () => 0 },
      log,
    } as unknown as ConstructorParameters<typeof Forwarder>[0])
    await forwarder.forward(call)
    t.equal(call.canStartServer, false, 'nor does a request of the translation start it')
  },
)

verifies('bridge:subscription:restart', 'forwards the rejection of a subscription', async (t) => {
  const backend = await startBackend(t)
  backend.on('subscriptions/listen', (got) =>
    got.json({ jsonrpc: '2.0', id: 'sub', error: { code: -32602, message: 'no' } }, { status: 400 }),
  )
  const bridge = startBridge(t, { url: backend.url })
  bridge.send(listen({}))
  t.match(await bridge.answer('sub'), { error: { code: -32602 } })
})

verifies(
  'bridge:subscription:restart',
  'a subscription survives a restart of a real server',
  inCI(async (t) => {
    const running = await startServer(t, { dir: t.testdir() })
    const bridge = startBridge(t, { url: `${running.url}/mcp`, timeoutMs: 60_000 })
    bridge.send(listen({ toolsListChanged: true }))
    await bridge.saw(acknowledged)
    await restartServer(t, running)
    t.same((await bridge.saw('notifications/tools/list_changed')).params, {
      _meta: { [subscriptionId]: 'sub' },
    })
    t.notOk(bridge.messages.all.some(({ id }) => id === 'sub'))
  }),
)

verifies(
  'bridge:translate:legacy-client',
  'no listen request has more than 1000 URIs, and a client can watch 10,000',
  async (t) => {
    /** JSON texts, by id, of listen requests that are not cancelled. */
    const active = new Map<unknown, string>()
    let longest = 0
    const received = new Map<unknown, Wire>()
    const translator = new LegacyClientTranslator(
      {
        toServer(line) {
          longest = Math.max(longest, line.length)
          const id = /^\{"jsonrpc":"2.0","id":"([^"]+)","method":"subscriptions\/listen"/.exec(
            String(line),
          )?.[1]
          if (id === undefined) active.delete(JSON.parse(String(line)).params.requestId)
          else active.set(id, String(line))
        },
        toClient(line) {
          const message = JSON.parse(String(line))
          received.set(message.id ?? message.method, message)
        },
      },
      {
        initialize: { jsonrpc: '2.0', id: 'init', method: 'initialize', params: initializeParams },
        discovered: { capabilities: { tools: { listChanged: true } } },
        retryMs: 0,
        warn() {},
      },
    )
    const change = (method: string, uri: string): Wire => {
      translator.fromClient({ jsonrpc: '2.0', id: uri, method, params: { uri } })
      return received.get(uri)
    }
    const findFilters = (): Wire[] =>
      [...active.values()].map((line) => JSON.parse(line).params.notifications)
    const countWatched = (): number =>
      new Set(findFilters().flatMap(({ resourceSubscriptions = [] }) => resourceSubscriptions)).size
    const findListsId = () => [...active].find(([, line]) => line.includes('"toolsListChanged":true'))?.[0]

    translator.fromClient({ jsonrpc: '2.0', method: 'notifications/initialized' })
    for (let i = 1; i <= 10_000; i += 1) change('resources/subscribe', `test://${i}`)
    t.match(received.get('test://10000'), { result: {} })
    t.equal(countWatched(), 10_000, 'every URI is watched')
    t.same(
      findFilters().map(({ resourceSubscriptions }) => resourceSubscriptions.length),
      Array(10).fill(1000),
    )
    t.ok(longest < 1000 * 'test://10000,""'.length + 1000, 'no earlier request was longer')
    t.equal(findFilters().filter(({ toolsListChanged }) => toolsListChanged === true).length, 1)
    t.match(change('resources/subscribe', 'test://more').error, {
      code: -32602,
      message: /at most 10000 resources/,
      data: { code: 'INVALID_PARAMS', data: { limit_count: 10_000 } },
    })

    const endedId = findListsId()
    active.delete(endedId)
    translator.fromServer({ jsonrpc: '2.0', id: endedId, result: {} })
    // Keeps the process alive, because the retry timer does not.
    while (findListsId() === undefined) await setImmediate()
    t.equal(countWatched(), 10_000, 'a request that ended is sent again')
    const acknowledge = (id: unknown): void => {
      const params = { _meta: { 'io.modelcontextprotocol/subscriptionId': id } }
      translator.fromServer({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params })
    }
    acknowledge([...active.keys()].find((id) => id !== findListsId()))
    t.notOk(received.has('notifications/tools/list_changed'), 'another request does not cover the lists')
    acknowledge(findListsId())
    t.ok(received.has('notifications/tools/list_changed'))

    for (let i = 1; i <= 10_000; i += 1) change('resources/unsubscribe', `test://${i}`)
    t.same(findFilters(), [{ toolsListChanged: true }], 'only the lists remain')
    t.match(change('resources/subscribe', 'test://more'), { result: {} })
  },
)

verifies(
  'bridge:translate:legacy-client',
  'subscriptions that the server rejects permanently are not requested again, with one warning',
  async (t) => {
    const rejections = [
      { code: -32601, message: 'Method not found' },
      {
        code: -32603,
        message: 'HTTP 403',
        data: { code: 'SERVER_ANSWER_INVALID', data: { http_status: 403 } },
      },
    ]
    const retried = [
      { code: -32603, message: 'failed' },
      {
        code: -32603,
        message: 'HTTP 500',
        data: { code: 'SERVER_ANSWER_INVALID', data: { http_status: 500 } },
      },
      { code: -32601, message: 'starting', data: { retryable: true } },
    ]
    // Retries of the second group come last, so that the loop below waits long enough for wrong retries of the first.
    const outcomes = [...rejections, ...retried].map((error) => ({
      error,
      requests: [] as string[],
      warnings: [] as string[],
    }))
    for (const { error, requests, warnings } of outcomes) {
      const translator = new LegacyClientTranslator(
        {
          toServer(line) {
            requests.push(JSON.parse(String(line)).id)
            if (requests.length < 3)
              queueMicrotask(() => translator.fromServer({ jsonrpc: '2.0', id: requests.at(-1), error }))
          },
          toClient() {},
        },
        {
          initialize: { jsonrpc: '2.0', id: 'init', method: 'initialize', params: initializeParams },
          discovered: { capabilities: { tools: { listChanged: true } } },
          retryMs: 0,
          warn: (text) => warnings.push(text),
        },
      )
      translator.fromClient({ jsonrpc: '2.0', method: 'notifications/initialized' })
    }
    // Keeps the process alive, because the retry timer does not.
    while (outcomes.some(({ error, requests }) => retried.includes(error) && requests.length < 3))
      await setImmediate()
    t.same(
      outcomes.map(({ requests, warnings }) => [requests.length, warnings.length]),
      [
        [1, 1],
        [1, 1],
        [3, 0],
        [3, 0],
        [3, 0],
      ],
    )
  },
)
