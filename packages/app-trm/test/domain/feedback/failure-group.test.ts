import t from 'tap'
import { failureGroups, groupText } from '../../../src/domain/feedback/failure-group.ts'

const failure = (id: string, message: string) => ({
  id,
  status: 'fail',
  file: 'tests/test_a.py',
  line: 9,
  message,
})

const nameError = `tests/test_a.py:9: in test_one
    load()
sums.py:12: in load
    return np.zeros(1)
E   NameError: name 'np' is not defined
sums.py:12: NameError`

t.test('failures: those with one cause are told once, with the place and what to do', async (t) => {
  const groups = failureGroups(['a', 'b', 'c', 'd', 'e'].map((id) => failure(id, nameError)))
  t.equal(groups.length, 1)
  t.equal(
    groups.map(groupText).join('\n'),
    [
      'failed: a (tests/test_a.py:9)',
      'the same error in b, c, d and 1 more',
      'raised at sums.py:12',
      "to do: import or define 'np' before it is used",
      nameError,
    ].join('\n'),
  )
})

t.test(
  'failures: assertions that read the same stay apart, and what is no exception is told as it is',
  async (t) => {
    const assertion = 'E   assert 1 == 2\ntests/test_a.py:9: AssertionError'
    const groups = failureGroups([failure('a', assertion), failure('b', assertion), failure('c', 'not ok')])
    t.same(
      groups.map(({ first, advice, raisedAt }) => [first.id, advice, raisedAt]),
      [
        ['a', undefined, undefined],
        ['b', undefined, undefined],
        ['c', undefined, undefined],
      ],
    )
    t.equal(groups.map(groupText)[2], 'failed: c (tests/test_a.py:9)\nnot ok')
  },
)

t.test('failures: a missing module is named with both ways out where nobody knows whose it is', async (t) => {
  const message = "E   ModuleNotFoundError: No module named 'yaml'\ntests/test_a.py:1: ModuleNotFoundError"
  t.match(failureGroups([failure('a', message)]), [{ advice: /PYTHONPATH.*PyYAML/ }])
})
