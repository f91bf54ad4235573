import t from 'tap'
import { closingWords, type Outcome, withOutcome } from '../scripts/check-long.ts'

const outcome = (name: string, said: string): Outcome => ({
  name,
  about: 'what it does',
  isGood: true,
  seconds: 12.4,
  facts: ['a machine'],
  said,
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

t.test('reliability: a failure keeps the names of what failed beside the totals', async (t) => {
  const output = 'ok 1 - a\nnot ok 2 - b\n# { total: 2, pass: 1, fail: 1 }\n# time=3ms\n'
  t.equal(closingWords(output), 'not ok 2 - b\n{ total: 2, pass: 1, fail: 1 }')
  t.equal(closingWords('a report\n{ "requests": 3 }\n'), 'a report\n{ "requests": 3 }')
})
