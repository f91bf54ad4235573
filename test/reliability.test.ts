import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type Outcome, outputSummary, withOutcome } from '../scripts/check-long.ts'
import {
  applyMutant,
  applyProbes,
  apportion,
  findMutants,
  selectMutants,
  shuffleMutants,
} from './mutation/find-mutants.ts'

const outcome = (name: string, summary: string): Outcome => ({
  name,
  about: 'what it does',
  isGood: true,
  seconds: 12.4,
  facts: ['a machine'],
  summary,
})

t.test('reliability: a part replaces its older report and leaves the others', async (t) => {
  const first = withOutcome(withOutcome(undefined, outcome('fuzz', 'old')), outcome('soak', 'kept'))
  const second = withOutcome(first, outcome('fuzz', 'new'))
  t.match(second, /^# Reliability\n/)
  t.match(second, /## fuzz: what it does\n\n- a machine\n- passed after 12 s\n\n```text\nnew\n```/)
  t.match(second, /kept/)
  t.notMatch(second, /old/)
  t.ok(second.indexOf('## fuzz') < second.indexOf('## soak'), 'in its old place')
})

t.test('reliability: a failed part lists the failed tests and the totals', async (t) => {
  const output = 'ok 1 - a\nnot ok 2 - b\n# { total: 2, pass: 1, fail: 1 }\n# time=3ms\n'
  t.equal(outputSummary(output), 'not ok 2 - b\n{ total: 2, pass: 1, fail: 1 }')
  t.equal(outputSummary('a report\n{ "requests": 3 }\n'), 'a report\n{ "requests": 3 }')
})

const sample = `export async function clamp(value: number, isStrict = false): Promise<number> {
  if (value < (0 as number)) return 0
  const limit = await (Promise.resolve(10) as Promise<number>)
  await Promise.resolve('ä')
  return isStrict ? value : Math.min(value, limit)
}
`

t.test('findMutants applies each rule at its place in typed source text', async (t) => {
  const changes = findMutants('sample.ts', sample).map(({ line, rule, after }) => [line, rule, after])
  t.strictSame(changes, [
    [1, 'flipped boolean', 'export async function clamp(value: number, isStrict = true): Promise<number> {'],
    [2, 'negated condition', 'if (!(value < (0 as number))) return 0'],
    [2, 'skipped exit', 'if (false) return 0'],
    [2, 'off by one', 'if (value < (1 as number)) return 0'],
    [2, 'off by one', 'if (value < (0 as number)) return 1'],
    [3, 'dropped await', 'const limit = (Promise.resolve(10) as Promise<number>)'],
    [3, 'off by one', 'const limit = await (Promise.resolve(11) as Promise<number>)'],
    [4, 'dropped await', "void Promise.resolve('ä')"],
    [5, 'negated condition', 'return !(isStrict) ? value : Math.min(value, limit)'],
    [5, 'swapped min and max', 'return isStrict ? value : Math.max(value, limit)'],
  ])
})

t.test('applyProbes records the evaluated places and keeps the result', async (t) => {
  const log = join(t.testdirName, 'log')
  const places = await selectMutants(findMutants('sample.ts', sample), 10, async () => true)
  const minimum = places.find(({ rule }) => rule === 'swapped min and max')
  t.testdir({
    log: '',
    'probed.ts': applyProbes(sample, places, log),
    'mutant.ts': minimum ? applyMutant(sample, minimum) : '',
  })
  const probed = await import(join(t.testdirName, 'probed.ts'))
  const mutant = await import(join(t.testdirName, 'mutant.ts'))
  t.equal(await probed.clamp(12), 10)
  t.equal(await mutant.clamp(12), 12)
  const reached = new Set(readFileSync(log, 'utf8').split('\n'))
  const missed = places.filter(({ id }) => !reached.has(id))
  t.strictSame(
    missed.map(({ after }) => after),
    ['if (value < (0 as number)) return 1'],
  )
})

t.test('selectMutants takes turns between the rules, skips overlaps and rejected mutants', async (t) => {
  const found = shuffleMutants(findMutants('sample.ts', sample), 'seed')
  const selected = await selectMutants(found, 6, async ({ line }) => line !== 3)
  t.equal(selected.length, 6)
  t.notOk(selected.some(({ line }) => line === 3))
  t.ok(selected.every((a) => selected.every((b) => a === b || a.end <= b.start || b.end <= a.start)))
  const moved = shuffleMutants(findMutants('sample.ts', `// A new first line.\n${sample}`), 'seed')
  t.strictSame(
    moved.map(({ id }) => id),
    found.map(({ id }) => id),
    'an edit elsewhere does not change the order',
  )
  t.strictSame(apportion(60, [12922, 6886, 9341, 9382]), [20, 11, 14, 15])
})
