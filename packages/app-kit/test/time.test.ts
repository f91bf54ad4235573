import fc from 'fast-check'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { dayStart, formatTime, parseTime } from '../src/time.ts'

verifies('toolvault:time:utc', async (t) => {
  const zone = process.env.TZ
  t.teardown(() => {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  })
  process.env.TZ = 'Asia/Tokyo'
  t.equal(new Date('2024-01-01T00:00:00').getTime(), Date.UTC(2023, 11, 31, 15), 'the zone is in force')
  t.equal(parseTime('2024-01-01T00:00:00'), Date.UTC(2024, 0, 1))
  t.equal(parseTime('2024-01-01 00:00'), Date.UTC(2024, 0, 1))
})

t.test('parseTime: the plain form is read as every other form is', async (t) => {
  const plain = fc.tuple(
    fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
    fc.boolean(),
    fc.option(fc.tuple(fc.nat(23), fc.constantFrom('0', '9', ':', '-', 'T', 'Z', ' ', 'x', '+'))),
  )
  fc.assert(
    fc.property(plain, ([date, isShort, change]) => {
      const written = date.toISOString()
      const text = isShort ? written.replace(/\.\d+/, '') : written
      const one = change === null ? text : text.slice(0, change[0]) + change[1] + text.slice(change[0] + 1)
      // A space before it makes it another form.
      return Object.is(parseTime(one), parseTime(` ${one}`))
    }),
    { numRuns: 3000 },
  )
  t.equal(parseTime('x024-01-01T00:00:00Z'), undefined)
})

t.test('parseTime: offsets, fractions and short forms', async (t) => {
  t.equal(parseTime('2024-01-01T09:00:00+09:00'), Date.UTC(2024, 0, 1))
  t.equal(parseTime('2024-01-01T09:00:00.5+0930'), Date.UTC(2023, 11, 31, 23, 30, 0, 500))
  t.equal(parseTime('2024-11-14T21:16Z'), Date.UTC(2024, 10, 14, 21, 16))
  t.equal(parseTime('2024-01-01'), Date.UTC(2024, 0, 1))
  t.equal(formatTime(parseTime('2024-11-14T21:16:53.661999Z') ?? 0), '2024-11-14T21:16:53.661999Z')
  for (const wrong of [
    '',
    'yesterday',
    '2024-02-30T00:00:00Z',
    '2023-02-29',
    '2024-13-01',
    '2024-01-01T25:00',
    '2024-01-01T24:01',
    '2024-01-01T12:61',
    '2024-01-01T12:00+24:00',
    'now',
    '20241114',
    5,
  ])
    t.equal(parseTime(wrong), undefined, String(wrong))
  t.equal(dayStart(1900, 2, 29), undefined)
  t.equal(dayStart(2000, 2, 29), Date.UTC(2000, 1, 29))
})

t.test('formatTime: is what Date says, and comes back', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: Date.UTC(0, 0, 1) - 1, max: Date.UTC(9999, 11, 31) }), (ms) => {
      t.equal(new Date(formatTime(ms)).getTime(), ms)
      t.equal(parseTime(formatTime(ms)), ms)
    }),
    { numRuns: 300 },
  )
})
