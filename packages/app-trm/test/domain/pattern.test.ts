import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { candidatePaths } from '../../src/domain/candidate/apply.ts'
import { ChangedLineCounter } from '../../src/domain/candidate/changed-lines.ts'
import { programs, scripts } from '../../src/domain/command.ts'
import { globMatcher } from '../../src/domain/glob.ts'
import { ignoreRules } from '../../src/domain/ignore-rules.ts'

t.test('globMatcher matches names, folders and paths', async (t) => {
  const cases: readonly (readonly [
    pattern: string,
    matching: readonly string[],
    other: readonly string[],
  ])[] = [
    ['data/', ['data/a', 'data/b/c'], ['data', 'x/data/a']],
    ['*.lock', ['a.lock', 'b/c/a.lock'], ['a.lock/b', 'a.locks']],
    ['/src/*.ts', ['src/a.ts'], ['src/b/a.ts', 'x/src/a.ts']],
    ['src/**/a.ts', ['src/a.ts', 'src/b/c/a.ts'], ['src/ba.ts', 'a.ts']],
    ['src/**', ['src/a', 'src/b/c'], ['src']],
    ['a?.(b)[c]', ['ax.(b)[c]', 'd/ax.(b)[c]'], ['a/.(b)[c]', 'ax.bc']],
  ]
  for (const [pattern, matching, other] of cases) {
    const matches = globMatcher(pattern)
    for (const path of matching) t.ok(matches(path), `${pattern} matches ${path}`)
    for (const path of other) t.notOk(matches(path), `${pattern} does not match ${path}`)
  }
})

verifies('trm:patterns:linear', 'globMatcher and ignoreRules do not backtrack', async (t) => {
  const path = 'a/'.repeat(500) + 'a'.repeat(500)
  for (const pattern of [`${'*a'.repeat(90)}b`, `${'**/a/'.repeat(30)}b`, `${'**'.repeat(90)}b`]) {
    t.notOk(globMatcher(pattern)(path), pattern)
    t.equal(ignoreRules(pattern)(path, false), undefined, pattern)
  }
  t.equal(ignoreRules('['.repeat(100_000))('a', false), undefined)
  t.equal(ignoreRules(`${' '.repeat(100_000)}a`)('a', false), undefined)
})

t.test('ignoreRules skips a malformed range and keeps an escaped blank', async (t) => {
  const rules = ignoreRules('[z-a]\nb\\ \nc  \n')
  t.equal(rules('z', false), undefined)
  t.equal(rules('b ', false), true)
  t.equal(rules('b', false), undefined)
  t.equal(rules('c', false), true)
})

t.test('ChangedLineCounter stops comparing when its budget is spent', async (t) => {
  const numbered = (prefix: string) =>
    Array.from({ length: 900 }, (_, index) => `${prefix}${index}\n`).join('')
  const counter = new ChangedLineCounter()
  const [before, after] = [`${numbered('a')}same\n${numbered('b')}`, `${numbered('c')}same\n${numbered('d')}`]
  for (let file = 0; file < 4; file++)
    t.same(counter.count(before, after), [1801, 1801], '3600 changes exceed the limit of one file')
  t.same(counter.count('a\nsame\nb\n', 'c\nsame\nd\n'), [3, 3], 'the budget is spent')
  t.same(new ChangedLineCounter().count('a\nsame\nb\n', 'c\nsame\nd\n'), [2, 2])
})

t.test('candidatePaths rejects more than 10,000 edits', async (t) => {
  const edits = Array.from({ length: 10_001 }, () => ({ type: 'deleteLine', line: 1 }) as const)
  t.throws(() => candidatePaths({ mode: 'modify', changes: [{ path: 'a.txt', edits }] }), {
    code: 'FILE_TOO_LARGE',
    data: { edits: 10_001, max: 10_000 },
  })
})

t.test('programs and scripts read a word of many quotes in linear time', async (t) => {
  const quotes = '"'.repeat(100_000)
  t.equal(programs(`a${quotes}b`).length, 1)
  t.same(scripts(`a${quotes}b`), [])
  t.same(programs('cd x && "pytest" -q'), ['pytest'])
  t.same(scripts('"./run.sh" a'), ['run.sh'])
})
