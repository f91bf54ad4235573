import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { CausewayError } from '../src/causeway-error.ts'
import { closest, editDistance } from '../src/closest.ts'
import { checkJson, jsonLimits, parseJson } from '../src/json-limits.ts'
import {
  classifyMessage,
  createErrorResponse,
  createFailure,
  createSuccess,
  isId,
  readId,
} from '../src/jsonrpc.ts'
import { legacyVersions, meta, modernVersion, readClaimedVersion, supportedVersions } from '../src/mcp.ts'
import { pathName, wireName, wireNamePattern } from '../src/names.ts'

const v = { jsonrpc: '2.0' }

t.test('classifyMessage returns the kind of a message', async (t) => {
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
    t.equal(classifyMessage(value), kind, JSON.stringify(value))
})

t.test('ids are strings and finite numbers', async (t) => {
  t.ok(['', 'a', 0, -1, 1.5].every(isId))
  t.notOk([null, undefined, true, {}, Number.NaN, Number.POSITIVE_INFINITY].some(isId))
  t.equal(readId({ id: '7', anything: 1 }), '7')
  t.equal(readId({ id: 0 }), 0)
  t.equal(readId({ id: {} }), null)
  t.equal(readId([{ id: 1 }]), null)
})

t.test('createSuccess, createFailure and createErrorResponse build JSON-RPC responses', async (t) => {
  t.same(createSuccess('a', { x: 1 }), { ...v, id: 'a', result: { x: 1 } })
  t.same(createFailure(null, -32700, 'no'), { ...v, id: null, error: { code: -32700, message: 'no' } })
  t.same(createFailure(1, 1, 'no', [1]), { ...v, id: 1, error: { code: 1, message: 'no', data: [1] } })
  t.match(createErrorResponse(2, new CausewayError('UNKNOWN_TOOL', 'no such tool: x')), {
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
  t.throws(
    check('{"a":'.repeat(jsonLimits.depth + 1) + ' '.repeat(5000)),
    error,
    'without the closing brackets',
  )
})

verifies('limits:json', 'JSON with more than 500,000 arrays and objects is BODY_TOO_LARGE', async (t) => {
  t.doesNotThrow(check(`[${'[],'.repeat(jsonLimits.containers - 2)}{}]`))
  t.throws(check(`[${'[],'.repeat(jsonLimits.containers - 1)}{}]`), { code: 'BODY_TOO_LARGE' })
})

verifies('limits:json', 'JSON with more than 1,000,000 values is BODY_TOO_LARGE', async (t) => {
  t.doesNotThrow(check(`[${'1,'.repeat(jsonLimits.values)}1]`))
  t.throws(check(`[${'1,'.repeat(jsonLimits.values + 1)}1]`), { code: 'BODY_TOO_LARGE' })
})

verifies('limits:json', 'JSON with more than 200,000 members is BODY_TOO_LARGE', async (t) => {
  t.doesNotThrow(check(`{${'"a":1,'.repeat(jsonLimits.members - 1)}"a":1}`))
  t.throws(check(`{${'"a":1,'.repeat(jsonLimits.members)}"a":1}`), { code: 'BODY_TOO_LARGE' })
})

verifies('limits:json', 'JSON with more than about 50,000 different names is BODY_TOO_LARGE', async (t) => {
  t.doesNotThrow(check(objectWith(jsonLimits.names)))
  t.throws(check(objectWith(jsonLimits.names * 1.1)), { code: 'BODY_TOO_LARGE' })
})

verifies('limits:json', 'JSON with more than 2 MiB of different names is BODY_TOO_LARGE', async (t) => {
  const names = (prefix: string, count: number) =>
    `{${Array.from({ length: 5000 }, (_, index) => `"${prefix}${index % count}":1`).join(',')}}`
  const prefix = 'a'.repeat(500)
  const error = { code: 'BODY_TOO_LARGE', data: { limit_count: jsonLimits.nameBytes } }
  t.throws(check(names(prefix, 5000)), error)
  t.doesNotThrow(check(names(prefix, 1000)), 'a repeated name counts once')
  t.throws(check(`{"${'a'.repeat(jsonLimits.nameBytes + 1)}":1}`), error)
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

verifies('limits:json', 'distinct names are counted with every random seed', async (t) => {
  const { random } = Math
  t.teardown(() => {
    Math.random = random
  })
  for (const number of [0, 0.25, 0.5, 1 - 2 ** -31]) {
    Math.random = () => number
    t.throws(check(objectWith(jsonLimits.names * 1.1)), { code: 'BODY_TOO_LARGE' }, String(number))
  }
})

t.test('checkJson reads a string once, even if many colons follow it', async (t) => {
  const text = `{"${'a'.repeat(210_000)}"${':'.repeat(1000)}`
  let reads = 0
  const json = new Proxy(Buffer.from(text), {
    get(target, key) {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads += 1
      const value = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  checkJson(json)
  t.ok(reads <= 3 * text.length, `${reads} reads of ${text.length} bytes`)
})

t.test('checkJson finds the end of a string after any number of backslashes', async (t) => {
  const tooDeep = { code: 'INVALID_REQUEST' }
  for (const filler of ['', 'a'.repeat(63), 'a'.repeat(64), 'a'.repeat(65), '\\"'.repeat(1000)])
    for (let backslashes = 0; backslashes <= 130; backslashes += 1) {
      const text = `["${filler}${'\\'.repeat(backslashes)}"${'['.repeat(5000)}`
      const isEscaped = backslashes % 2 === 1
      if (isEscaped) check(text)()
      else t.throws(check(text), tooDeep, `${filler.length} bytes, ${backslashes} backslashes`)
    }
})

t.test('checkJson reports the members of the two outer levels', async (t) => {
  const text = JSON.stringify({ a: 1, b: { c: [{ d: 1 }], e: 'x'.repeat(5000) }, f: ':' })
  const members: [number, string, string | undefined][] = []
  checkJson(Buffer.from(text), {
    onMember: ({ depth, nameStart, nameEnd, colon }) =>
      members.push([depth, text.slice(nameStart, nameEnd), text[colon + 1]]),
  })
  t.same(members, [
    [1, 'a', '1'],
    [1, 'b', '{'],
    [2, 'c', '['],
    [2, 'e', '"'],
    [1, 'f', '"'],
  ])
})

t.test('checkJson ignores brackets and colons in strings', async (t) => {
  t.doesNotThrow(check(JSON.stringify(['['.repeat(1000), '\\"['.repeat(2000), '"a":'.repeat(300_000)])))
})

t.test('parseJson returns undefined for text that is not JSON', async (t) => {
  t.same(parseJson('{"a":[1]}'), { a: [1] })
  t.equal(parseJson('{"a":'), undefined)
  t.throws(() => parseJson(nested(1000)), { code: 'INVALID_REQUEST' })
})

t.test('readClaimedVersion returns the protocol version in _meta', async (t) => {
  t.equal(readClaimedVersion({ params: { _meta: { [meta.protocolVersion]: modernVersion } } }), modernVersion)
  for (const message of [null, 1, {}, { params: {} }, { params: { _meta: { [meta.protocolVersion]: 1 } } }])
    t.equal(readClaimedVersion(message), undefined)
})

t.test('supportedVersions lists the newest version first', async (t) => {
  t.same(supportedVersions, [...supportedVersions].sort().reverse())
  t.same(supportedVersions, [modernVersion, ...legacyVersions])
})

t.test('wireName joins app and tool with two underscores', async (t) => {
  t.equal(wireName('Replay', 'get_frame'), 'Replay__get_frame')
  t.match(wireName('A1', 'b2_c3'), wireNamePattern)
})

t.test('wireName rejects names that clients do not support', async (t) => {
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

t.test('pathName returns the name in lower case', async (t) => {
  t.equal(pathName('ToolVault'), 'toolvault')
})

const names = ['frame_id', 'body_id', 'threshold', 'start_frame']

t.test('closest returns the candidate nearest to a misspelt name', async (t) => {
  for (const [word, meant] of [
    ['frameid', 'frame_id'],
    ['frameId', 'frame_id'],
    ['farme_id', 'frame_id'],
    ['threshhold', 'threshold'],
    ['startFrame', 'start_frame'],
  ] as const)
    t.equal(closest(word, names), meant, word)
})

t.test('closest returns undefined if no name is similar', async (t) => {
  for (const word of ['q', 'recording', 'velocity', '']) t.equal(closest(word, names), undefined, word)
  t.equal(closest('frame', []), undefined)
})

verifies(
  'limits:arguments',
  'closest and editDistance do not compare input of more than 100 characters',
  async (t) => {
    const word = 'frame_id'.repeat(100_000)
    t.equal(closest(word, names), undefined)
    t.equal(closest('frame_id', [word]), undefined)
    t.equal(editDistance(word, word), Number.POSITIVE_INFINITY)
    t.equal(editDistance('frame_id', 'farme_id'), 1)
  },
)
