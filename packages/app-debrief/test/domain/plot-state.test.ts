import { verifies } from '../../../../test/verifies.ts'
import { readTimeState, withOffset } from '../../src/domain/plot-state.ts'

verifies('debrief:time', 'without an offset it is UTC', async (t) => {
  t.equal(withOffset('2024-11-14T12:00:00'), '2024-11-14T12:00:00Z')
  t.equal(withOffset('2024-11-14'), '2024-11-14T00:00:00Z')
  t.equal(withOffset('2024-11-14T12:00:00-03:00'), '2024-11-14T12:00:00-03:00')
})

verifies(
  'debrief:time',
  'a current time outside its range is refused, and the older form is read',
  async (t) => {
    t.same(readTimeState({ current: '2024-01-01T06:00', range: ['2024-01-01', '2024-01-02T00:00:00Z'] }), {
      current: '2024-01-01T06:00Z',
      start: '2024-01-01T00:00:00Z',
      end: '2024-01-02T00:00:00Z',
    })
    const range = { start: '2024-01-01T00:00:00Z', end: '2024-01-02T00:00:00Z' }
    for (const state of [
      { ...range, current: '2024-01-03T00:00:00Z' },
      { ...range, current: '' },
      { current: '2024-01-01T00:00:00Z' },
      { current: range.start, start: range.end, end: range.start },
    ])
      t.throws(() => readTimeState(state), { code: 'INVALID_COMMAND' })
  },
)
