import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { fieldValue, messageFields } from '../src/headers.ts'
import { createIdentity } from '../src/identity.ts'
import { type Incoming, readLine } from '../src/message.ts'

/** A message as the bridge reads it. */
function read(message: object): Incoming {
  const [line] = readLine(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message })))
  if (line?.type !== 'message') throw new Error('not a message')
  return line.message
}

const mark = { id: 's1', version: '2025-06-18' }
const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
const forms = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

verifies(
  'bridge:relay:protocol-version',
  'messageFields: a legacy message carries its session',
  async (t) => {
    t.same(messageFields(read({ id: 1, method: 'tools/list' }), mark), {
      ...forms,
      'mcp-session-id': 's1',
      'mcp-protocol-version': '2025-06-18',
    })
    t.same(messageFields(read({ id: 1, method: 'initialize' }), mark), forms, 'initialize belongs to none')
  },
)

verifies(
  'bridge:relay:protocol-version',
  'messageFields: a stateless message mirrors its body and carries no session',
  async (t) => {
    const fields = (method: string, params: object) =>
      messageFields(read({ id: 1, method, params: { ...params, _meta } }), mark)
    const common = { ...forms, 'mcp-protocol-version': '2026-07-28' }
    t.same(fields('tools/list', {}), { ...common, 'mcp-method': 'tools/list' })
    const named = [
      ['tools/call', 'name'],
      ['prompts/get', 'name'],
      ['resources/read', 'uri'],
      ['tasks/get', 'taskId'],
    ] as const
    for (const [method, source] of named)
      t.same(fields(method, { [source]: 'x' }), { ...common, 'mcp-method': method, 'mcp-name': 'x' })
    t.same(fields('tools/call', { name: 5 }), { ...common, 'mcp-method': 'tools/call' }, 'not a text')
    t.same(fields('toString', { name: 'x' }), { ...common, 'mcp-method': 'toString' })
  },
)

t.test('fieldValue: what a header cannot hold is Base64 of its UTF-8 between marks', async (t) => {
  for (const safe of ['Replay__get_frame', 'a b', 'file:///a%20b', '=?base64?', 'x'])
    t.equal(fieldValue(safe), safe)
  for (const unsafe of ['é', '', ' a', 'a ', 'a\nb', '\0', '😀', '=?base64?eA==?=', '\u007f']) {
    const value = fieldValue(unsafe)
    t.match(value, /^=\?base64\?[A-Za-z0-9+/=]*\?=$/)
    t.equal(Buffer.from(value.slice(9, -2), 'base64').toString(), unsafe)
  }
})

t.test('createIdentity: two calls with one id are two calls', async (t) => {
  const identity = createIdentity('me', 'r1')
  t.not(identity.call(1, undefined)['causeway-request'], identity.call(1, undefined)['causeway-request'])
  for (const id of ['a b', 'é\n', '', 'x'.repeat(65)])
    t.match(
      identity.call(id, undefined)['causeway-request'],
      /^me\.r1-\d+$/,
      'what no header can hold is left out',
    )
  t.not(
    createIdentity('me', 'r1').call(1, undefined)['causeway-request'],
    createIdentity('me', 'r2').call(1, undefined)['causeway-request'],
    'a session that outlives its process does not repeat the calls of the last',
  )
})

t.test('createIdentity: a call belongs to the trace of its message, else to one of its own', async (t) => {
  const identity = createIdentity('me', 'r1')
  const given = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  t.equal(identity.call(1, given).traceparent, given)
  const made = [undefined, 'nonsense', 7].map((odd) => String(identity.call(1, odd).traceparent))
  for (const one of made) t.match(one, /^00-[\da-f]{32}-[\da-f]{16}-01$/)
  t.equal(new Set(made).size, 3)
})
