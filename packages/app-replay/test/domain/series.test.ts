import type { Columns } from '@causeway/recording'
import t from 'tap'
import { points } from '../../src/domain/columns.ts'
import { seriesPart, seriesSummary } from '../../src/domain/series.ts'

/** A series over frames 1..n. */
function series(values: readonly number[]): Columns<'frame_id' | 'e'> {
  const data = Float64Array.from(values.flatMap((value, index) => [index + 1, value]))
  return { fields: ['frame_id', 'e'], length: values.length, data }
}

const whole = { cursor: undefined, limit: 10 }

t.test('series: a short one is shown whole', async (t) => {
  const part = seriesPart(series([1, 2, 3]), 'e', whole)
  t.match(part, { rows: [0, 1, 2], bucketed: false, truncated: false, next_cursor: null })
})

t.test('series: a long one keeps its ends and every peak, whatever the bucket', async (t) => {
  const values = Array.from({ length: 1000 }, (_, i) => Math.sin(i / 50))
  values[517] = 40
  values[518] = -40
  const part = seriesPart(series(values), 'e', whole)
  t.ok(part.rows.length <= 10)
  t.same([part.rows[0], part.rows.at(-1)], [0, 999])
  t.ok([517, 518].every((row) => part.rows.includes(row)))
  t.match(part, { bucketed: true, truncated: true, start_frame: 1, end_frame: 1000 })
  t.same(
    [...part.rows].sort((a, b) => a - b),
    part.rows,
  )
})

t.test('series: totals are exact, NaN left out and counted', async (t) => {
  const { totals } = seriesPart(series([5, Number.NaN, -1, 2]), 'e', whole)
  t.same(totals, {
    count: 4,
    nonfinite: 1,
    min: -1,
    min_frame: 3,
    max: 5,
    max_frame: 1,
    first: 5,
    last: 2,
    mean: 2,
    drift: -3,
  })
})

t.test('series: a mean near the largest double stays finite', async (t) => {
  const { totals } = seriesPart(series([1.5e308, 1.5e308, 1.5e308]), 'e', whole)
  t.ok(Math.abs((totals.mean ?? 0) / 1.5e308 - 1) < 1e-12)
})

t.test('series: the cursor leads through every row once', async (t) => {
  const all = series(Array.from({ length: 25 }, (_, i) => i))
  const seen: number[] = []
  let cursor = seriesPart(all, 'e', whole).next_cursor
  while (cursor !== null) {
    const part = seriesPart(all, 'e', { cursor, limit: 10 })
    t.equal(part.bucketed, false)
    seen.push(...part.rows)
    cursor = part.next_cursor
  }
  t.same(
    seen,
    Array.from({ length: 25 }, (_, i) => i),
  )
  t.throws(() => seriesPart(all, 'e', { cursor: 'frame 3', limit: 10 }), { code: 'INVALID_CURSOR' })
})

t.test('series: a row without a number stands out among the peaks', async (t) => {
  const values = Array.from({ length: 100 }, () => 1)
  values[42] = Number.NaN
  t.ok(seriesPart(series(values), 'e', whole).rows.includes(42))
})

t.test('series: an empty one and a broken one are said to be so', async (t) => {
  const words = (values: readonly number[]): string => {
    const { rows, ...part } = seriesPart(series(values), 'e', whole)
    return seriesSummary('points', rows.length, part)
  }
  t.match(words([]), /no frames/)
  t.match(words([1, Number.NaN]), /1 frame without a finite value/)
  t.match(words(Array.from({ length: 20 }, () => 1)), /bucket/)
})

t.test('points: NaN and infinity are null, flags are booleans', async (t) => {
  const data = Float64Array.of(1, Number.NaN, 1, 2, Number.POSITIVE_INFINITY, 0)
  const columns: Columns<'frame_id' | 'e' | 'hit'> = { fields: ['frame_id', 'e', 'hit'], length: 2, data }
  t.same(points(columns, [0, 1], ['hit']), [
    { frame_id: 1, e: null, hit: true },
    { frame_id: 2, e: null, hit: false },
  ])
})
