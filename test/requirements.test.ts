import { readFileSync } from 'node:fs'
import t, { Test } from 'tap'
import { citations, gaps } from './citations.ts'
import { requirements, rowCount } from './requirements.ts'
import { repository, testFiles } from './tree.ts'
import { expectFailure } from './verifies.ts'

const cited = new Map(
  testFiles(repository).map((file) => [file, citations(readFileSync(`${repository}/${file}`, 'utf8'))]),
)

t.test('requirements: each one is proved by a test', async (t) => {
  t.same(gaps(Object.keys(requirements), cited).unproved, [])
})

t.test('requirements: each citation refers to an existing row', async (t) => {
  t.same(gaps(Object.keys(requirements), cited).unknown, [])
})

t.test('requirements: ids are unique over the areas and of one form', async (t) => {
  t.equal(Object.keys(requirements).length, rowCount())
  const form = /^[a-z]+(:[a-z0-9]+(-[a-z0-9]+)*){1,2}$/
  t.same(
    Object.keys(requirements).filter((id) => !form.test(id)),
    [],
  )
})

t.test('citations: calls count, comments, strings and other names do not', async (t) => {
  const text = [
    "verifies('a:one', async () => {})",
    "  verifies(\n    'a:two',",
    "// verifies('a:comment', fn)",
    `const text = "verifies('a:string')"`,
    "clarifies('a:other', fn)",
  ].join('\n')
  t.same(citations(text), ['a:one', 'a:two'])
})

t.test('gaps: an unproved id and an unknown citation are both named', async (t) => {
  const found = gaps(['a:one', 'a:two'], new Map([['x.test.ts', ['a:one', 'a:three']]]))
  t.same(found, { unproved: ['a:two'], unknown: ['x.test.ts: a:three'] })
})

t.test('known failure: passes while the test fails, fails once it passes', async (t) => {
  const row = { origin: 'this test', behaviour: 'one is two', knownFailure: 'arithmetic' }
  const broken = new Test({
    name: 'kept by now',
    cb: expectFailure(row, async (t) => void t.equal(1, 1)),
  })
  broken.resume()
  await new Promise<void>((resolve) => broken.main(() => resolve()))
  t.notOk(broken.passing(), 'a known failure that passes is a failure')
  await t.test(
    'a failing assertion is expected',
    expectFailure(row, async (t) => void t.equal(1, 2)),
  )
  await t.test(
    'a rejection is expected',
    expectFailure(row, async () => {
      throw new Error('known')
    }),
  )
})
