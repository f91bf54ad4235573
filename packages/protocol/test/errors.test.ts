import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import {
  asCausewayError,
  CausewayError,
  declareError,
  defineErrors,
  fromPlainError,
  isCausewayError,
  reviseError,
  toPlainError,
} from '../src/causeway-error.ts'
import { formatAnswerText, formatErrorText, limitData, toErrorObject } from '../src/error-object.ts'
import { createErrorResponse } from '../src/jsonrpc.ts'

const LampError = defineErrors({
  LAMP_BROKEN: { status: 422, about: 'the lamp is broken', remedy: 'replace it' },
  LAMP_HOT: { rpc: -32001, status: 503, retryable: true, legacyCode: 7, about: 'it is hot', remedy: 'wait' },
})

t.test('defineErrors declares codes with defaults for the JSON-RPC number and retryable', async (t) => {
  t.same(LampError.definitions, {
    LAMP_BROKEN: {
      rpc: -32000,
      status: 422,
      retryable: false,
      about: 'the lamp is broken',
      remedy: 'replace it',
    },
    LAMP_HOT: {
      rpc: -32001,
      status: 503,
      retryable: true,
      legacyCode: 7,
      about: 'it is hot',
      remedy: 'wait',
    },
  })
  const error = new LampError('LAMP_HOT', 'the lamp is hot', { data: { celsius: 90 } })
  t.ok(error instanceof CausewayError)
  t.equal(error.constructor.name, 'CausewayError', 'the type in the log')
  t.same(toErrorObject(error), {
    code: 'LAMP_HOT',
    message: 'the lamp is hot',
    remedy: 'wait',
    data: { celsius: 90 },
    legacy_code: 7,
    retryable: true,
  })
  t.match(createErrorResponse(1, error), { error: { code: -32001 } })
})

t.test('defineErrors rejects a malformed code, status, number or text', async (t) => {
  const valid = { status: 400, about: 'a', remedy: 'b' }
  for (const [code, declaration] of [
    ['lampBroken', valid],
    ['LAMP__BROKEN', valid],
    ['LAMP', { ...valid, status: 200 }],
    ['LAMP', { ...valid, status: 404.5 }],
    ['LAMP', { ...valid, rpc: 1 }],
    ['LAMP', { ...valid, about: '' }],
    ['LAMP', { status: 400, about: 'a' }],
  ] as const)
    t.throws(
      () => defineErrors({ [code]: declaration as typeof valid }),
      TypeError,
      JSON.stringify(declaration),
    )
})

t.test('an undeclared code is a type error and gets HTTP status 500 and a general remedy', async (t) => {
  const expected = {
    remedy: 'see the documentation of the app',
    definition: { rpc: -32000, status: 500 },
  }
  // @ts-expect-error
  t.match(new LampError('LAMP_LOST', 'the lamp is lost'), { code: 'LAMP_LOST', ...expected })
  // @ts-expect-error
  t.match(new LampError('toString', 'the lamp is lost'), { code: 'toString', ...expected })
  // @ts-expect-error
  t.match(new CausewayError('LAMP_HOT', 'the lamp is hot'), { code: 'LAMP_HOT', ...expected })
  // @ts-expect-error
  t.notOk(LampError.is(new LampError('LAMP_HOT', 'the lamp is hot'), 'LAMP_COLD'))
})

t.test('definitions of errors are frozen', async (t) => {
  t.throws(() => Object.assign(LampError.definitions, { LAMP_HOT: undefined }), TypeError)
  t.throws(() => Object.assign(CausewayError.definitions.INTERNAL, { status: 200 }), TypeError)
})

t.test('is() recognizes the given codes, or every code of the class', async (t) => {
  const error = new LampError('LAMP_HOT', 'hot')
  t.ok(LampError.is(error))
  t.ok(LampError.is(error, 'LAMP_BROKEN', 'LAMP_HOT'))
  t.notOk(LampError.is(error, 'LAMP_BROKEN'))
  t.notOk(CausewayError.is(error))
  t.notOk(LampError.is(new CausewayError('INTERNAL', 'x')))
  t.notOk(LampError.is(new Error('hot')))
})

t.test('toPlainError and fromPlainError preserve the definition of an error', async (t) => {
  const error = new LampError('LAMP_HOT', 'hot', { remedy: 'open a window', data: { celsius: 90 } })
  const copy = fromPlainError(structuredClone(toPlainError(error)))
  t.ok(LampError.is(copy, 'LAMP_HOT'))
  t.same(toErrorObject(copy), toErrorObject(error))
  t.same(copy.definition, error.definition)
})

t.test('reviseError preserves the code and every detail that is not replaced', async (t) => {
  const error = new LampError('LAMP_HOT', 'hot', { remedy: 'open a window', data: { celsius: 90 } })
  const revised = reviseError(error, { message: 'very hot', data: { celsius: 95 } })
  t.match(revised, { code: 'LAMP_HOT', message: 'very hot', remedy: 'open a window', cause: error })
  t.same(revised.data, { celsius: 95 })
  t.equal(revised.definition, error.definition)
})

t.test('declareError adds the declaration of an undeclared code', async (t) => {
  const { LAMP_HOT } = LampError.definitions
  // @ts-expect-error
  const undeclared = new CausewayError('LAMP_HOT', 'the lamp is hot', { data: { celsius: 90 } })
  const declared = declareError(undeclared, LAMP_HOT)
  t.match(declared, {
    code: 'LAMP_HOT',
    message: 'the lamp is hot',
    data: { celsius: 90 },
    definition: LAMP_HOT,
  })
  t.equal(declared.remedy, LAMP_HOT.remedy)
  t.equal(declareError(undeclared, undefined), undeclared)
  const own = new LampError('LAMP_HOT', 'hot')
  t.equal(declareError(own, LAMP_HOT), own)
})

t.test('an error has the remedy of its definition unless the options replace it', async (t) => {
  t.equal(new LampError('LAMP_BROKEN', 'the lamp is broken').remedy, LampError.definitions.LAMP_BROKEN.remedy)
  t.equal(new LampError('LAMP_BROKEN', 'gone', { remedy: 'repair it' }).remedy, 'repair it')
})

t.test('formatErrorText contains code, message and remedy', async (t) => {
  const error = new LampError('LAMP_BROKEN', 'the lamp is broken')
  t.equal(formatErrorText(error), 'LAMP_BROKEN: the lamp is broken; replace it')
})

t.test('formatAnswerText adds the members of the data that the remedy mentions', async (t) => {
  const format = (remedy: string, data: Record<string, unknown>) =>
    formatAnswerText(toErrorObject(new LampError('LAMP_BROKEN', 'none', { remedy, data })))
  t.equal(format('call again', { a: 1 }), 'LAMP_BROKEN: none; call again')
  t.equal(
    format('use data.a or data.b, not data.c', { a: [1, 2], b: 'two', d: 4 }),
    'LAMP_BROKEN: none; use data.a or data.b, not data.c\ndata.a: [1,2]\ndata.b: two',
  )
  t.equal(
    format('look at data.diff', { diff: '-a\n+b' }),
    'LAMP_BROKEN: none; look at data.diff\ndata.diff: \n-a\n+b',
  )
  t.ok(format('look at data.long', { long: 'x'.repeat(100_000) }).length < 5000)
})

t.test('toErrorObject omits stack and cause', async (t) => {
  const error = new LampError('LAMP_BROKEN', 'none', { data: { a: 1 }, cause: new Error('inside') })
  t.same(toErrorObject(error), {
    code: 'LAMP_BROKEN',
    message: 'none',
    remedy: 'replace it',
    data: { a: 1 },
    legacy_code: null,
    retryable: false,
  })
  t.equal(toErrorObject(new CausewayError('OVERLOADED', 'busy')).legacy_code, null)
  t.equal(toErrorObject(new CausewayError('OVERLOADED', 'busy')).retryable, true)
})

t.test('isCausewayError accepts errors of another copy of the module', async (t) => {
  t.ok(isCausewayError(new CausewayError('INTERNAL', 'x')))
  const foreignError = Object.assign(new Error('x'), {
    name: 'CausewayError',
    code: 'INTERNAL',
    remedy: '',
    data: {},
    definition: CausewayError.definitions.INTERNAL,
  })
  t.ok(isCausewayError(foreignError))
  t.notOk(isCausewayError(Object.assign(new Error('x'), { name: 'CausewayError', code: 'INTERNAL' })))
  t.notOk(isCausewayError(Object.assign(new Error('x'), { name: 'CausewayError' })))
  t.notOk(
    isCausewayError(Object.assign(new Error('x'), { code: 'INTERNAL' })),
    'another library may use the same code',
  )
  t.notOk(isCausewayError({ name: 'CausewayError', code: 'INTERNAL' }))
})

t.test('asCausewayError wraps other errors in INTERNAL and keeps them as the cause', async (t) => {
  const error = new CausewayError('CANCELLED', 'x')
  t.equal(asCausewayError(error), error)
  const cause = new TypeError('secret')
  const coded = asCausewayError(cause)
  t.match(coded, { code: 'INTERNAL', cause })
  t.notMatch(JSON.stringify(toErrorObject(coded)), /secret/)
  t.equal(coded.definition.status, 500)
})

verifies('limits:error', 'an error object has at most about 64,000 characters of data', async (t) => {
  const data = { name: 'x'.repeat(1e6), list: Array.from({ length: 1e5 }, () => ({ a: 1 })), last: true }
  const error = new CausewayError('INVALID_PARAMS', `no such thing: ${'x'.repeat(1e6)}`, { data })
  const object = toErrorObject(error)
  t.equal(error.message.length, 4001)
  t.ok(JSON.stringify(object).length < 80_000)
  t.match(object.data, { name: /^x{16000}…$/, list: [{ a: 1 }], truncated: true })
  t.equal(error.data, data, 'the data of the error is unchanged')
})

verifies('limits:error', 'an error object omits data with too many levels', async (t) => {
  const nested = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`) as unknown
  const object = toErrorObject(new CausewayError('INVALID_PARAMS', 'wrong', { data: { nested } }))
  t.equal(object.data.truncated, true)
  t.ok(JSON.stringify(object).length < 1000)
})

t.test('limitData returns short data unchanged', async (t) => {
  const data = { at: new Date(0), none: undefined, list: [1, 'a', null] }
  t.equal(limitData(data), data)
})
