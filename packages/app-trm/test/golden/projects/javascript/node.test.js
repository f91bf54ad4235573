import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'

test('adds', () => assert.equal(1 + 1, 2))
test('fails', () => assert.equal(1 + 1, 3, 'one and one'))
test('skipped', { skip: 'not here' }, () => {})
test('later', { todo: true }, () => assert.fail('not done'))
describe('group', () => {
  it('inner', () => assert.ok(true))
  it('inner fails', () => {
    throw new TypeError('x is not a function')
  })
})
