import fc from 'fast-check'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { formatTime, parseTime, withOffset } from '../../src/domain/iso-time.ts'
import { readTimeState } from '../../src/domain/plot-state.ts'

verifies('debrief:time', 'without an offset it is UTC, with one it is shifted', async (t) => {
  const noon = Date.UTC(2024, 10, 14, 12)
  for (const text of [
    '2024-11-14T12:00:00',
    '2024-11-14 12:00',
    '2024-11-14T12:00Z',
    '2024-11-14T14:00:00+02:00',
    '2024-11-14T06:30:00-0530',
  ])
    t.equal(parseTime(text), noon, text)
  t.equal(parseTime('2024-11-14'), Date.UTC(2024, 10, 14))
  t.equal(parseTime('2024-11-14T21:16:53.661999Z'), Date.UTC(2024, 10, 14, 21, 16, 53) + 661.999)
  for (const text of [
    '',
    'now',
    '2024-13-01',
    '2023-02-29',
    '2024-11-14T25:00Z',
    '2024-11-14T12:61',
    '20241114',
    5,
    null,
  ])
    t.equal(parseTime(text), null, String(text))
  t.equal(withOffset('2024-11-14T12:00:00'), '2024-11-14T12:00:00Z')
  t.equal(withOffset('2024-11-14'), '2024-11-14T00:00:00Z')
  t.equal(withOffset('2024-11-14T12:00:00-03:00'), '2024-11-14T12:00:00-03:00')
})

t.test('times: what is formatted reads back as the same millisecond, from year 0 to 9999', async (t) => {
  const span = { min: Date.UTC(0, 0, 1) - 1, max: Date.UTC(9999, 11, 31) }
  fc.assert(
    fc.property(fc.integer(span), (ms) => {
      const text = formatTime(ms)
      return parseTime(text) === ms && (ms % 1000 !== 0 ? text === new Date(ms).toISOString() : true)
    }),
    { numRuns: 500 },
  )
  t.equal(formatTime(0), '1970-01-01T00:00:00Z')
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
