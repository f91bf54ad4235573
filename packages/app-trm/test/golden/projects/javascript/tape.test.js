import test from 'tape'

test('adds', (t) => {
  t.equal(1 + 1, 2, 'two')
  t.equal(1 + 1, 3, 'three')
  t.end()
})
test('strings', (t) => {
  t.ok(true)
  t.skip('not here')
  t.same([1], [1], 'lists')
  t.end()
})
