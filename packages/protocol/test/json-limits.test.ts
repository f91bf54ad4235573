import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { checkJson, jsonLimits, parseJson } from '../src/json-limits.ts'

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

t.test('checkJson ignores brackets and colons in strings', async (t) => {
  t.doesNotThrow(check(JSON.stringify(['['.repeat(1000), '\\"['.repeat(2000), '"a":'.repeat(300_000)])))
})

t.test('parseJson returns undefined for text that is not JSON', async (t) => {
  t.same(parseJson('{"a":[1]}'), { a: [1] })
  t.equal(parseJson('{"a":'), undefined)
  t.throws(() => parseJson(nested(1000)), { code: 'INVALID_REQUEST' })
})
