import t, { type Test } from 'tap'
import { verifies } from '../../test/verifies.ts'
import { readEnvelope, withId } from '../src/envelope.ts'
import { createQuestions } from '../src/questions.ts'
import { handshake, type Stream, startBackend, type Wire } from './backend.ts'
import { type Client, startBridge } from './client.ts'

const question = (id: string | number, method = 'roots/list') => ({ jsonrpc: '2.0', id, method })

/** An open bridge whose server asked question 0 and, in the session after `begin`, asks with the same id again. */
async function askedTwice(t: Test, begin: (bridge: Client) => Promise<unknown>) {
  const backend = await startBackend(t)
  let session = 'one'
  backend.on('initialize', (got) => got.result(handshake, { 'mcp-session-id': session }))
  backend.on('tools/list', (got) =>
    got.headers['mcp-session-id'] === session ? got.result({ tools: [] }) : got.status(404),
  )
  const streamOf = async (name: string): Promise<Stream> =>
    (await backend.saw('GET', ({ headers }) => headers['mcp-session-id'] === name)).stream()
  backend.on('GET', () => {})
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  const first = await streamOf('one')
  first.send(question(0))
  await bridge.saw('roots/list')
  session = 'two'
  await begin(bridge)
  const second = await streamOf('two')
  second.send(question(0, 'elicitation/create'))
  const shown = await bridge.saw('elicitation/create')
  const answers = () => backend.got.all.filter(({ message }) => message !== undefined && 'result' in message)
  return { backend, bridge, second, shown, answers }
}

/** The server no longer knows the session. */
const findLost = (bridge: Client) => bridge.call(1, 'tools/list')

verifies(
  'bridge:session:restart',
  'a question of the session that is gone is taken back, and its answer answers no other one',
  async (t) => {
    const { backend, bridge, shown, answers } = await askedTwice(t, findLost)
    t.match(await bridge.saw('notifications/cancelled'), { params: { requestId: 0 } })
    t.not(shown.id, 0)
    bridge.send({ jsonrpc: '2.0', id: 0, result: { roots: [] } })
    bridge.send({ jsonrpc: '2.0', id: shown.id, result: { action: 'accept' } })
    t.match((await backend.saw('response')).message, { id: 0, result: { action: 'accept' } })
    await bridge.call(2, 'tools/list')
    t.equal(answers().length, 1, 'the first answer is dropped')
  },
)

verifies(
  'bridge:session:restart',
  'a client that initializes again may still answer a question of its session before: that is dropped',
  async (t) => {
    const { backend, bridge, shown, answers } = await askedTwice(t, (bridge) => bridge.open())
    bridge.send({ jsonrpc: '2.0', id: 0, result: { roots: [] } })
    bridge.send({ jsonrpc: '2.0', id: shown.id, result: { action: 'accept' } })
    t.match((await backend.saw('response')).message, { id: 0, result: { action: 'accept' } })
    await bridge.call(2, 'tools/list')
    t.equal(answers().length, 1)
    t.notOk(bridge.messages.all.some(({ method }) => method === 'notifications/cancelled'))
  },
)

verifies('bridge:session:restart', 'a question under an id of ours is taken back by it', async (t) => {
  const { bridge, second, shown } = await askedTwice(t, findLost)
  second.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 0, reason: 'late' } })
  const notice = await bridge.messages.first(
    'the second cancellation',
    ({ method, params }) => method === 'notifications/cancelled' && params.reason === 'late',
  )
  t.equal(notice.params.requestId, shown.id)
})

t.test('questions: one that comes twice by a stream taken up again keeps its id', async (t) => {
  const questions = createQuestions()
  const bytes = Buffer.from(JSON.stringify(question('a')))
  const envelope = readEnvelope(bytes)
  if (envelope === undefined) return t.fail('it is a message')
  t.equal(questions.toClient(bytes, envelope), bytes)
  t.equal(questions.toClient(bytes, envelope), bytes)
  t.same(
    questions.drop().map((notice) => JSON.parse(notice.toString()).params.requestId),
    ['a'],
  )
  const renamed = questions.toClient(bytes, envelope)
  t.same(questions.toClient(bytes, envelope), renamed)
  t.same(JSON.parse(renamed.toString()), { ...question('a'), id: 'causeway-question-1' })
})

t.test('questions: one under an id of ours is taken back however deep the notification is', async (t) => {
  const questions = createQuestions()
  const toClient = (text: string): Wire => {
    const bytes = Buffer.from(text)
    const envelope = readEnvelope(bytes)
    if (envelope === undefined) throw new Error('it is no message')
    return JSON.parse(questions.toClient(bytes, envelope).toString())
  }
  toClient(JSON.stringify(question(0)))
  questions.drop()
  const { id } = toClient(JSON.stringify(question(0)))
  const takeBack = (more: string): string =>
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0,${more}}}`
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
  t.same(toClient(takeBack(`"reason":"late","_meta":{"x":${deep}}`)).params, {
    requestId: id,
    reason: 'late',
  })
  t.same(toClient(takeBack(`"reason":${deep}`)).params, { requestId: id })
})

t.test('withId: all but the id stays as it is written', async (t) => {
  const withNine = (text: string) => withId(Buffer.from(text), 9).toString()
  t.equal(withNine(' { "id" : "a\\"}" , "result": 1e2 }'), ' { "id" : 9 , "result": 1e2 }')
  t.equal(withNine('{"error":{"id":1}}'), '{"id":9,"error":{"id":1}}')
  t.equal(withNine('[{"id":1}]'), '[{"id":1}]')
  t.equal(withNine('{"id":1,"id":2}'), '{"id":1,"id":9}', 'the one that counts')
})
