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
import { checkJson, jsonLimits, parseJson } from '../src/json-limits.ts'
import { failure, failureOf, idOf, isId, kindOf, success } from '../src/jsonrpc.ts'
import { claimedVersion, legacyVersions, meta, modernVersion, supportedVersions } from '../src/mcp.ts'
import { pathName, splitWireName, wireName, wireNamePattern } from '../src/names.ts'

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

const check = (text: string) => () => checkJson(Buffer.from(text))
const nested = (depth: number): string => `${'['.repeat(depth)}${' '.repeat(5000)}${']'.repeat(depth)}`
const objectWith = (count: number): string =>
  `{${Array.from({ length: count }, (_, index) => `"name ${index}" : 1`).join(',')}}`

verifies('limits:json', 'JSON with more than 500 levels is INVALID_REQUEST', async (t) => {
  t.doesNotThrow(check(nested(jsonLimits.depth)))
  const error = { code: 'INVALID_REQUEST', data: { limit_depth: jsonLimits.depth } }
  t.throws(check(nested(jsonLimits.depth + 1)), error)
  t.throws(check('{"a":'.repeat(jsonLimits.depth + 1) + ' '.repeat(5000)), error, 'without its end')
})

verifies('limits:json', 'JSON with more than 1,000,000 arrays and objects is BODY_TOO_LARGE', async (t) => {
  t.doesNotThrow(check(`[${'[],'.repeat(jsonLimits.containers - 2)}{}]`))
  t.throws(check(`[${'[],'.repeat(jsonLimits.containers - 1)}{}]`), { code: 'BODY_TOO_LARGE' })
})

verifies('limits:json', 'JSON with more than 2,000,000 values is BODY_TOO_LARGE', async (t) => {
  t.doesNotThrow(check(`[${'1,'.repeat(jsonLimits.values)}1]`))
  t.throws(check(`[${'1,'.repeat(jsonLimits.values + 1)}1]`), { code: 'BODY_TOO_LARGE' })
})

verifies('limits:json', 'JSON with more than 500,000 members is BODY_TOO_LARGE', async (t) => {
  t.doesNotThrow(check(`{${'"a":1,'.repeat(jsonLimits.members - 1)}"a":1}`))
  t.throws(check(`{${'"a":1,'.repeat(jsonLimits.members)}"a":1}`), { code: 'BODY_TOO_LARGE' })
})

verifies('limits:json', 'JSON with more than about 50,000 different names is BODY_TOO_LARGE', async (t) => {
  t.doesNotThrow(check(objectWith(jsonLimits.names)))
  t.throws(check(objectWith(jsonLimits.names * 1.1)), { code: 'BODY_TOO_LARGE' })
})

verifies('limits:json', 'long names that differ in one place count as different names', async (t) => {
  const count = 55_000
  for (const [before, after] of [
    [80, 0],
    [80, 40],
  ] as const) {
    const name = (index: number) => `${'a'.repeat(before)}${index}${'b'.repeat(after)}`
    const names = Array.from({ length: count }, (_, index) => `"${name(index)}":1`)
    t.throws(
      check(`{${names.join(',')}}`),
      { code: 'BODY_TOO_LARGE' },
      `${before} bytes before, ${after} after`,
    )
  }
})

t.test('checkJson reads a string that many colons follow once', async (t) => {
  const text = `{"${'a'.repeat(210_000)}"${':'.repeat(1000)}`
  let reads = 0
  const json = new Proxy(Buffer.from(text), {
    get(target, key) {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads += 1
      return Reflect.get(target, key, target)
    },
  })
  checkJson(json)
  t.ok(reads <= 3 * text.length, `${reads} reads of ${text.length} bytes`)
})

t.test('checkJson ignores brackets and colons in strings', async (t) => {
  t.doesNotThrow(check(JSON.stringify(['['.repeat(1000), '\\"['.repeat(2000), '"a":'.repeat(300_000)])))
})

t.test('parseJson returns undefined for text that is not JSON', async (t) => {
  t.same(parseJson('{"a":[1]}'), { a: [1] })
  t.equal(parseJson('{"a":'), undefined)
  t.throws(() => parseJson(nested(1000)), { code: 'INVALID_REQUEST' })
})

t.test('claimedVersion: what the message says of itself', async (t) => {
  t.equal(claimedVersion({ params: { _meta: { [meta.protocolVersion]: modernVersion } } }), modernVersion)
  for (const message of [null, 1, {}, { params: {} }, { params: { _meta: { [meta.protocolVersion]: 1 } } }])
    t.equal(claimedVersion(message), undefined)
})

t.test('supportedVersions: newest first', async (t) => {
  t.same(supportedVersions, [...supportedVersions].sort().reverse())
  t.same(supportedVersions, [modernVersion, ...legacyVersions])
})

t.test('wireName: app and tool, divided by two underscores', async (t) => {
  t.equal(wireName('Replay', 'get_frame'), 'Replay__get_frame')
  t.match(wireName('A1', 'b2_c3'), wireNamePattern)
})

t.test('wireName: what a client could not use is refused', async (t) => {
  for (const [app, tool] of [
    ['replay', 'get_frame'],
    ['Re__play', 'get_frame'],
    ['Replay', 'getFrame'],
    ['Replay', 'get__frame'],
    ['Replay', '_x'],
    ['Replay', 'trm.start'],
    ['Replay', 'x'.repeat(42)],
  ] as const)
    t.throws(() => wireName(app, tool), { code: 'INVALID_APP' }, `${app} ${tool}`)
  t.equal(wireName('Replay', 'x'.repeat(41)).length, 49)
})

t.test('splitWireName: the inverse, and undefined for what is none', async (t) => {
  t.same(splitWireName('Replay__get_frame'), { app: 'Replay', tool: 'get_frame' })
  t.equal(splitWireName('get_frame'), undefined)
  t.equal(splitWireName('__get_frame'), undefined)
})

t.test('pathName: lower case', async (t) => {
  t.equal(pathName('ToolVault'), 'toolvault')
})

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
