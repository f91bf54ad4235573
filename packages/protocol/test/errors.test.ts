import { readdirSync } from 'node:fs'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import {
  answerText,
  asCausewayError,
  CausewayError,
  errorObject,
  errorText,
  isCausewayError,
  limitData,
} from '../src/causeway-error.ts'
import { codes, rowOf } from '../src/errors.ts'

t.test('error table: every row can be told on each channel', async (t) => {
  for (const [code, row] of Object.entries(codes)) {
    t.match(code, /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/, code)
    t.ok(Number.isInteger(row.rpc) && row.rpc < 0, `${code}: a JSON-RPC number`)
    t.ok(row.http >= 400 && row.http < 600, `${code}: an HTTP status of a failure`)
    t.match(row.about, /^[^A-Z].*[^.]$/, `${code}: said in lower case without a period`)
    t.match(row.remedy, /^[^A-Z].*[^.]$/, `${code}: a remedy in lower case without a period`)
  }
})

t.test('error table: no code stands in two areas', async (t) => {
  const folder = new URL('../src/error-rows/', import.meta.url)
  const areas = readdirSync(folder).filter((name) => name !== 'row.ts')
  const named: string[] = []
  for (const name of areas)
    for (const rows of Object.values<object>(await import(new URL(name, folder).href)))
      named.push(...Object.keys(rows))
  t.same(named.sort(), Object.keys(codes).sort())
})

t.test('error table: it cannot be changed', async (t) => {
  t.throws(() => Object.assign(codes, { INTERNAL: undefined }), TypeError)
  t.throws(() => Object.assign(codes.INTERNAL, { http: 200 }), TypeError)
})

t.test('CausewayError: the remedy of the table stands unless the thrower knows better', async (t) => {
  t.equal(new CausewayError('NO_RECORDING', 'no recording loaded').remedy, codes.NO_RECORDING.remedy)
  t.equal(new CausewayError('NO_RECORDING', 'gone', { remedy: 'load it again' }).remedy, 'load it again')
})

t.test('errorText: code, what is wrong, what to do', async (t) => {
  const error = new CausewayError('NO_RECORDING', 'no recording loaded')
  t.equal(errorText(error), 'NO_RECORDING: no recording loaded; call load_recording first')
})

t.test('answerText: what the remedy names of the data follows the line', async (t) => {
  const told = (remedy: string, data: Record<string, unknown>) =>
    answerText(errorObject(new CausewayError('NO_RECORDING', 'none', { remedy, data })))
  t.equal(told('call again', { a: 1 }), 'NO_RECORDING: none; call again')
  t.equal(
    told('use data.a or data.b, not data.c', { a: [1, 2], b: 'two', d: 4 }),
    'NO_RECORDING: none; use data.a or data.b, not data.c\ndata.a: [1,2]\ndata.b: two',
  )
  t.equal(
    told('look at data.diff', { diff: '-a\n+b' }),
    'NO_RECORDING: none; look at data.diff\ndata.diff: \n-a\n+b',
  )
  t.ok(told('look at data.long', { long: 'x'.repeat(100_000) }).length < 5000)
})

t.test('errorObject: the shape that clients get, without stack and cause', async (t) => {
  const error = new CausewayError('NO_RECORDING', 'none', { data: { a: 1 }, cause: new Error('inside') })
  t.same(errorObject(error), {
    code: 'NO_RECORDING',
    message: 'none',
    remedy: 'call load_recording first',
    data: { a: 1 },
    legacy_code: -32000,
    retryable: false,
  })
  t.equal(errorObject(new CausewayError('OVERLOADED', 'busy')).legacy_code, null)
  t.equal(errorObject(new CausewayError('OVERLOADED', 'busy')).retryable, true)
})

t.test('isCausewayError: known by its code, also from another copy of the module', async (t) => {
  t.ok(isCausewayError(new CausewayError('INTERNAL', 'x')))
  const twin = Object.assign(new Error('x'), {
    name: 'CausewayError',
    code: 'INTERNAL',
    remedy: '',
    data: {},
  })
  t.ok(isCausewayError(twin))
  t.notOk(isCausewayError(Object.assign(new Error('x'), { name: 'CausewayError', code: 'toString' })))
  t.notOk(isCausewayError(Object.assign(new Error('x'), { name: 'CausewayError' })))
  t.notOk(
    isCausewayError(Object.assign(new Error('x'), { code: 'INTERNAL' })),
    'another library may use our code',
  )
  t.notOk(isCausewayError({ name: 'CausewayError', code: 'INTERNAL' }))
})

t.test('asCausewayError: what is not ours becomes INTERNAL and keeps its cause for the log', async (t) => {
  const ours = new CausewayError('CANCELLED', 'x')
  t.equal(asCausewayError(ours), ours)
  const cause = new TypeError('secret')
  const coded = asCausewayError(cause)
  t.match(coded, { code: 'INTERNAL', cause })
  t.notMatch(JSON.stringify(errorObject(coded)), /secret/)
  t.equal(rowOf(coded.code).http, 500)
})

verifies('limits:error', 'an error object has at most about 64,000 characters of data', async (t) => {
  const data = { name: 'x'.repeat(1e6), list: Array.from({ length: 1e5 }, () => ({ a: 1 })), last: true }
  const error = new CausewayError('INVALID_PARAMS', `no such thing: ${'x'.repeat(1e6)}`, { data })
  const object = errorObject(error)
  t.equal(error.message.length, 4001)
  t.ok(JSON.stringify(object).length < 80_000)
  t.match(object.data, { name: /^x{16000}…$/, list: [{ a: 1 }], truncated: true })
  t.equal(error.data, data, 'the error keeps its data')
})

verifies('limits:error', 'data that is nested too deeply is left out', async (t) => {
  const nested = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`) as unknown
  const object = errorObject(new CausewayError('INVALID_PARAMS', 'wrong', { data: { nested } }))
  t.equal(object.data.truncated, true)
  t.ok(JSON.stringify(object).length < 1000)
})

t.test('limitData returns short data as it is', async (t) => {
  const data = { at: new Date(0), none: undefined, list: [1, 'a', null] }
  t.equal(limitData(data), data)
})
