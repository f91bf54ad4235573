const assert = require('node:assert')
describe('sums', () => {
  it('adds', () => assert.equal(1 + 1, 2))
  it('fails', () => assert.equal(1 + 1, 3))
  it('pending')
})
