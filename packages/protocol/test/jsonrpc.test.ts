import t from 'tap'
import { CausewayError } from '../src/causeway-error.ts'
import { failure, failureOf, idOf, isId, kindOf, success } from '../src/jsonrpc.ts'

const v = { jsonrpc: '2.0' }

t.test('kindOf: tells the four kinds apart', async (t) => {
  for (const [kind, value] of [
    ['request', { ...v, id: 0, method: 'ping' }],
    ['request', { ...v, id: '', method: 'ping', params: {} }],
    ['request', { ...v, id: -1.5, method: 'ping' }],
    ['notification', { ...v, method: 'ping' }],
    ['response', { ...v, id: 1, result: null }],
    ['response', { ...v, id: 1, error: { code: 1, message: '' } }],
    ['response', { ...v, id: null, error: { code: 1, message: '' } }],
    ['invalid', { ...v, id: null, method: 'ping' }],
    ['invalid', { ...v, id: true, method: 'ping' }],
    ['invalid', { ...v, id: 1, method: 'ping', params: [] }],
    ['invalid', { ...v, id: 1, method: 7 }],
    ['invalid', { ...v, id: 1 }],
    ['invalid', { ...v, result: 1 }],
    ['invalid', { ...v, id: null, result: 1 }],
    ['invalid', { ...v, id: 1, result: 1, error: {} }],
    ['invalid', { id: 1, method: 'ping' }],
    ['invalid', { jsonrpc: '1.0', id: 1, method: 'ping' }],
    ['invalid', [v]],
    ['invalid', 42],
    ['invalid', null],
    ['invalid', 'ping'],
  ] as const)
    t.equal(kindOf(value), kind, JSON.stringify(value))
})

t.test('isId and idOf: strings and finite numbers, kept by type', async (t) => {
  t.ok(['', 'a', 0, -1, 1.5].every(isId))
  t.notOk([null, undefined, true, {}, Number.NaN, Number.POSITIVE_INFINITY].some(isId))
  t.equal(idOf({ id: '7', anything: 1 }), '7')
  t.equal(idOf({ id: 0 }), 0)
  t.equal(idOf({ id: {} }), null)
  t.equal(idOf([{ id: 1 }]), null)
})

t.test('answers: good, bad and coded', async (t) => {
  t.same(success('a', { x: 1 }), { ...v, id: 'a', result: { x: 1 } })
  t.same(failure(null, -32700, 'no'), { ...v, id: null, error: { code: -32700, message: 'no' } })
  t.same(failure(1, 1, 'no', [1]), { ...v, id: 1, error: { code: 1, message: 'no', data: [1] } })
  t.match(failureOf(2, new CausewayError('UNKNOWN_TOOL', 'no such tool: x')), {
    id: 2,
    error: {
      code: -32602,
      message: 'no such tool: x; call tools/list for the names',
      data: { code: 'UNKNOWN_TOOL', retryable: false },
    },
  })
})
