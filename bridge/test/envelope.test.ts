import t from 'tap'
import { readEnvelope } from '../src/envelope.ts'

/** Beyond this length only the outer members are read. */
const pad = 'x\\"\\\\'.repeat(20_000)

const messages: Record<string, unknown> = {
  'an answer': { kind: 'response', id: 1, hasResult: true },
  'an answer behind its id': { kind: 'response', id: 'a"b', hasResult: true },
  'an error': { kind: 'response', id: null, hasResult: false },
  'a notification': { kind: 'notification', id: null, hasResult: false },
  'a request': { kind: 'request', id: 0, hasResult: false },
  neither: { kind: 'invalid', id: 5, hasResult: false },
}
const texts: Record<string, (text: string) => string> = {
  'an answer': (text) => `{"jsonrpc":"2.0","result":{"a":[{"b":"${text}"}],"id":9},"id":1}`,
  'an answer behind its id': (text) => ` {"id" : "a\\"b",\n"jsonrpc":"2.0" , "result":"${text}"} `,
  'an error': (text) => `{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"${text}"}}`,
  'a notification': (text) => `{"jsonrpc":"2.0","method":"n","params":{"result":1,"text":"${text}"}}`,
  'a request': (text) => `{"jsonrpc":"2.0","id":0,"method":"m","params":{"text":"${text}"}}`,
  neither: (text) => `{"jsonrpc":"2.0","id":5,"other":["${text}"]}`,
}

t.test('readEnvelope: long and short texts are read alike', async (t) => {
  for (const [name, text] of Object.entries(texts))
    for (const inner of ['short', pad]) t.match(readEnvelope(Buffer.from(text(inner))), messages[name], name)
})

t.test('readEnvelope: a text that is cut off anywhere outside its end is no message', async (t) => {
  const whole = Buffer.from((texts['an answer'] as (text: string) => string)(pad))
  for (const end of [whole.length - 1, whole.length - 9, whole.length - 40, 70_000])
    t.equal(readEnvelope(whole.subarray(0, end)), undefined, `${end}`)
  for (const more of ['}', 'x', ',"a":1'])
    t.equal(readEnvelope(Buffer.concat([whole, Buffer.from(more)])), undefined)
})

t.test('readEnvelope: what is no object is no message', async (t) => {
  for (const text of [
    '',
    ' ',
    '[]',
    '7',
    'null',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1,',
    '{"a":1,}',
    '{a:1}',
    '"',
    'é',
  ])
    for (const padded of [text, text + ' '.repeat(70_000)])
      t.equal(readEnvelope(Buffer.from(padded)), undefined, text)
})

t.test('readEnvelope: a member may have any name', async (t) => {
  const text = `{"__proto__":{"jsonrpc":"2.0"},"jsonrpc":"2.0","id":1,"result":"${pad}"}`
  t.match(readEnvelope(Buffer.from(text)), { kind: 'response', id: 1 })
})

t.test('readEnvelope: a deep text and one of quotes only take no long time and no stack', async (t) => {
  const deep = '['.repeat(500_000) + ']'.repeat(500_000)
  t.match(readEnvelope(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${deep}}`)), { kind: 'response' })
  const quotes = '\\"'.repeat(500_000)
  t.match(readEnvelope(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":"${quotes}"}`)), { kind: 'response' })
})
