import t from 'tap'
import { restartServer, startServer } from '../../test/e2e/server-process.ts'
import { verifies } from '../../test/verifies.ts'
import { Calls } from '../src/calls.ts'
import type { Deliver } from '../src/deliver.ts'
import type { Fields } from '../src/headers.ts'
import { createPost } from '../src/post.ts'
import { createSubscriptions } from '../src/subscription.ts'
import type { Reader, Upstream } from '../src/upstream.ts'
import type { Waiting } from '../src/wait.ts'
import { type Backend, type Got, type Stream, startBackend, type Wire } from './backend.ts'
import { type Client, modern, startBridge } from './client.ts'

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

/** Acknowledges every subscription; gives out the streams as they come. */
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

/** What becomes of one POST: the reader gets an answer, or the promise rejects. */
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

/** A subscription that knows no time: each POST meets the next attempt, `pause` takes as long as the test says. */
function outOfTime(attempts: Attempt[], pause: () => Promise<void> = async () => {}) {
  const calls = new Calls()
  const { id, method, params } = listen({})
  const [bytes, kind, claimed] = [Buffer.alloc(0), 'request', '2026-07-28'] as const
  const call = calls.open(bytes, [{ bytes, kind, id, method, params, claimed }])
  const pauses: number[] = []
  const absences: { wasThere: boolean }[] = []
  const log = () => {}
  const subscriptions = createSubscriptions({
    deliver: { event() {} } as unknown as Deliver,
    pause: (ms) => {
      pauses.push(ms)
      return attempts.length > 0 ? pause() : Promise.reject(new Error('a pause before nothing'))
    },
    random: () => 0,
    now: () => 0,
    log,
  })
  const post = createPost({
    upstream: {
      url: new URL('http://127.0.0.1/mcp'),
      post: (_fields: Fields, _body: Buffer, reader: Reader) => ({
        sent: Promise.resolve(),
        done: attempts.shift()?.(reader) ?? Promise.reject(new Error('a post too many')),
        wasWritten: () => false,
        abort() {},
      }),
    } as unknown as Upstream,
    deliver: subscriptions.deliver,
    limit: 1000,
    startWaiting: () => ({ pause: async () => false, waitedMs: () => 0 }) as unknown as Waiting,
    awaitServer: async (_waiting, _error, wasThere) => void absences.push({ wasThere }),
    mayStart: subscriptions.mayStart,
    log,
  })
  const follow = () => subscriptions.follow(call, () => post(call, {}, true))
  return { calls, call, subscriptions, follow, pauses, absences }
}

verifies('bridge:subscription:restart', 'none is opened again for a client that has cancelled', async (t) => {
  const left = [acknowledges, answers(400)]
  const { calls, call, follow, pauses } = outOfTime(left, () => {
    calls.settleAll(call)
    // Nothing waits for the end of the pause.
    return new Promise(() => {})
  })
  t.equal(await follow(), undefined)
  t.equal(pauses.length, 1)
  t.equal(left.length, 1, 'it was posted once')
})

verifies(
  'bridge:subscription:restart',
  'a busy server does not end one, and is asked again at the time that it names',
  async (t) => {
    const { follow, pauses } = outOfTime([
      acknowledges,
      answers(503, { 'retry-after': '30' }),
      answers(429),
      answers(503, { 'retry-after': '999999999' }),
      answers(400),
    ])
    t.match(await follow(), { reply: { status: 400 } })
    t.same(pauses, [200, 30_000, 800, 3_600_000])
    const fresh = outOfTime([answers(503, { 'retry-after': '30' })])
    t.match(await fresh.follow(), { reply: { status: 503 } }, 'but answers one that it has not acknowledged')
  },
)

verifies(
  'bridge:subscription:restart',
  'one that was acknowledged waits for the server and does not have it started',
  async (t) => {
    const { calls, subscriptions, follow, absences } = outOfTime([isAway, acknowledges, isAway, answers(400)])
    t.match(await follow(), { reply: { status: 400 } })
    t.same(absences, [{ wasThere: false }, { wasThere: true }])

    const bytes = Buffer.alloc(0)
    const own = {
      ...listen({}),
      bytes,
      kind: 'request',
      id: 'causeway-bridge/listen/2',
      claimed: undefined,
    } as const
    t.notOk(subscriptions.mayStart(calls.open(bytes, [own])), 'nor does one of the translation')
  },
)

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
